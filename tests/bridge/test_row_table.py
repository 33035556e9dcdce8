"""Rows of owners who come, go and change places."""

import numpy as np
import pytest

from bridge.planes.row_table import RowKind, RowTable, packed

KINDS = RowKind(np.int64), RowKind(float, (3,)), RowKind(bool), RowKind(float, (2, 2))


class Owners:
    """A table, and what it is to hold."""

    def __init__(self, seed):
        self.rng, self.table, self.own, self.next = np.random.default_rng(seed), RowTable(KINDS), {}, 0

    def add(self, name=None):
        name = self.next if name is None else name
        rows = self.rng.integers(0, 4)
        self.own[name] = [self.rng.integers(0, 2, (rows + k, *kind.shape)) for k, kind in enumerate(KINDS)]
        self.table.add(name, packed(self.own[name], KINDS))
        self.next += 1

    def remove(self, k):
        name = [*self.own][k]
        del self.own[name]
        self.table.remove(name)
        return name

    def arrange(self):
        order = self.rng.permutation([*self.own]).tolist()
        self.own = {name: self.own[name] for name in order}
        self.table.arrange(order)

    def check(self):
        assert self.table.owners == [*self.own] and len(self.table) == len(self.own)
        for k, (rows, kind) in enumerate(zip(self.table.arrays, KINDS, strict=True)):
            every = [arrays[k].astype(kind.dtype) for arrays in self.own.values()]
            expected = np.concatenate([np.zeros((0, *kind.shape), dtype=kind.dtype), *every])
            np.testing.assert_array_equal(rows, expected)
            assert rows.dtype == kind.dtype and rows.flags.writeable and rows.flags.c_contiguous


@pytest.mark.parametrize("seed", range(20))
def test_rows_are_those_of_the_owners_in_their_order(seed):
    owners = Owners(seed)
    owners.check()
    for _ in range(60):
        for _ in range(owners.rng.integers(1, 4)):  # changes between two looks
            what = owners.rng.integers(0, 5)
            if what < 2 or not owners.own:
                owners.add()
            elif what == 2:
                owners.remove(owners.rng.integers(0, len(owners.own)))
            elif what == 3:
                owners.add(owners.remove(owners.rng.choice([-1, 0])))  # the same owner with other rows
            else:
                owners.arrange()
        owners.check()


def test_arrays_that_were_handed_out_stay_as_they_were():
    owners = Owners(1)
    for _ in range(3):
        owners.add()
    before = owners.table.arrays
    copies = [own.copy() for own in before]
    owners.remove(2)
    owners.check()
    owners.add()
    owners.check()
    for own, copy in zip(before, copies, strict=True):
        np.testing.assert_array_equal(own, copy)
