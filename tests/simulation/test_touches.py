"""Events from the numbers that steps leave: as sets of names tell them, step by step."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recursive_dyn.contact.contact_buffer import ContactBuffer
from recursive_dyn.contact.contacts import STATIC, Contacts, FreeBodies
from recursive_dyn.simulation.kept.events import Events
from recursive_dyn.simulation.kept.touches import note

NAMES = ("a", "b", "c", "d")
POINT = (0.25, -0.5, 2.0)
PAIRS = st.tuples(st.integers(0, 6), st.integers(STATIC, 6), st.sampled_from((-1.0, 0.0, 1.5)), st.booleans())
CALLS = st.lists(st.lists(st.lists(PAIRS, max_size=30), min_size=1, max_size=4), min_size=1, max_size=4)


def buffer_of(contacts, free_names) -> ContactBuffer:
    """Contacts (a, b, normal impulse, whether overlapping) along z."""
    n = len(contacts)
    a, b = (np.array([c[k] for c in contacts], dtype=np.int64) for k in (0, 1))
    buffer = ContactBuffer(2)
    buffer.fill(
        Contacts(
            a, b, np.zeros((n, 3)), np.tile(POINT, (n, 1)), np.tile([0.0, 0.0, 1.0], (n, 1)),
            np.array([-1e-3 if c[3] else 1e-3 for c in contacts]), np.zeros((n, 5)), np.arange(n),
            free=free_bodies(len(free_names)), free_names=free_names, trusted=True,
        )
    )  # fmt: skip
    buffer.table.impulses[:n, 2] = [c[2] for c in contacts]
    return buffer


def counted(events: Events, contacts: ContactBuffer) -> None:
    """Count a step's contacts, as machine code does where there is room."""
    events.make_room(contacts.count)
    events.number(contacts.free_names)
    note(contacts.table, events.touches, len(NAMES), 0)


def free_bodies(count: int) -> FreeBodies:
    twists = np.zeros((count, 6))
    return FreeBodies(np.zeros((count, 3)), np.ones(count), np.zeros((count, 3, 3)), twists, twists.copy())


def expected(before: set, steps) -> tuple[set, dict]:
    """(pairs in touch at the end, events (kind, a, b) with the sum of impulses) of a call of some steps, by name."""
    began, ended, sums, now = set(), set(), {}, set(before)
    for contacts, free_names in steps:
        names = dict(enumerate((*NAMES, *free_names))) | {STATIC: "world"}
        touching = set()
        for a, b, impulse, deep in contacts:
            if impulse > 0.0 or deep:
                pair = names[a], names[b]
                touching.add(pair)
                sums[pair] = sums.get(pair, 0.0) + impulse
        began |= touching - now
        ended |= now - touching
        now = touching
    told = {("begin", *pair): sums[pair] for pair in began}
    told |= {("stay", *pair): sums[pair] for pair in sums if pair not in began | ended}
    return now, told | {("end", *pair): sums.get(pair, 0.0) for pair in ended}


@given(CALLS, st.permutations(("bullet:7", "bullet:8", "bullet:9")))
def test_pairs_are_told_as_by_sets_of_names(calls, others):
    """Free bodies are numbered anew in every step, and go by their names."""
    events, now, turn = Events(NAMES), set(), 0
    for steps in calls:
        named = []
        for contacts in steps:
            turn += 1
            named.append((contacts, others if turn % 2 else others[::-1]))
        events.begin()
        for contacts, free_names in named:
            counted(events, buffer_of(contacts, free_names))
        now, told = expected(now, named)
        found = {(e.kind, e.body_a, e.body_b): e.impulse for e in events.told()}
        assert found.keys() == told.keys()
        assert all(found[key] == pytest.approx(told[key], abs=1e-12) for key in told)


def test_the_point_is_that_of_the_strongest():
    events, buffer = Events(NAMES), buffer_of([(0, 1, p, True) for p in (1.0, 3.0, 2.0)], ())
    buffer.table.points[:3, 1, 0] = 10.0, 20.0, 30.0
    events.begin()
    counted(events, buffer)
    (event,) = events.told()
    assert event.point == (20.0, *POINT[1:]) and event.impulse == 6.0


def test_nothing_is_told_before_a_step():
    events = Events(NAMES)
    events.begin()
    assert events.told() == ()
    counted(events, buffer_of([(0, STATIC, 1.0, True)], ()))
    assert [e.kind for e in events.told()] == ["begin"]
    events.begin()
    assert events.told() == ()
