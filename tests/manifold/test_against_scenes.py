"""The coordinate-free equations move like the same mechanisms built as scenes of bodies on parametric joints.

Both start from one state, take different roads (angles, quaternions and the articulated-body recursion here; unit
vectors, rotations and rows of virtual work there), and are compared in the variables of the manifold.
"""

from functools import cache
from itertools import islice

import numpy as np
import pytest
from moving import trajectory
from scenes import ABSOLUTE, OTHERWISE
from scipy.integrate import solve_ivp
from trees import assert_close, curve, derivative
from twins import Twin

import recursive_dyn as rd
from recursive_dyn.manifold.formula.calculus import leaves
from recursive_dyn.manifold.formula.evaluation import Evaluation
from recursive_dyn.manifold.motion.motion import Motion

BUILDERS = ABSOLUTE | OTHERWISE
STEP = 5e-5  # the fastest links turn at 100 rad/s for a moment: errors of fourth order are (100 h)^4 / 120 = 5e-12
TIMES = np.linspace(0.1, 1.0, 10)
SAME = 1e-10  # m, m/s, rad/s after a second: a cart and six links of up to 1.5 m bring a mass to within 1e-9
COSTLY = {"chain_of_4", "chain_of_5", "chain_of_6", "stance_on_universals", "double_spherical_on_universals"}
names = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in COSTLY else name for name in BUILDERS]
)


@cache
def twin(name):
    """The scene with its compiled dynamics, and the compiled equations with the same parameters."""
    result = BUILDERS[name](np.random.default_rng(5))
    equations = result.system.derive().compile()
    equations.parameters.update(result.parameters)
    return result, result.scene.compile(), equations


@cache
def equations_of(name):
    return twin(name)[0].system.derive()


def vee(A):
    """The vector of the skew part of matrices (..., 3, 3)."""
    return np.stack([A[..., 2, 1] - A[..., 1, 2], A[..., 0, 2] - A[..., 2, 0], A[..., 1, 0] - A[..., 0, 1]], -1) / 2


def pose_rates(dynamics, q, v):
    """d/dt X_WB (..., nb, 4, 4) of all bodies."""
    X, twist = dynamics.poses(q), dynamics.velocities(q, v)
    result = np.zeros_like(X)
    result[..., :3, :3] = np.cross(twist[..., None, :3], X[..., :3, :3], axisb=-2, axisc=-2)
    result[..., :3, 3] = twist[..., 3:]
    return result


def observed(twin: Twin, dynamics: rd.Dynamics, q, v, a=None):
    """Positions, rates q', Omega, x' and, for accelerations a, their rates q'', Omega', x'', each by name."""
    X = [dynamics.poses(q), pose_rates(dynamics, q, v)]
    moving = [q, v]
    if a is not None:
        X.append(derivative(lambda t: pose_rates(dynamics, *curve(dynamics, q, v, a, t))))
        moving.append(a)
    body = dynamics.bodies.index
    result = [{} for _ in X]
    for name, marks in twin.vectors.items():
        for values, poses in zip(result, X, strict=True):
            values[name] = sum((poses[..., body(b), :, :] @ np.array(h) for b, h in marks.items()))[..., :3]
    for name, b in twin.rotations.items():
        R = X[0][..., body(b), :3, :3]
        result[0][name] = R
        for values, poses in zip(result[1:], X[1:], strict=True):
            values[name] = vee(np.swapaxes(R, -1, -2) @ poses[..., body(b), :3, :3])
    for name, coordinate in twin.scalars.items():
        for i, (values, numbers) in enumerate(zip(result, moving, strict=True)):
            known = dynamics.velocity_coordinates if i else dynamics.coordinates
            values[name] = numbers[..., known.index(coordinate)]
    return result


def packed(manifold, positions, rates):
    """q (n, nq), v (n, nv) of the manifold's equations from a batch of variables."""
    count = len(next(iter(positions.values())))
    states = [
        manifold.pack({k: x[i] for k, x in positions.items()}, {k: x[i] for k, x in rates.items()})
        for i in range(count)
    ]
    return tuple(map(np.array, zip(*states, strict=True)))


