"""Both contenders of the table bring the same bodies to the same places."""

import numpy as np
import pytest

from demos.benchmark import kinematics
from demos.benchmark.ours import scene_of
from recursive_dyn import control

ROWS = kinematics.table_rows()


@pytest.mark.parametrize("name", ROWS)
def test_what_ours_finds_is_where_pinocchio_has_it(name):
    row, rng = ROWS[name], np.random.default_rng(3)
    dynamics = (row.scene or scene_of(row.case)).compile()
    goal = kinematics.middle(dynamics, rng)
    start = dynamics.integrate(goal, kinematics.OFF * rng.normal(size=dynamics.nv), 1.0)
    found = control.inverse_kinematics(dynamics, kinematics.targets(dynamics, row.rows, goal), start)
    assert found.converged
    clik = kinematics.peer(row.case, row.rows)
    if clik is None:
        assert row.case is None
        return
    aims = clik.aims(goal)
    for reached, aim in zip(clik.aims(found.q), aims, strict=True):
        reached, aim = (getattr(x, "homogeneous", x) for x in (reached, aim))
        np.testing.assert_allclose(reached, aim, atol=3e-8)
    theirs, steps = clik.solve(aims, start)
    assert steps < 10
    np.testing.assert_allclose(dynamics.poses(theirs)[-1], dynamics.poses(goal)[-1], atol=3e-8)
