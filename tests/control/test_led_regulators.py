"""Laws of least quadratic cost beside what time or a prescription leads."""

import numpy as np
import pytest
from led_arm import GOAL, STEP, arm, target

import recursive_dyn as rd
from recursive_dyn import control

FORMS = ["time", "prescription"]


def fixed():
    """The regulator of the arm on a table that stands."""
    run, own = arm("number", motion=lambda t: 0 * t)
    return own, control.LQR(run.dynamics, target(run, own), timestep=STEP)


def of_joints(K, own):
    n = K.shape[1] // 2
    return K[np.ix_(own, [*own, *(n + np.array(own))])]


@pytest.mark.parametrize("form", FORMS)
def test_a_base_that_moves_evenly_changes_no_regulator(form):
    """Galileo's principle."""
    run, own = arm(form, motion=lambda t: 0.3 * t)
    law = control.LQR(run.dynamics, target(run, own), timestep=STEP)
    own_still, still = fixed()
    np.testing.assert_allclose(of_joints(law.K, own), of_joints(still.K, own_still), rtol=1e-6)
    assert len(law.poles) == 4 and np.count_nonzero(law.K.any(axis=0)) == 4
    run.q[own], run.control = GOAL + 0.05, law
    cost = law.cost_to_go(run.q, run.v)
    run.step(720)
    assert law.cost_to_go(run.q, run.v, run.time) < 1e-6 * cost


@pytest.mark.parametrize("form", FORMS)
def test_no_regulator_stays_on_a_shaken_base(form):
    run, own = arm(form)
    with pytest.raises(
        rd.StateError, match=r"keeps what stays as it is, and '.*time' may move it: .* accelerates .*TimeVaryingLQR"
    ):
        control.LQR(run.dynamics, target(run, own))


def test_what_a_function_says_is_not_looked_ahead_of():
    run, own = arm("function")
    q = target(run, own)
    n = run.dynamics.nv
    for make in (
        lambda: control.LQR(run.dynamics, q),
        lambda: control.ILQR(run.dynamics, q, timestep=STEP),
        lambda: control.TimeVaryingLQR(run.dynamics, q, np.zeros(n), np.zeros((5, n)), STEP),
    ):
        with pytest.raises(rd.StateError, match=r"'table\.distance' is led by a Python function"):
            make()


def test_plans_are_made_of_what_is_led_and_kept_to():
    ends = []
    for form in FORMS:
        run, own = arm(form)
        run.step(24)
        run.q[own], run.v[own] = [0.2, 0.1], [0.3, -0.4]
        plan = control.ILQR(run.dynamics, target(run, own), timestep=STEP, frequency=3.0).solve(run.q, run.v, steps=60)
        assert plan.converged and plan.start == run.time
        assert len(plan.actuated) == 2 and plan.gains.any(axis=(0, 1)).sum() == 4
        run.control = plan.tracker(frequency=3.0)
        run.step(30)
        np.testing.assert_allclose(run.q, plan.q[30], atol=1e-9)
        run.v[own] += 0.01  # and comes back to it
        run.step(30)
        assert np.abs(run.q - plan.q[-1]).max() < 5e-4
        assert np.abs(plan.q[-1, own] - GOAL).max() < 0.05
        ends.append(plan.tau[:, own])
    np.testing.assert_allclose(*ends, atol=1e-3 * np.abs(ends[0]).max())


@pytest.mark.parametrize("form", FORMS)
def test_a_motion_begins_when_its_rows_say(form):
    """Unless another time is given, or they hold none."""
    run, own = arm(form)
    d, steps = run.dynamics, 40
    run.time = 0.25
    run.q[own] = [0.2, 0.1]
    run.q, run.v = np.split(d.call("in_time", run.q, run.v), [d.nq])
    states = [(run.q.copy(), run.v.copy())]
    for _ in range(steps):
        run.step()
        states.append((run.q.copy(), run.v.copy()))
    q, v = (np.array(rows) for rows in zip(*states, strict=True))
    given = d, q, v, np.zeros((steps, d.nv)), STEP
    law = control.TimeVaryingLQR(*given)
    assert law.start == 0.25 and law.end == pytest.approx(0.25 + steps * STEP)
    np.testing.assert_array_equal(law.K, control.TimeVaryingLQR(*given, start=0.25).K)
    np.testing.assert_allclose(law.q, q, atol=1e-12)  # the base is where it was in those steps
    for k in (0, 17, steps - 1):
        np.testing.assert_allclose(law(q[k], v[k], 0.25 + k * STEP), 0.0, atol=1e-6)
    assert control.TimeVaryingLQR(*given, start=1.0).start == 1.0
    nobody = q.copy()
    nobody[:, -1] = np.nan
    assert control.TimeVaryingLQR(d, nobody, *given[2:]).start == 0.0
