"""Many arrays read in one call are where, and as long as, NumPy says; what is of another type is left to be named."""

from typing import Annotated, NamedTuple

import numpy as np
import pytest

from recursive_dyn.codegen.compiled import Flags, Integers
from recursive_dyn.codegen.loops.array_words import leaves_of
from recursive_dyn.codegen.loops.calling import Packed


class Inner(NamedTuple):
    poses: Annotated[np.ndarray, float, 4, 4]
    flags: Flags


class Outer(NamedTuple):
    numbers: Integers
    inner: Inner
    count: int
    pairs: Annotated[np.ndarray, int, 2]
    share: float


def outer(**changes):
    value = Outer(
        np.arange(3), Inner(np.zeros((2, 4, 4)), np.zeros(5, dtype=bool)), 7, np.zeros((4, 2), dtype=np.int64), 0.5
    )
    return value._replace(**changes)


def test_words_are_addresses_and_lengths_in_order():
    value = outer()
    arrays = [value.numbers, value.inner.poses, value.inner.flags]
    wanted = [word for a in arrays for word in (a.ctypes.data, len(a))]
    wanted += [7, value.pairs.ctypes.data, 4, int(np.float64(0.5).view(np.int64))]
    assert leaves_of(Outer).words(value).tolist() == wanted
    assert Packed(value).cells.tolist() == wanted


def test_arrays_that_may_not_be_written_to_are_read_too():
    numbers = np.arange(3)
    numbers.setflags(write=False)
    assert leaves_of(Outer).words(outer(numbers=numbers))[:2].tolist() == [numbers.ctypes.data, 3]


@pytest.mark.parametrize(
    "changes",
    [
        {"numbers": np.zeros(3)},
        {"numbers": np.arange(6)[::2]},
        {"numbers": np.zeros((3, 1), dtype=np.int64)},
        {"numbers": [1, 2, 3]},
        {"pairs": np.zeros((4, 3), dtype=np.int64)},
        {"pairs": np.zeros(8, dtype=np.int64)},
        {"inner": (np.zeros((2, 3, 4)), np.zeros(5, dtype=bool))},
        {"inner": (np.zeros((2, 4, 4)),)},
    ],
    ids=["kind", "gaps", "dimensions", "list", "inner size", "too few", "second inner size", "missing"],
)
def test_what_does_not_fit_is_refused_by_name(changes):
    value = outer(**changes)
    assert leaves_of(Outer).words(value) is None
    with pytest.raises(TypeError, match=r"array|Inner"):
        Packed(value)
