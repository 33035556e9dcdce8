"""What the table times: every controller drives the robot, and does as its law says; peers are of the same robot."""

import numpy as np
import pytest

from demos.benchmark import controllers
from demos.benchmark.cases import robots
from demos.benchmark.ours import Ours


@pytest.mark.parametrize("name", ["kuka", "laikago"])
def test_controllers_of_the_table_hold_their_robot(name):
    case = robots()[name]
    d = Ours(case, *np.zeros((3, len(case.hinges)))).dynamics
    laws = controllers.controllers(name, d)
    q, v = controllers.states(d)[0]
    for label, law in laws.items():
        tau = law(q, v, 0.0)
        assert np.isfinite(tau).all() and tau.any(), label
        assert name == "kuka" or not tau[:6].any(), label
    assert laws["WholeBodyQP"].feasible
    if name == "laikago":  # carried by its feet
        assert laws["WholeBodyQP"].plan.forces[:, 2].sum() > 0.5 * 9.81 * d.mass_matrix(q)[3, 3]
    else:
        a = d.forward_dynamics(q, v, laws["ComputedTorque"](q, v, 0.0) + d.passive_forces(q, v))
        kp, kd = laws["ComputedTorque"].kp, laws["ComputedTorque"].kd
        np.testing.assert_allclose(a, kp * d.difference(q, controllers.upright(d)) - kd * v, rtol=1e-6)
    runs = controllers.peers(case)
    assert set(runs) <= {"pin.rnea", "mj_step"}
    for run in runs.values():
        run(2)
