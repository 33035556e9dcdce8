"""Laws that hold under every constraint: M a + bias = tau + C^T lambda, C a + C-dot v = 0, and no work is done.

The trees hang on a free joint and hold ball joints; rods, planes, pins, blades, cams and rate gears bind them.
"""

import numpy as np
import pinocchio as pin
import pytest
import sympy as sp
from constraint_cases import bound, driven
from trees import assert_close, curve, derivative, random_body

import recursive_dyn as rd
from scene import Body, Scene, joints

SIMPLE = ("revolute", "prismatic", "screw", "universal", "planar", "ball", "free")
CASES = {
    "3 bodies": (1, 3, SIMPLE),
    "5 bodies": (2, 5, SIMPLE),
    "12 bodies": (4, 12, SIMPLE),
    "any joint": (11, 6),
    "driven": None,
}
METHODS = ("recursive", "lagrangian", pytest.param("trace", marks=pytest.mark.slow))


@pytest.fixture(params=CASES)
def case(request):
    return bound(*CASES[request.param]) if CASES[request.param] else driven()


@pytest.mark.parametrize("method", METHODS)
def test_newtons_law_with_the_constraints_forces(case, method):
    d, (q, v, tau) = case.dynamics(method), case.states(5, 0)
    a = d.forward_dynamics(q, v, tau)
    residual = np.einsum("nij,nj->ni", d.mass_matrix(q), a) + d.bias(q, v) - tau - d.constraint_forces(q, v, tau)
    # forces of order 100 come from rows that are conditioned up to 1e3
    assert np.abs(residual).max() < 1e-10
    force = np.einsum("nmi,nm->ni", d.constraint_jacobian(q), d.multipliers(q, v, tau))
    assert_close(d.constraint_forces(q, v, tau), force, 1e-14)


@pytest.mark.parametrize("method", METHODS)
def test_rows_keep_their_rates(case, method):
    """d/dt of C v is zero on a motion with the accelerations found, wherever the state is."""
    d, (q, v, tau) = case.dynamics(method), case.states(5, 1)
    a = d.forward_dynamics(q, v, tau)
    rate = derivative(lambda t: d.constraint_errors(*curve(d, q, v, a, t))[1])
    assert_close(rate, np.zeros_like(rate), 1e-10, scale=np.abs(a).max())


def test_the_jacobian_is_the_derivative_of_the_rows(case):
    d, (q, v, _) = case.dynamics(), case.states(5, 2)
    moved = np.einsum("nmi,ni->nm", d.constraint_jacobian(q), v)
    assert_close(d.constraint_errors(q, v)[1], moved, 1e-13)
    rate = derivative(lambda t: d.constraint_errors(*curve(d, q, v, 0 * v, t))[0])
    holonomic = np.array([c.holonomic for c in d.model.constraints])
    assert (~holonomic).sum() >= 1 and holonomic.sum() >= 2
    assert_close(rate[:, holonomic], moved[:, holonomic], 1e-10)


def test_methods_agree(case):
    one, two = (case.dynamics(method) for method in METHODS[:2])
    state = case.states(5, 3)
    assert_close(one.forward_dynamics(*state), two.forward_dynamics(*state), 1e-9)
    assert_close(one.multipliers(*state), two.multipliers(*state), 1e-9)


def test_constraint_forces_do_no_work_on_admissible_motions(case):
    """dE/dt = tau . v as soon as C v = 0."""
    d, (q, v, tau) = case.dynamics(), case.states(5, 4)
    q, v = zip(*(d.project(case.home, x) for x in v), strict=True)
    q, v = np.array(q), np.array(v)
    phi, psi = d.constraint_errors(q, v)
    assert max(np.abs(phi).max(), np.abs(psi).max()) < 1e-9
    a = d.forward_dynamics(q, v, tau)

    def energy(t):
        state = curve(d, q, v, a, t)
        return d.kinetic_energy(*state) + d.potential_energy(state[0])

    power = (tau * v).sum(axis=-1)
    work = (np.abs(d.constraint_forces(q, v, tau)) * np.abs(v)).sum(axis=-1)  # what does not add up to nothing
    assert_close(derivative(energy), power, 1e-10, scale=(np.abs(power) + work).max())


def test_the_state_of_the_compiled_scene_meets_the_constraints(case):
    d = case.dynamics()
    assert np.abs(d.constraint_errors(d.neutral(), np.zeros(d.nv))[0]).max() < 1e-8


def closed_chain(seed: int) -> tuple[Scene, pin.Model, pin.RigidConstraintModel]:
    """Six hinges in space, the last body's tip held at a fixed point of the world, here and in Pinocchio."""
    rng, scene, model = np.random.default_rng(seed), Scene(), pin.Model()
    node, last = scene.world, 0
    for i in range(6):
        body, place, axis = (
            random_body(rng, f"b{i}"),
            rd.pose(rng.normal(size=3) * 0.3, rng.normal(size=3)),
            "xyz"[i % 3],
        )
        node = node.attach(body, joints.revolute(axis), at=place)
        joint = {"x": pin.JointModelRX, "y": pin.JointModelRY, "z": pin.JointModelRZ}[axis]()
        last = model.addJoint(last, joint, pin.SE3(place), f"j{i}")
        inertia = pin.Inertia(
            body.mass, np.array(body.center_of_mass, dtype=float), np.array(body.inertia, dtype=float)
        )
        model.appendBodyToJoint(last, inertia, pin.SE3.Identity())
    tip = rng.normal(size=3) * 0.3
    home = scene.compile().poses(rng.normal(size=6))[-1]
    anchor = home[:3, :3] @ tip + home[:3, 3]
    scene.constrain(node.point(tip) - sp.Matrix(anchor), name="tip")
    pinned = pin.RigidConstraintModel(
        pin.ContactType.CONTACT_3D, model, last, pin.SE3(np.eye(3), tip), 0, pin.SE3(np.eye(3), anchor),
        pin.ReferenceFrame.LOCAL,
    )  # fmt: skip
    return scene, model, pinned


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_closed_chain_accelerates_as_in_pinocchio(seed):
    scene, model, pinned = closed_chain(seed)
    d, data = scene.compile(), model.createData()
    pins, rows = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    pins.append(pinned)
    rows.append(pinned.createData())
    pin.initConstraintDynamics(model, data, pins, rows)
    rng = np.random.default_rng(seed)
    q, v = d.project(d.neutral(), rng.normal(size=6))
    tau = rng.normal(size=6)
    settings = pin.ProximalSettings(1e-14, 1e-14, 1e-10, 100)  # the regularisation is iterated away
    expected = pin.constraintDynamics(model, data, q, v, tau, pins, rows, settings)
    assert_close(d.forward_dynamics(q, v, tau), expected, 1e-8)


def test_work_grows_linearly_beside_a_fixed_number_of_constraints():
    """Chains of equal links hung beside a closed loop: every further link costs the same."""

    def count(length: int) -> int:
        scene, _, _ = closed_chain(0)
        node = scene.bodies[0]
        rng = np.random.default_rng(7)
        link = random_body(rng, "link")
        for i in range(length):
            same = Body(f"link{i}", mass=link.mass, center_of_mass=link.center_of_mass, inertia=link.inertia)
            node = node.attach(same, joints.revolute("y"), at=rd.pose((0, 0, -1), (0.3, 0, 0)))
        return scene.compile("recursive").operation_count("forward_dynamics").total

    counts = [count(n) for n in (10, 20, 30)]
    assert counts[2] - counts[1] <= 1.01 * (counts[1] - counts[0])
