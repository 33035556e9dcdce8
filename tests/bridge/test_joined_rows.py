"""RowKind of owners who come, go and change places."""

import numpy as np
import pytest

from bridge.planes.joined_rows import RowKind, joined, packed

KINDS = RowKind(np.int64), RowKind(float, (3,)), RowKind(bool), RowKind(float, (2, 2))


@pytest.mark.parametrize("owners", [0, 1, 7])
def test_rows_are_those_of_the_owners_in_their_order(owners):
    rng = np.random.default_rng(owners)
    own = [[rng.integers(0, 2, (rng.integers(0, 4), *k.shape)).astype(k.dtype) for k in KINDS] for _ in range(owners)]
    found = joined([packed(arrays, KINDS) for arrays in own], KINDS)
    for k, (rows, kind) in enumerate(zip(found, KINDS, strict=True)):
        expected = np.concatenate([np.zeros((0, *kind.shape), dtype=kind.dtype), *[arrays[k] for arrays in own]])
        np.testing.assert_array_equal(rows, expected)
        assert rows.dtype == kind.dtype and rows.flags.writeable and rows.flags.c_contiguous
