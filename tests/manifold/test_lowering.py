"""From rows to numbers: accelerations meet the rows they come from; what is no equation of motion is refused."""

from dataclasses import replace

import numpy as np
import pytest
from moving import (
    SYSTEMS,
    VALUES,
    R,
    compiled,
    e3,
    f,
    g,
    l,
    m,
    q,
    random_forces,
    random_state,
    spherical,
    system,
    trajectory,
    x,
)

import recursive_dyn as rd
from recursive_dyn.codegen import reference
from recursive_dyn.codegen.making import jit
from recursive_dyn.manifold import cross, define, delta, derive, dt, scalars, symmetric_matrices, vectors
from recursive_dyn.manifold.formula.evaluation import Evaluation
from recursive_dyn.manifold.motion.manifold_dynamics import ManifoldDynamics
from recursive_dyn.manifold.normal.normal_form import normal
from recursive_dyn.spatial.rotations import quaternion_to_matrix

every_system = pytest.mark.parametrize("name", SYSTEMS)


def residuals(equations, dynamics, state, a, forces):
    """The rows' values, formula by formula on floats: no graph, no compiler."""
    positions, velocities = state
    values = trajectory(
        [p.symbol for p in dynamics.variables],
        [p.value(positions) for p in dynamics.variables],
        [np.squeeze(velocities[p.v]) for p in dynamics.variables],
        [np.squeeze(a[p.v]) for p in dynamics.variables],
    )
    values |= {dynamics.parameters.symbol(n): np.asarray(dynamics.parameters[n]) for n in dynamics.parameters}
    forced = dynamics.no_forces()
    values |= {forced.symbol(n): value for n, value in forces.items()}
    evaluate = Evaluation(values)
    return [np.array(evaluate(row.residual), dtype=float) for row in equations.rows]


@every_system
def test_accelerations_meet_the_rows_and_leave_unit_vectors_unit(name):
    equations, dynamics = SYSTEMS[name](), system(name)
    for seed in range(5):
        state, forces = random_state(dynamics, seed), random_forces(dynamics, seed)
        a = dynamics.accelerations(*state, forces)
        for row in residuals(equations, dynamics, state, a, forces):
            assert np.abs(row).max() < 1e-11 * (1 + np.abs(a).max())
        for p in dynamics.variables:
            if p.symbol.base.is_unit:
                assert abs(state[0][p.q] @ a[p.v]) < 1e-12 * (1 + np.abs(a).max())


@every_system
def test_mass_matrix_times_accelerations_is_the_right_hand_side(name):
    dynamics = system(name)
    for seed in range(5):
        state, forces = random_state(dynamics, seed), random_forces(dynamics, seed)
        M, rhs = dynamics.mass_matrix(state[0]), dynamics.right_hand_side(*state, forces)
        a = dynamics.accelerations(*state, forces)
        rounding = 10 * np.finfo(float).eps * np.linalg.cond(M) * np.abs(a).max()
        assert np.linalg.solve(M, rhs) == pytest.approx(a, abs=rounding)


@every_system
def test_mass_matrix_is_symmetric_positive_definite_and_gives_the_kinetic_energy(name):
    """T is the part of the energy that grows with the square of the velocities."""
    dynamics = system(name)
    for seed in range(5):
        positions, v = random_state(dynamics, seed)
        M = dynamics.mass_matrix(positions)
        assert pytest.approx(M.T, abs=1e-14) == M
        assert np.linalg.eigvalsh(M)[0] > 1e-3
        kinetic = dynamics.energy(positions, v) - dynamics.energy(positions, 0 * v)
        assert v @ M @ v / 2 == pytest.approx(kinetic, rel=1e-12)


