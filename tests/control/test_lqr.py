"""The regulator solves Riccati's equation, and what that promises of the true motion near an equilibrium holds."""

import copy
import pickle
from functools import cache

import numpy as np
import pytest
from chart_cases import bead, single
from trees import assert_close, mechanism, random_body

import recursive_dyn as rd
from recursive_dyn import control
from recursive_dyn.control.optimal.weights import natural_weights
from scene import Body, Scene, joints

LINK = {"mass": 1.0, "center_of_mass": (0, 0, 0.5), "inertia": np.diag([0.083, 0.083, 0.001])}
STEP = 1 / 240


@cache
def acrobot():
    """Two links upright at q = 0."""
    scene = Scene()
    upper = scene.world.attach(Body("upper", **LINK), joints.revolute("y"))
    upper.attach(Body("lower", **LINK), joints.revolute("y"), at=rd.pose((0, 0, 1)))
    return scene.compile()


@cache
def balls():
    """Inverted: a ball joint, a ball joint on it, a hinge with a spring and a damper."""
    scene = Scene()
    node = scene.world.attach(Body("hip", **LINK), joints.ball())
    node = node.attach(Body("knee", **LINK), joints.ball(), at=rd.pose((0, 0, 1)))
    node.attach(Body("foot", **LINK), joints.revolute("x", stiffness=2.0, damping=0.5), at=rd.pose((0.1, 0, 1)))
    return scene.compile()


@cache
def four_bar():
    """Three hinges closed by a pin, one freedom."""
    scene = Scene()
    crank = scene.world.attach(Body("crank", **LINK), joints.revolute("y"))
    rod = crank.attach(Body("rod", **LINK), joints.revolute("y"), at=rd.pose((0, 0, 1)))
    rocker = scene.world.attach(Body("rocker", **LINK), joints.revolute("y"), at=rd.pose((0.8, 0, 0)))
    scene.constrain([rod.point((0, 0, 1))[i] - rocker.point((0, 0, 1))[i] for i in (0, 2)], name="pin")
    return scene.compile()


def balance(law, A, B):
    """What is left of Riccati's equation, relative to its largest term."""
    S, Q, K = law.S, law.Q, law.K[law.drives.slots]
    weighed = Q + K.T @ law.R @ K
    closed = A - B @ K
    terms = (closed.T @ S @ closed - S) if law.timestep else (closed.T @ S + S @ closed)
    return np.abs(terms + weighed).max() / max(np.abs(weighed).max(), np.abs(closed.T @ S).max())


@pytest.mark.parametrize("timestep", [None, STEP])
@pytest.mark.parametrize("case", ["acrobot", "balls", "tree"])
def test_riccatis_equation_holds_and_nothing_grows(case, timestep):
    if case == "tree":
        m = mechanism(5, 4, kinds=("ball", "revolute", "universal", "helix"))
        d, q, driven = m.dynamics(), m.states(1, 0)[0][0], None
    else:
        d = acrobot() if case == "acrobot" else balls()
        q, driven = d.neutral(), ["lower.angle"] if case == "acrobot" else None
    law = control.LQR(d, q, timestep=timestep, actuated=driven)
    A, B = d.linearize(q, np.zeros(d.nv), law.tau, timestep)
    assert balance(law, A, B[:, law.drives.slots]) < 1e-8  # condition of S times rounding
    assert np.linalg.eigvalsh(law.S)[0] > 0
    assert (np.abs(law.poles) < 1).all() if timestep else (law.poles.real < 0).all()
    whole = np.linalg.eigvals(A - B @ law.K)
    assert_close(np.sort(np.abs(whole)), np.sort(np.abs(law.poles)), 1e-6)


def test_what_is_driven_moves_at_the_frequency_in_any_coordinates():
    """Without gravity M (x'' + sqrt(3) w x' + w^2 x) = 0: K = [w^2 M, sqrt(3) w M]."""
    m = mechanism(7, 5, kinds=("ball", "revolute", "prismatic", "helix"), gravity=(0, 0, 0))
    d, q = m.dynamics(), m.states(1, 0)[0][0]
    law, w, M = control.LQR(d, q, frequency=0.7), 2 * np.pi * 0.7, d.mass_matrix(q)
    assert_close(law.K, np.hstack([w**2 * M, np.sqrt(3) * w * M]), 1e-8)
    expected = w * np.exp(1j * np.radians(150))
    assert_close(np.abs(law.poles), np.full(2 * d.nv, abs(expected)), 1e-6)  # of many equal ones: root of rounding
    assert law.tau == pytest.approx(0.0, abs=1e-12)