@cache
def starts(name):
    """Four states (q, v) of the scene from which no latitude comes within a quarter rad of a pole for a second.

    There the scene's rates, not the mechanism's, would ask for smaller steps.
    """
    case, dynamics, _ = twin(name)
    states = zip(*case.states(dynamics, np.random.default_rng(6), 1000), strict=True)
    return list(islice((state for state in states if _far_from_poles(dynamics, *state)), 4))


def _far_from_poles(dynamics, q, v):
    latitudes = [i for i, c in enumerate(dynamics.coordinates) if c.endswith((".v", "_v", ".angle_2"))]
    simulation = rd.Simulation(dynamics, timestep=1e-3, integrator="rk4")
    simulation.q, simulation.v = q, v
    for _ in range(1000):
        if np.abs(np.cos(simulation.q[latitudes])).min(initial=1.0) < 0.25:
            return False
        simulation.step()
    return True


def configuration_rate(dynamics, q, v):
    """q' of velocities v; a quaternion's is half its product with omega in the child's axes."""
    result = np.zeros_like(q)
    for place, slot in dynamics.model.plain_slots:
        result[place] = v[slot]
    for before, (place, _) in enumerate(dynamics.model.units):  # each has a velocity less than coordinates
        vector, scalar, omega = q[place : place + 3], q[place + 3], v[place - before : place - before + 3]
        result[place : place + 3] = (scalar * omega + np.cross(vector, omega)) / 2
        result[place + 3] = -(vector @ omega) / 2
    return result


def simulated(dynamics, q, v, tau=0.0):
    """States of the scene at TIMES, by the project's own fourth-order steps."""
    simulation = rd.Simulation(dynamics, timestep=STEP, integrator="rk4")
    simulation.q, simulation.v = q, v
    simulation.tau[:] = tau
    for time in TIMES:
        simulation.step(round((time - simulation.time) / STEP))
        yield simulation.q.copy(), simulation.v.copy()


def integrated(case, dynamics, q, v, tau):
    """States of the scene at TIMES under its loads, by SciPy's eighth-order steps."""

    def rate(_, state):
        q, v = state[: dynamics.nq], state[dynamics.nq :]
        a = dynamics.forward_dynamics(q, v, tau, case.wrenches(dynamics, q))
        return np.concatenate([configuration_rate(dynamics, q, v), a])

    path = solve_ivp(rate, (0.0, 1.0), np.concatenate([q, v]), "DOP853", TIMES, rtol=1e-12, atol=1e-13)
    for state in path.y.T:
        yield state[: dynamics.nq], state[dynamics.nq :]


def deviation(name, start, states, forces=(), step=STEP):
    """Largest differences between the manifold's motion and the scene's states at TIMES, in positions and rates."""
    case, dynamics, manifold = twin(name)
    motion = Motion(manifold, step)
    positions, rates = observed(case, dynamics, *start)
    for key, value in positions.items():
        motion.place(key, value, rates[key])
    motion.forces.update(forces)
    errors = []
    for time, (q, v) in zip(TIMES, states, strict=True):
        motion.step(round((time - motion.time) / step))
        positions, rates = observed(case, dynamics, q, v)
        errors += [np.abs(motion[key] - x).max() for key, x in positions.items()]
        errors += [np.abs(motion.rate(key) - x).max() for key, x in rates.items()]
    return max(errors)


def test_a_second_is_long_enough_for_everything_to_move():
    for name in BUILDERS:
        case, dynamics, _ = twin(name)
        start = starts(name)[0]
        first = observed(case, dynamics, *start)[0]
        path = [observed(case, dynamics, q, v)[0] for q, v in simulated(dynamics, *start)]
        assert min(max(np.linalg.norm(x[key] - first[key]) for x in path) for key in first) > 0.1


@names
def test_a_scene_and_the_manifold_move_alike_for_a_second(name):
    for start in starts(name):
        assert deviation(name, start, simulated(twin(name)[1], *start)) < SAME


@pytest.mark.parametrize("name", [name for name in ABSOLUTE if "quadrotor" not in name])
def test_what_differs_is_an_error_of_fourth_order(name):
    """Half the step, a sixteenth of the error; a free quadrotor's is within rounding at these steps."""
    start = starts(name)[0]
    states = list(simulated(twin(name)[1], *start))
    coarse, fine = (deviation(name, start, states, step=step) for step in (2.5e-3, 1.25e-3))
    assert 14.5 < coarse / fine < 18.0


