"""The memory that contacts lie in during a step: what is put in comes out, however much it grows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recursive_dyn.contact.contact_buffer import ContactBuffer
from recursive_dyn.contact.contacts import Contacts

FIELDS = ("a", "b", "point_a", "point_b", "normal", "distance", "friction", "key", "drift", "gliding", "balls")


def some(count: int, seed: int) -> Contacts:
    rng = np.random.default_rng(seed)
    return Contacts(
        rng.integers(0, 9, count), rng.integers(10, 19, count), rng.normal(size=(count, 3)),
        rng.normal(size=(count, 3)), rng.normal(size=(count, 3)), rng.normal(size=count),
        rng.uniform(size=(count, 5)), rng.integers(-9, 9, count), drift=rng.normal(size=(count, 3)),
        gliding=rng.integers(0, 2, count), balls=rng.uniform(size=(count, 2)),
    )  # fmt: skip


@given(st.lists(st.integers(0, 40), min_size=1, max_size=4))
def test_what_is_put_in_comes_out(counts):
    buffer = ContactBuffer(4)
    for seed, count in enumerate(counts):
        given_in = some(count, seed)
        buffer.fill(given_in)
        out = buffer.contacts()
        assert len(buffer) == len(out) == count
        for name in FIELDS:
            np.testing.assert_array_equal(getattr(out, name), getattr(given_in, name))
        assert not out.impulse.any() and not out.moment.any()
        buffer.table.impulses[:count] = 7.0
        assert not out.impulse.any(), "it is a copy"
        assert (buffer.contacts().impulse == 7.0).all()


def test_growing_keeps_contacts_and_tells_that_addresses_are_new():
    buffer, contacts = ContactBuffer(4), some(4, 1)
    buffer.fill(contacts)
    version, table = buffer.version, buffer.table
    buffer.grow(3)
    assert buffer.version == version and buffer.table is table
    buffer.grow(5)
    assert buffer.version > version and buffer.capacity >= 5
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(buffer.contacts(), name), getattr(contacts, name))


@pytest.mark.parametrize("count", [0, 3])
def test_cleared_it_holds_nothing(count):
    buffer = ContactBuffer()
    buffer.fill(some(count, 2))
    buffer.clear()
    assert len(buffer.contacts()) == 0 and len(buffer.contacts().free) == 0