def start(law, size):
    """A state off the equilibrium by ``size``, which the constraints allow."""
    d = law.dynamics
    rng = np.random.default_rng(3)
    q = d.integrate(law.q, rng.normal(size=d.nv), size)
    return d.project(q, law.v + size * rng.normal(size=d.nv))


CASES = {
    "acrobot": lambda: control.LQR(acrobot(), [0, 0], timestep=STEP, actuated=["lower.angle"]),
    "balls": lambda: control.LQR(balls(), balls().neutral(), timestep=STEP),
    "of fourth order": lambda: control.LQR(acrobot(), [0, 0], timestep=0.02, actuated=["lower.angle"],
                                           integrator="rk4"),
    "held aslant": lambda: control.LQR(balls(), balls().integrate(balls().neutral(), np.ones(7), 0.3), timestep=STEP),
    "four-bar": lambda: control.LQR(four_bar(), four_bar().project([0.5, 1.0, 0.5])[0], timestep=STEP,
                                    actuated=["crank.angle"]),
}  # fmt: skip


@pytest.mark.parametrize("case", ["acrobot", "of fourth order", "held aslant", "four-bar"])
def test_the_cost_to_go_is_that_of_the_simulation(case):
    """To second order: what is left is of the third, or of the fourth where left and right are alike."""
    law, missed = CASES[case](), []
    for size in (2e-4, 1e-4):
        sim = rd.Simulation(law.dynamics, law.timestep, law.integrator)
        sim.q, sim.v = start(law, size)
        sim.control, total = law, 0.0
        expected = law.cost_to_go(sim.q, sim.v)
        for _ in range(round(5 / law.timestep)):
            x = law.deviation(sim.q, sim.v)
            u = -(law.K @ x)[law.drives.slots]
            total += x @ law.Q @ x + u @ law.R @ u
            sim.step()
        missed.append(abs(total / expected - 1))
    assert missed[0] < 0.1 and missed[1] < max(0.7 * missed[0], 1e-6)


@pytest.mark.parametrize("case", CASES)
def test_the_true_motion_decays_as_the_slowest_pole(case):
    """From a start along its mode x the state after k steps is p^k x, but for a share as small as x."""
    law, size = CASES[case](), 1e-5
    d = law.dynamics
    A, B = d.linearize(law.q, law.v, law.tau, law.timestep, law.integrator)
    poles, modes = np.linalg.eig(A - B @ law.K)
    slowest = np.argmax(np.abs(poles))
    pole, mode = poles[slowest], modes[:, slowest]
    assert abs(pole) == pytest.approx(np.abs(law.poles).max(), rel=1e-8)
    sim = rd.Simulation(d, law.timestep, law.integrator)
    x = size * mode.real
    sim.q, sim.v = d.project(d.integrate(law.q, x[: d.nv], 1.0), x[d.nv :])
    sim.control = law
    steps = round(1 / -np.log(abs(pole)))  # until a third is left
    sim.step(steps)
    assert_close(law.deviation(sim.q, sim.v), size * (pole**steps * mode).real, 2e-3, scale=np.abs(x).max())


def test_the_continuous_regulator_is_the_limit_of_the_discrete():
    whole = control.LQR(acrobot(), [0, 0], actuated=["lower.angle"])
    errors = []
    for h in (1e-3, 5e-4):
        law = control.LQR(acrobot(), [0, 0], actuated=["lower.angle"], timestep=h)
        errors.append(np.abs(law.K - whole.K).max())
        assert_close(law.S * h, whole.S, 20 * h)
    assert 1.8 < errors[0] / errors[1] < 2.2


def test_a_loop_is_held_by_one_of_its_hinges():
    law = CASES["four-bar"]()
    assert len(law.poles) == 2 and np.linalg.matrix_rank(law.S, 1e-6 * np.abs(law.S).max()) == 2
    q, d = law.q, law.dynamics
    along = np.linalg.svd(d.constraint_jacobian(q))[2][-1]
    assert law.tau @ along == pytest.approx(d.gravity(q) @ along, rel=1e-9)  # virtual work
    assert np.flatnonzero(law.tau).tolist() == [0]
    sim = rd.Simulation(law.dynamics, law.timestep, law.integrator)
    sim.q, sim.v = start(law, 0.2)
    sim.control = law
    sim.step(240 * 8)
    assert_close(sim.q, q, 1e-6)


