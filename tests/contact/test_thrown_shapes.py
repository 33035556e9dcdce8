"""Whatever is thrown at a wall, a convex mesh or a free plate stays on its side, at any speed, spin and phase."""

import pytest
from thrown_shapes import SHAPES, TARGETS, throws

NEAREST = 0.5  # of its inner radius: how near the surface its centre comes at most
AT_REST = 0.9  # the same where it ends
LEFT = 2e-3  # m: what it may be in there
SEEDS = (2, *(pytest.param(k, marks=pytest.mark.slow) for k in (0, 1, 3, 4, 5)))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", SHAPES)
def test_nothing_passes_what_it_is_thrown_at(kind, seed):
    """3 to 20 cm at 5 to 150 m/s, spinning by up to 30 rad/s, against 2 to 10 cm; free plates have 10 to 1e4 kg; in
    steps of 1/240 to 1/30 s. Of 4200 such throws with 16 parts 40 went through; 1581 of them had no room."""
    count = 10 if seed == SEEDS[0] else 25
    for target in TARGETS:
        for throw in throws(kind, target, seed, count):
            assert throw.lowest > NEAREST and throw.left > AT_REST, throw
            assert throw.overlap < LEFT and throw.hurried == 0, throw
            assert throw.won < 1e-5, throw
            assert throw.parts <= 1024, throw


def test_what_there_is_no_room_for_is_still_told():
    """Twice as many parts as there are said to be are what a step takes at most; what goes through is counted."""
    found = throws("torus", "wall", 2, 10, substeps=16)
    assert 16 < max(throw.parts for throw in found) <= 32
    through = [throw for throw in found if throw.lowest < 0.0]
    assert through and all(throw.hurried > 0 for throw in through)
