"""The arm that draws: the line is exact to the order of the step, whatever the elbow does."""

from functools import cache

import numpy as np
import pytest

from demos import reach


@cache
def drawn(swing: float, steps: int) -> tuple[float, float, np.ndarray]:
    """The largest distances of the pen from its curve (m) and from upright (rad), and the way of the third joint."""
    simulation = reach.build().simulation
    simulation.timestep = 1.0 / steps
    posture = simulation.control.tasks[2]
    posture.target = lambda t: reach.elbow(t, swing)
    off, lean, elbow = 0.0, 0.0, []
    for _ in range(2 * steps):
        simulation.step()
        pen = simulation.frames()[0][-1]
        off = max(off, float(np.linalg.norm(pen[:3, 3] - reach.tip(simulation.time))))
        lean = max(lean, float(np.arccos(min(1.0, -pen[:3, 2] @ reach.NORMAL))))
        elbow.append(simulation.q[2])
    assert not simulation.control.singular and not simulation.control.saturated
    return off, lean, np.array(elbow)


def test_the_line_does_not_feel_the_elbow() -> None:
    still, swung = drawn(0.0, 240), drawn(reach.SWING, 240)
    assert np.ptp(swung[2]) > 0.3
    assert np.abs(swung[2] - still[2]).max() > 0.3
    for off, lean, _ in (still, swung):
        assert off < 1e-3 and lean < 1e-2


def test_the_error_falls_with_the_step() -> None:
    """Forces are held over a step: first order."""
    coarse, fine = drawn(reach.SWING, 240), drawn(reach.SWING, 480)
    assert coarse[0] / fine[0] == pytest.approx(2.0, rel=0.1)


def test_the_start_is_on_its_way() -> None:
    simulation = reach.build().simulation
    pen = simulation.frames()[0][-1]
    np.testing.assert_allclose(pen[:3, 3], reach.tip(0.0), atol=1e-8)
    np.testing.assert_allclose(pen[:3, 2], -reach.NORMAL, atol=1e-8)