def test_a_top_that_sleeps_is_kept_upright_while_it_spins():
    scene = Scene()
    body = Body("top", mass=1.0, center_of_mass=(0, 0, 0.5), inertia=np.diag([0.02, 0.02, 0.03]))
    scene.world.attach(body, joints.ball())
    d = scene.compile()
    law = control.LQR(d, d.neutral(), [0, 0, 3.0], timestep=STEP)
    sim = rd.Simulation(d, STEP)
    sim.q, sim.v, sim.control = d.integrate(d.neutral(), [0.1, -0.2, 0], 1), [0, 0, 3.0], law
    sim.step(240 * 6)
    assert_close(sim.q, d.integrate(d.neutral(), [0, 0, 3.0], sim.time), 1e-3)
    with pytest.raises(rd.StateError, match="no steady motion: after 0"):
        control.LQR(acrobot(), [0, 0], [1.0, 0.0])


def test_it_is_copied_and_pickled_and_reports_its_limits():
    law = control.LQR(acrobot(), [0, 0], actuated=["lower.angle"], limits=2.0)
    for other in (law, copy.deepcopy(law), pickle.loads(pickle.dumps(law))):
        assert_close(other([0.3, 0.4], [1.0, 2.0]), np.array([0.0, 2.0]), 0.0)
        assert other.saturated == ("lower.angle",)


def lqr(**given):
    return control.LQR(acrobot(), **{"q": [0, 0], "actuated": ["lower.angle"], **given})


def drifting():
    scene = Scene(gravity=(0, 0, 0))
    hull = scene.world.attach(random_body(np.random.default_rng(0), "hull"), joints.free())
    hull.attach(Body("wheel", **LINK), joints.revolute("z"))
    return scene.compile()


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: lqr(q=[0.1, 0.0]), rd.StateError, "no equilibrium: '.*' accelerates at .* cannot hold it"),
        (lambda: lqr(tau=[0.0, 1.0]), rd.StateError, "tau does not hold it"),
        (lambda: lqr(tau=[1.0, 0.0]), rd.StateError, "tau is 1 at 'upper.angle', which is not driven"),
        (lambda: lqr(actuated=[]), rd.StateError, "nothing is driven"),
        (lambda: lqr(q=[0.3, 0.0], actuated=None, limits=1.0), rd.StateError, "needs more of 'upper.angle'"),
        (lambda: lqr(Q=-1.0), rd.StateError, "Q must be at least zero .* see"),
        (lambda: lqr(Q=[1.0, 2.0]), rd.StateError, r"Q is a finite number, \(4,\) or \(4, 4\): upper.angle"),
        (lambda: lqr(R=0.0), rd.StateError, "R must be positive .* see 'lower.angle'"),
        (lambda: lqr(Q=np.triu(np.ones((4, 4)))), rd.StateError, "Q must be symmetric"),
        (lambda: lqr(Q=1.0, R=1.0, frequency=2.0), rd.StateError, "leave one of the three out"),
        (lambda: lqr(frequency=0.0), rd.StateError, "frequency must be above 0"),
        (lambda: lqr(integrator="euler"), rd.StateError, "unknown integrator 'euler'"),
        (lambda: lqr(timestep=-1.0), rd.StateError, "timestep must be a positive number"),
        (lambda: lqr(q=[0.0]), rd.StateError, r"'q' has shape \(1,\)"),
        (lambda: lqr(v=[0.0, np.nan]), rd.StateError, "'v' is not finite"),
        (lambda: control.LQR(drifting(), drifting().neutral()), rd.StateError, "'hull.*' cannot be stabilised"),
        (lambda: control.LQR(single(bead("z", "x")), [0.5, 0.5]), rd.ModelError, "changes its charts"),
        (lambda: control.LQR(four_bar(), [0.1, 0.2, 0.5]), rd.StateError, "constraint 'pin.*' is off by"),
        (lambda: control.LQR(four_bar(), CASES["four-bar"]().q, [1.0, 0, 0]), rd.StateError, "v must be zero"),
    ],
)  # fmt: skip
def test_bad_input_is_told(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_what_neither_grows_nor_decays_has_to_be_seen():
    scene = Scene(gravity=(0, 0, 0))
    scene.world.attach(Body("cart", **LINK), joints.prismatic("x"))
    with pytest.raises(rd.StateError, match="Q does not see 'cart"):
        control.LQR(scene.compile(), [0.0], Q=[0.0, 1.0])


def test_natural_weights_are_energies():
    d = balls()
    rng = np.random.default_rng(0)
    q, v = d.random(rng), rng.normal(size=d.nv)
    Q, R = natural_weights(d, control.LQR(d, d.neutral()).drives, q, 1 / (2 * np.pi))
    x = np.concatenate([np.zeros(d.nv), v])
    assert x @ Q @ x == pytest.approx(2 * d.kinetic_energy(q, v), rel=1e-12)
    pushed = np.linalg.solve(d.mass_matrix(q), v)
    assert v @ R @ v == pytest.approx(2 * d.kinetic_energy(q, pushed), rel=1e-12)
