"""Rows of owners who come, go and change places, beside those of a stack that was made anew."""

import numpy as np
import pytest

from bridge.planes.stack import Stack

EMPTY = (np.zeros(0, dtype=np.int64), np.zeros((0, 3)))


class Owner:
    def __init__(self, rng):
        self.rows = rng.integers(0, 9, rng.integers(0, 3)), rng.normal(size=(rng.integers(1, 4), 3))


def stack():
    return Stack[Owner](EMPTY, lambda owner: owner.rows)


@pytest.mark.parametrize("seed", range(5))
def test_rows_are_those_of_the_owners_in_their_order(seed):
    rng, known, made = np.random.default_rng(seed), stack(), []
    for _ in range(20):
        made = [owner for owner in made if rng.random() < 0.7] + [Owner(rng) for _ in range(rng.integers(0, 4))]
        made = [made[k] for k in rng.permutation(len(made))] if rng.random() < 0.3 else made
        known.arrange(made)
        fresh = stack()
        fresh.arrange(made)
        np.testing.assert_array_equal(known.counts, [[len(rows) for rows in o.rows] for o in made] or np.zeros((0, 2)))
        for k, (mine, yours) in enumerate(zip(known.arrays, fresh.arrays, strict=True)):
            np.testing.assert_array_equal(mine, np.concatenate([EMPTY[k], *[o.rows[k] for o in made]]))
            np.testing.assert_array_equal(mine, yours)


def test_rows_of_who_stays_are_not_made_again():
    rng, asked = np.random.default_rng(0), []
    known = Stack[Owner](EMPTY, lambda owner: (asked.append(owner), owner.rows)[1])
    a, b, c = (Owner(rng) for _ in range(3))
    known.arrange([a, b])
    known.arrange([b, c])
    assert asked == [a, b, c]