@every_system
def test_a_batch_is_each_of_its_states(name):
    dynamics = system(name)
    states = [random_state(dynamics, seed) for seed in range(15)]
    qs, vs = (np.array(a).reshape(3, 5, -1) for a in zip(*states, strict=True))
    forces = random_forces(dynamics)
    pushes = {n: np.multiply.outer(np.arange(5.0), value) for n, value in forces.items()}
    for function in ("accelerations", "right_hand_side", "energy", "mass_matrix"):
        call = getattr(dynamics, function)
        if function == "mass_matrix":
            together, alone = call(qs), [call(a) for a, _ in states]
        else:
            together = call(qs, vs, pushes)
            alone = [call(*states[k], {n: value[k % 5] for n, value in pushes.items()}) for k in range(15)]
        alone = np.array(alone)
        assert together.shape == (3, 5, *alone.shape[1:])
        assert together.reshape(alone.shape) == pytest.approx(alone, rel=1e-12, abs=1e-12)


@every_system
def test_the_interpreter_computes_the_same(name):
    dynamics = system(name)
    positions, v = random_state(dynamics, 7)
    forces = random_forces(dynamics, 7)
    packed = np.concatenate([np.ravel(forces[n]) for n in dynamics.forces])
    inputs = {"q": positions, "v": v, "forces": packed, "parameters": dynamics.parameters.numbers}
    a = reference.run(dynamics.program("accelerations"), inputs)["a"]
    assert dynamics.accelerations(positions, v, forces) == pytest.approx(a, rel=1e-10, abs=1e-10)
    energy = reference.run(dynamics.program("energy"), inputs)["energy"]
    assert dynamics.energy(positions, v) == pytest.approx(energy[0], rel=1e-12)


def test_a_quaternion_of_any_length_is_its_rotation():
    dynamics = system("3D pendulum")
    positions, v = random_state(dynamics)
    a = dynamics.accelerations(positions, v)
    assert dynamics.accelerations(1.7 * positions, v) == pytest.approx(a, rel=1e-12)
    assert dynamics.accelerations(-positions, v) == pytest.approx(a, rel=1e-12)


def test_abbreviations_give_the_same_motion():
    mQ, mL = scalars("mQ mL", constant=True)
    rod = x - l * q
    ends = []
    for body in (rod, define("p", rod)):
        T = mQ * dt(body).dot(dt(body)) / 2 + mL * dt(x).dot(dt(x)) / 2
        dynamics = compiled(derive(T - g * e3.dot(mQ * body + mL * x), f * e3.dot(delta(x)), (x, q)))
        state = random_state(dynamics)
        forces = {"f": 0.7}
        ends.append([dynamics.accelerations(*state, forces), dynamics.energy(*state), dynamics.mass_matrix(state[0])])
    for one, other in zip(*ends, strict=True):
        assert one == pytest.approx(other, rel=1e-12, abs=1e-12)


def test_vectors_of_any_size_are_coordinates():
    """n particles on a line between springs: accelerations are - K y / m."""
    y, K = vectors("y", 4), symmetric_matrices("K", 4, constant=True)
    dynamics = ManifoldDynamics(derive(m * dt(y).dot(dt(y)) / 2 - y.dot(K * y) / 2, None, y))
    stiffness = 2 * np.eye(4) - np.eye(4, k=1) - np.eye(4, k=-1)
    dynamics.parameters.update({"m": 0.5, K: stiffness})
    place = np.array([1.0, -2.0, 0.5, 3.0])
    assert dynamics.accelerations(place, np.zeros(4)) == pytest.approx(-stiffness @ place / 0.5, rel=1e-14)


def test_a_prescribed_pivot_pulls_by_its_acceleration():
    """A pendulum in a lift that accelerates upwards feels g + a."""
    pivot = vectors("p")
    bob = pivot + l * q
    lifted = derive(m * dt(bob).dot(dt(bob)) / 2 - m * g * bob.dot(e3), None, q, prescribed=(pivot,))
    dynamics, standing = compiled(lifted), compiled(spherical(), g=VALUES["g"] + 3.0)
    state = random_state(dynamics)
    a = dynamics.accelerations(*state, {"p''": [0, 0, 3.0]})
    assert a == pytest.approx(standing.accelerations(*state), rel=1e-12)
    assert "p''" in dynamics.forces


