"""The unknowns of unit vectors' tangent planes: their basis, and that nothing computed with them depends on it."""

from dataclasses import replace

import numpy as np
import pytest
from moving import (
    SYSTEMS,
    VALUES,
    chain,
    compiled,
    e3,
    fastest,
    fourth_order,
    m,
    q,
    random_forces,
    random_state,
    skate,
    spherical,
)
from scipy.spatial.transform import Rotation

from recursive_dyn.manifold import cross, delta, derive, dt, scalars
from recursive_dyn.manifold.motion.motion import Motion
from recursive_dyn.manifold.normal.normal_form import normal
from recursive_dyn.manifold.writing.equation import Equation
from recursive_dyn.spatial.rotations import matrix_to_quaternion, quaternion_to_matrix

Z = np.array([0.0, 0.0, 1.0])
TILTED = [(2e-8, 1e-8, -1.0), (1e-8, 0.0, 1.0), (1e-160, -1e-170, -1.0), (0.6, 0.8, 1e-17), (0.6, 0.8, -1e-17)]
DIRECTIONS = [Z, -Z, *TILTED, (1, 0, 0), (0, -1, -0.0), (-1, 0, 5e-324), (0, 1, -5e-324)]
VERTICAL = {"e3": [0.48, -0.6, 0.64], "e1": [0.8, 0.0, -0.6]}  # no pole of the coordinates is special
BUILDERS = {name: build for name, build in SYSTEMS.items() if "3D" not in name} | {"skate": skate}


@pytest.mark.parametrize("direction", [*DIRECTIONS, *np.random.default_rng(1).normal(size=(20, 3))], ids=str)
def test_the_basis_is_orthonormal_and_right_handed(direction):
    own = np.array(direction, dtype=float)
    own /= np.linalg.norm(own)
    B = q.base.space.basis(own).astype(float)
    assert pytest.approx(np.eye(2), abs=4e-16) == B.T @ B
    assert np.cross(own, B[:, 0]) == pytest.approx(B[:, 1], abs=4e-16)
    assert np.cross(own, B[:, 1]) == pytest.approx(-B[:, 0], abs=4e-16)


def turning(start, end):
    """A rotation that takes one direction to another, chosen from all of them by what it does at right angles."""
    frames = []
    for direction, side in ((start, (0.3, -0.5, 0.7)), (end, (-0.4, 0.6, 0.2))):
        across = np.cross(direction, side)
        across /= np.linalg.norm(across)
        frames.append(np.column_stack([direction, across, np.cross(direction, across)]))
    return frames[1] @ frames[0].T


def turned(S, x):
    """A vector, or a matrix of a body, whose axes turn as well."""
    x = np.asarray(x, dtype=float)
    return x if not x.ndim else S @ x if x.ndim == 1 else S @ x @ S.T


def turned_values(S, values):
    return {name: turned(S, x) for name, x in values.items()}


def turned_velocities(dynamics, S, v):
    """Velocities or accelerations (nv,) of the turned world."""
    result = np.array(v, dtype=float)
    for p in dynamics.variables:
        if p.symbol.shape:
            result[p.v] = S @ result[p.v]
    return result


def turned_positions(dynamics, S, positions):
    result = np.array(positions)
    for p in dynamics.variables:
        if p.symbol.base.is_rotation:
            result[p.q] = matrix_to_quaternion(turned(S, quaternion_to_matrix(positions[p.q])))
        elif p.symbol.shape:
            result[p.q] = S @ positions[p.q]
    return result


def rotations_of(direction):
    """Random ones, and those that take a direction to the poles and close to where the basis jumps, on both sides."""
    ends = np.array([*TILTED, Z, -Z, (0.28, -0.96, 1e-9), (0.28, -0.96, -1e-9)])
    ends /= np.linalg.norm(ends, axis=1)[:, None]
    return [*Rotation.random(6, rng=np.random.default_rng(2)).as_matrix(), *(turning(direction, end) for end in ends)]


def start(dynamics, where):
    """A random state, unit vectors exactly at a pole or at both by turns, if so wanted."""
    positions, v = random_state(dynamics, 3, speed=2.0)
    spheres = [p for p in dynamics.variables if p.symbol.base.is_unit]
    for i, p in enumerate(spheres):
        if where != "anywhere":
            positions[p.q] = -Z if where == "bottom" or (where == "both" and i % 2) else Z
        v[p.v] -= positions[p.q] * (positions[p.q] @ v[p.v])
    return positions, v, positions[spheres[0].q]


