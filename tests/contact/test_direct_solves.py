"""What is solved directly between sweeps: all rows that bind at once, friction that slides among them."""

import numpy as np
from contact_scenes import at, mirror, put, set_twist
from hypothesis import given
from hypothesis import strategies as st

from recursive_dyn.contact.sweeps.direct_solve import eliminate
from scene import Scene, shapes


@given(st.integers(0, 2**32 - 1), st.integers(1, 24), st.integers(0, 12))
def test_elimination_solves_whatever_is_zero(seed, n, width):
    """Rows of a band in any order, diagonals that are zero among them, so that rows must be exchanged."""
    rng = np.random.default_rng(seed)
    band = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= width
    K = rng.permutation(np.where(band, rng.normal(size=(n, n)), 0.0) + 0.5 * np.eye(n))
    if np.linalg.cond(K) > 1e8:
        return
    x, b = rng.normal(size=n), np.empty(n)
    b[:] = K @ x
    eliminate(K.ravel().copy(), b)
    np.testing.assert_allclose(b, x, atol=1e-13 * n * np.linalg.cond(K) * np.abs(x).max())


def test_friction_that_slides_aslant_is_solved_as_fast_as_what_sticks():
    """Three boxes turn and slide on each other: a direct solve that knows how friction turns with the slip is followed
    by sweeps that change nothing, in most steps; where friction keeps its direction in it, it takes twice as many."""
    sweeps = []
    for seed in range(6):
        scene, rng = Scene(), np.random.default_rng(seed)
        scene.world.shapes.append(shapes.Box((40.0, 40.0, 1.0), at=at(0, 0, -0.5)))
        for k in range(3):
            put(scene, f"box{k}", shapes.Box((0.3, 0.2, 0.1)), at(0, 0, 0.05 + 0.1 * k))
        with mirror(scene, ground=False) as shown:
            shown.sim.contact.tolerance = 1e-9
            for k in range(3):
                push = 2.0 * rng.normal(size=2)
                set_twist(shown.sim, f"box{k}", velocity=(*push, 0.0), omega=(0.0, 0.0, 8.0 * rng.normal()))
            for _ in range(12):
                shown.step()
                sweeps.append(shown.sim.solution.iterations)
    assert np.median(sweeps) <= 8