@names
def test_they_move_alike_under_forces(name):
    case, dynamics, _ = twin(name)
    start, tau = starts(name)[1], case.tau(dynamics)
    states = integrated(case, dynamics, *start, tau) if case.loads else simulated(dynamics, *start, tau)
    assert deviation(name, start, states, case.forces) < SAME


@names
def test_forces_matter(name):
    start = starts(name)[1]
    assert deviation(name, start, simulated(twin(name)[1], *start), twin(name)[0].forces) > 1e-2


@names
def test_accelerations_are_the_same_at_random_states(name):
    """Those of the scene's bodies by eighth-order differences of their velocities, about 1e-12: see ``derivative``."""
    case, dynamics, manifold = twin(name)
    q, v = case.states(dynamics, np.random.default_rng(1), 20)
    a = dynamics.forward_dynamics(q, v, case.tau(dynamics), case.wrenches(dynamics, q))
    positions, rates, accelerations = observed(case, dynamics, q, v, a)
    own = packed(manifold, positions, rates)
    found = manifold.accelerations(*own, case.forces)
    for place in manifold.variables:
        key = place.symbol.base.name
        mine = found[:, place.v]
        if place.symbol.base.is_unit:
            omega, direction = own[1][:, place.v], positions[key]
            mine = np.cross(mine, direction) + np.cross(omega, rates[key])
        assert_close(mine.reshape(accelerations[key].shape), accelerations[key], 1e-10)


@names
def test_the_scene_s_accelerations_meet_the_symbolic_equations(name):
    """Residuals, evaluated formula by formula and never compiled, vanish against their own inertial terms."""
    case, dynamics, _ = twin(name)
    equations = equations_of(name)
    q, v = case.states(dynamics, np.random.default_rng(2), 3)
    a = dynamics.forward_dynamics(q, v, case.tau(dynamics), case.wrenches(dynamics, q))
    positions, rates, accelerations = observed(case, dynamics, q, v, a)
    numbers = case.parameters | case.forces
    for i in range(len(q)):
        state = [[], [], []]
        for symbol in equations.configuration:
            moving = [values[symbol.base.name][i] for values in (positions, rates, accelerations)]
            if symbol.base.is_unit:  # omega = q x q', omega' = q x q''
                moving[1:] = [np.cross(moving[0], x) for x in moving[1:]]
            for values, x in zip(state, moving, strict=True):
                values.append(x)
        values = trajectory(equations.configuration, *state)
        values |= {s: numbers[s.base.name] for s in leaves_of(equations, values)}
        resting = trajectory(equations.configuration, *state[:2], [np.zeros_like(x) for x in state[2]])
        for row in equations.rows:
            residual = np.array(Evaluation(values)(row.residual), dtype=float)
            without = np.array(Evaluation(values | resting)(row.residual), dtype=float)
            assert np.abs(residual).max() < 1e-10 * max(np.abs(without).max(), 1.0)


def leaves_of(equations, known):
    """Constants and forces of the rows."""
    found = {s for row in equations.rows for s in leaves(row.residual)}
    return [s for s in found if s not in known]


@names
def test_energies_are_the_same(name):
    case, dynamics, manifold = twin(name)
    q, v = case.states(dynamics, np.random.default_rng(3), 20)
    own = packed(manifold, *observed(case, dynamics, q, v))
    assert_close(manifold.energy(*own), dynamics.kinetic_energy(q, v) + dynamics.potential_energy(q), 1e-13)


@names
def test_kinetic_energy_is_that_of_the_mass_matrix(name):
    case, dynamics, manifold = twin(name)
    q, v = case.states(dynamics, np.random.default_rng(4), 20)
    own = packed(manifold, *observed(case, dynamics, q, v))
    kinetic = np.einsum("ni,nij,nj->n", own[1], manifold.mass_matrix(own[0]), own[1]) / 2
    assert_close(kinetic, dynamics.kinetic_energy(q, v), 1e-13)