@pytest.mark.parametrize("where", ["anywhere", "top", "bottom", "both"])
@pytest.mark.parametrize("name", BUILDERS)
def test_a_turned_world_moves_the_same(name, where):
    """M, f and accelerations turn with it, energies and multipliers stay; so the basis, which does not, is in none."""
    here, there = (compiled(BUILDERS[name](), **VERTICAL) for _ in range(2))
    positions, v, direction = start(here, where)
    forces = random_forces(here, 5)
    calls = ["accelerations", "right_hand_side"] + ["admitted"] * bool(here.constrained)
    expected = {call: getattr(here, call)(positions, v, forces) for call in calls}
    scalar = [float(here.energy(positions, v)), *here.multipliers(positions, v, forces)]
    M, unit = here.mass_matrix(positions), np.eye(here.nv)
    size = np.abs(expected["accelerations"]).max()
    assert size > 0.1
    for S in rotations_of(direction):
        there.parameters.update(turned_values(S, {name: here.parameters[name] for name in here.parameters}))
        state = turned_positions(here, S, positions), turned_velocities(here, S, v)
        turned_forces = turned_values(S, forces)
        for call, value in expected.items():
            found = getattr(there, call)(*state, turned_forces)
            assert found == pytest.approx(turned_velocities(here, S, value), rel=1e-12, abs=1e-12 * size)
        found = [float(there.energy(*state)), *there.multipliers(*state, turned_forces)]
        assert found == pytest.approx(scalar, rel=1e-12, abs=1e-12)
        E = np.array([turned_velocities(here, S, row) for row in unit]).T
        assert there.mass_matrix(state[0]) == pytest.approx(E @ M @ E.T, abs=1e-14)


@pytest.mark.parametrize("where", ["anywhere", "top", "bottom", "both"])
@pytest.mark.parametrize("name", BUILDERS)
def test_accelerations_and_forces_are_tangent(name, where):
    dynamics = compiled(BUILDERS[name](), **VERTICAL)
    positions, v, _ = start(dynamics, where)
    forces = random_forces(dynamics, 5)
    for vector in (dynamics.accelerations(positions, v, forces), dynamics.right_hand_side(positions, v, forces)):
        for p in dynamics.variables:
            if p.symbol.base.is_unit:
                assert abs(positions[p.q] @ vector[p.v]) < 1e-15 * max(1.0, np.abs(vector).max())


def test_motions_across_the_jump_of_the_basis_are_smooth():
    """A pendulum that circles in the plane z = 0, or that goes through it, moves as one whose world is turned."""
    S = turning(Z, np.array([0.48, -0.6, 0.64]))
    ends, bound = [], 0.0
    for turn in (np.eye(3), S):
        motion = Motion(compiled(spherical(), e3=turn @ [0.8, 0.0, 0.6]), 1e-3)
        motion.place(q, turn @ [0.6, 0.8, 0.0], turn @ [-2.4, 1.8, 0.3])
        crossings, side = 0, False
        for _ in range(4000):
            bound += fourth_order(fastest(motion), 1e-3, 1e-3)
            motion.step()
            crossings += side != (motion[q][2] < 0.0)
            side = motion[q][2] < 0.0
        assert crossings > 3
        ends.append([turn.T @ motion[q], turn.T @ motion.rate(q)])
    assert np.array(ends[0]) == pytest.approx(np.array(ends[1]), abs=bound)


def test_rows_at_right_angles_that_are_not_written_as_products_with_their_vector():
    """m q x q'' = F (e3 - q (q . e3)) = -F q x (q x e3)."""
    F = scalars("F")
    given = derive(m * dt(q).dot(dt(q)) / 2, delta(q).dot(F * e3), q)
    form = normal(m * cross(q, dt(q, 2)) - F * (e3 - q * q.dot(e3)))
    dynamics = compiled(replace(given, rows=(Equation(q, form),)))
    for seed in range(5):
        state = random_state(dynamics, seed)
        expected = 0.7 * (Z - state[0] * state[0][2]) / VALUES["m"]
        assert dynamics.accelerations(*state, {"F": 0.7}) == pytest.approx(expected, abs=1e-14)


def test_what_coefficients_share_may_have_any_power():
    """(2 m / (3 l) + m1 / l^2 + 5 m / l^3) omega' = q x tau."""
    l, m1 = scalars("l m1", constant=True)
    inertia = m / l * 2 / 3 + m1 * l**-2 + 5 * m * l**-3
    given = derive(inertia * dt(q).dot(dt(q)) / 2, delta(q).dot(spherical().inputs[0]), q)
    dynamics = compiled(given)
    positions, v = random_state(dynamics)
    mass, length = VALUES["m"], VALUES["l"]
    number = 2 * mass / (3 * length) + VALUES["m1"] / length**2 + 5 * mass / length**3
    tau = np.array([0.3, -0.2, 0.5])
    a = dynamics.accelerations(positions, v, {"tau": tau})
    assert a == pytest.approx(np.cross(positions, tau) / number, abs=1e-14)


@pytest.mark.parametrize("links", [2, 6, 10])
def test_the_work_is_that_of_two_unknowns_a_link(links):
    """n^3 / 3 + O(n^2) for n unknowns: forty operations a pair of links, three hundred a link."""
    dynamics = compiled(chain(links))
    n, work = 2 * links + 1, dynamics.operation_count("slope")
    assert work.total < n**3 / 3 + 40 * links**2 / 2 + 300 * links
    assert work.trig == 0
