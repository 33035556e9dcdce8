"""Pushes that are found all at once part whatever overlaps, by forces that press only there, whatever the masses."""

import numpy as np
import pytest
from test_block_equations import random_island

from recursive_dyn.contact.blocks import Island
from recursive_dyn.contact.exact_pushes import push_exactly
from recursive_dyn.contact.gaps import Gaps
from recursive_dyn.contact.positions import open_up, separate

SLOP = 2e-5


def overlapping(seed: int, ratio: float) -> tuple[Island, Gaps, np.ndarray]:
    """Contacts of bodies, every other one of which is heavier by a ratio, and gaps; their rows along normals (n, slots)
    as a matrix."""
    rng = np.random.default_rng(seed)
    it = random_island(rng, 7, 14, 0)
    rows, A = it.rows, np.zeros((14, len(it.y)))
    for c in range(14):
        at = rows.start[c]
        for slot in rows.slots[rows.first[c] : rows.first[c + 1]]:
            for i in range(rows.height[c]):
                rows.values[at + i] /= np.sqrt(ratio) if slot // 6 % 2 else 1.0
            A[c, slot] = rows.values[at]
            at += rows.height[c]
        rows.mobility[c, 0] = A[c] @ A[c]
    gaps, no = rng.uniform(-1e-2, 1e-2, 14), np.zeros(14)
    these = Gaps(
        gaps, no.copy(), np.full(14, np.nan), np.full(14, True), no.copy(), np.zeros(0, dtype=bool),
        np.zeros(len(it.y)), 0.5, 1 / 240, np.full(14, np.inf), no.copy(), np.full(14, False), 0.0, True, 200,
    )  # fmt: skip
    return it, these, A


@pytest.mark.parametrize("ratio", [1.0, 1e6])
def test_what_pushes_is_told_of_all_that_was_moved(ratio):
    """Half of what overlaps did so as the step began: it opens after what the step led into others was parted, by
    pushes that were told alone."""
    for seed in range(10):
        it, these, A = overlapping(seed, ratio)
        these = these._replace(exact=False)
        these.began[::2] = these.gaps[::2]
        assert separate(it, these, np.zeros(14), SLOP)
        parted = these.push.copy()
        assert open_up(it, these, 4e-3, SLOP) and parted.any() and (these.push > parted).any()
        np.testing.assert_allclose(A.T @ these.push, these.z, atol=1e-12)


@pytest.mark.parametrize("ratio", [1.0, 1e3, 1e6])
def test_what_overlaps_is_parted_by_the_shortest_way(ratio):
    for seed in range(10):
        it, these, A = overlapping(seed, ratio)
        assert push_exactly(it, these, SLOP)
        gaps, pushes, pushed = these.gaps + A @ these.z, these.push, these.push > 0.0
        assert gaps.min() > -SLOP * 1.01 and pushes.min() >= 0.0
        assert np.abs(gaps[pushed] + 0.5 * SLOP).max() < 0.05 * SLOP
        # ways answer pushes: all coordinates of a body alike, and no more than in the metric of M
        for body in range(6):
            own, way = (A.T @ pushes)[6 * body : 6 * body + 6], these.z[6 * body : 6 * body + 6]
            weight = (own @ own) / max(own @ way, 1e-300)
            assert np.abs(own - weight * way).max() <= 1e-6 * np.abs(own).max() and (weight > 0.999 or not own.any())