def test_packed_states_unpack():
    dynamics = system("quadrotor with load")
    positions = {x: [1, 2, 3], "q": [0.6, 0, 0.8], R: quaternion_to_matrix(np.array([0.5, 0.5, -0.5, 0.5]))}
    rates = {"x": [4, 5, 6], q: [0.8, 1, -0.6], "R": [7, 8, 9]}
    qs, vs = dynamics.pack(positions, rates)
    back, moving_at = dynamics.unpack(np.tile(qs, (2, 1)), np.tile(vs, (2, 1)))
    for key, value in positions.items():
        assert back[dynamics.variable(key).symbol] == pytest.approx(
            np.tile(value, (2,) + (1,) * np.ndim(value)), abs=1e-15
        )
    for key, value in rates.items():
        assert moving_at[dynamics.variable(key).symbol] == pytest.approx(np.tile(value, (2, 1)), abs=1e-15)
    with pytest.raises(rd.StateError, match="no position was given for 'R'"):
        dynamics.pack({x: [0, 0, 0], q: [0, 0, 1]})


def test_a_mass_matrix_that_depends_on_velocities():
    """L = |x'|^4 / 4: p = |x'|^2 x', M = |x'|^2 + 2 x' x'^T, E = 3/4 |x'|^4."""
    dynamics = ManifoldDynamics(derive(dt(x).dot(dt(x)) ** 2 / 4 - g * x.dot(e3), None, x))
    dynamics.parameters.update(g=2.0, e3=[0, 0, 1])
    v = np.array([0.5, -1.0, 2.0])
    M = v @ v * np.eye(3) + 2 * np.outer(v, v)
    assert dynamics.mass_matrix(np.zeros(3), v) == pytest.approx(M, rel=1e-14)
    assert dynamics.accelerations(np.zeros(3), v) == pytest.approx(np.linalg.solve(M, [0, 0, -2.0]), rel=1e-13)
    assert dynamics.energy(np.zeros(3), v) == pytest.approx(0.75 * (v @ v) ** 2, rel=1e-14)


def test_machine_code_is_found_again_by_content_not_by_name(monkeypatch):
    weight = m * g * q.dot(e3)
    first = compiled(derive(m * l**2 * dt(q).dot(dt(q)) / 2 - weight, None, q))
    state = random_state(first)
    a = first.accelerations(*state)
    turned = compiled(derive(m * l**2 * dt(q).dot(dt(q)) / 2 + weight, None, q))  # all names as before
    assert np.abs(turned.accelerations(*state) - a).max() > 1e-3
    monkeypatch.setattr(jit, "compile_modules", lambda *_: pytest.fail("compiled again"))
    again = compiled(derive(m * l**2 * dt(q).dot(dt(q)) / 2 - weight, None, q))
    assert (again.accelerations(*state) == a).all()


def test_the_sign_of_the_reaction_follows_the_rows():
    """Rows with + lambda instead of - lambda mean the opposite multiplier and the same motion."""
    lifted = derive(m * dt(x).dot(dt(x)) / 2 - m * g * x.dot(e3), None, x, constraints=[dt(x).dot(e3)])
    (multiplier,) = lifted.multipliers
    flipped = normal(m * dt(x, 2) + m * g * e3 + multiplier * e3)
    other = replace(lifted, rows=(replace(lifted.rows[0], form=flipped),))
    for equations, sign in ((lifted, 1.0), (other, -1.0)):
        dynamics = compiled(equations)
        assert dynamics.accelerations(np.zeros(3), np.zeros(3)) == pytest.approx([0, 0, 0], abs=1e-15)
        force = dynamics.multipliers(np.zeros(3), np.zeros(3))
        assert force == pytest.approx([sign * VALUES["m"] * VALUES["g"]], rel=1e-14)


def test_cross_products_with_constants_are_forces_like_any_other():
    """A charged bead in a magnetic field turns at B / m, whatever its speed."""
    B = scalars("B", constant=True)
    dynamics = compiled(
        derive(m * dt(x).dot(dt(x)) / 2, delta(x).dot(cross(dt(x), B * e3)), x), **(VALUES | {"B": 2.0})
    )
    v = np.array([3.0, -1.0, 0.5])
    expected = np.cross(v, [0, 0, 2.0]) / VALUES["m"]
    assert dynamics.accelerations(np.zeros(3), v) == pytest.approx(expected, rel=1e-14)
