"""Every compiled function of a model: what it means, its inputs, its outputs' shape and the recursion that builds it.

One list serves calls, the interpreter, LLVM, C and its header, the printed equations and the tests.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.dynamics.control_functions import CONTROL
from recursive_dyn.dynamics.conversion_functions import CONVERSIONS
from recursive_dyn.dynamics.impulse_functions import IMPULSES
from recursive_dyn.integrators.registry import BY_FUNCTION
from recursive_dyn.joint.joint_check import FAR
from recursive_dyn.model.ball_limits import ball_limits, brought_inside, somewhere_inside, turning_size
from recursive_dyn.model.forest import kinds_of, once_alike
from recursive_dyn.model.limits import limited
from recursive_dyn.model.model import Model
from recursive_dyn.recursion import conditioning, configuration, kinematics, tree_rows
from recursive_dyn.recursion.chart_motion import chart_motion
from recursive_dyn.recursion.context import Context, Function, Outputs
from recursive_dyn.recursion.equations.inverse_dynamics import body_accelerations
from recursive_dyn.recursion.forces import element_forces, passive
from recursive_dyn.recursion.forces.drive_forces import drive_forces
from recursive_dyn.recursion.momenta import energy, impulse


def columns(model: Model) -> list[tuple[int, int]]:
    """(link, velocity slot) of every column that the function ``screws`` puts out."""
    return [(i, slot) for i, link in enumerate(model.links) for slot in link.slots]


def _nv(model: Model) -> tuple[int, ...]:
    return (model.nv,)


def _rows(model: Model) -> tuple[int, ...]:
    return (len(model.constraints),)


def _mass_matrix(c: Context) -> Outputs:
    return [("M", list(c.mass_matrix().flat))]


def _forward_dynamics(c: Context) -> Outputs:
    return [("a", c.accelerations(c.tree, list(c.input("tau"))))]


def _step_accelerations(c: Context) -> Outputs:
    diagonal = passive.implicit_terms(c.tree, c.input("dt")[0])[1]
    return [("a", c.accelerations(c.tree, list(c.input("tau")), diagonal))]


def _drive_forces(c: Context) -> Outputs:
    tau = list(c.input("tau"))
    found = c.motion(c.tree, [t + p for t, p in zip(tau, passive.passive_forces(c.tree), strict=True)])
    return [("tau", drive_forces(c.tree, found.a, [t + f for t, f in zip(tau, found.forces, strict=True)]))]


def _constraint_wrenches(c: Context) -> Outputs:
    total = np.zeros((len(c.model.bodies), 6), dtype=object)
    for multiplier, wrenches in zip(c.multipliers(), c.rows.wrenches, strict=True):
        total = total + wrenches * multiplier
    return [("W", list(total.flat))]


def _frames(c: Context) -> Outputs:
    momenta = impulse.floating_momenta(c.tree)
    return [("X", kinematics.poses(c.tree)), ("V", kinematics.velocities(c.tree)), ("momenta", momenta)]


def neutral(model: Model) -> np.ndarray:
    """The configuration (nq,) of zeros and unit quaternions, moved into the limits and onto the constraints."""
    if model.assembled is not None:
        return np.array(model.assembled)
    stops, q = limited(model), _rotations_at_rest(model).copy()
    q[stops.places] = np.minimum(np.maximum(0.0, stops.low), stops.high)
    balls = ball_limits(model)
    for k, place in balls.own_places:
        q[place : place + 4] = brought_inside(balls, k, q[place : place + 4])
    return q


@once_alike
def _rotations_at_rest(model: Model) -> np.ndarray:
    """Zeros and unit quaternions (nq,)."""
    q = np.zeros(model.nq)
    for kind in kinds_of(model) if model.parts else ():
        q[kind.places] = _rotations_at_rest(kind.model)
    for _, factor, place, _ in () if model.parts else model.owners:
        q[place : place + factor.nq] = factor.space.neutral
    return q


def random_configuration(model: Model, rng: np.random.Generator) -> np.ndarray:
    """A configuration (nq,) within the limits where there are both, else in [-pi, pi]; rotations as limits let."""
    q = rng.uniform(-np.pi, np.pi, model.nq)
    for first, end in model.units:
        q[first:end] = rng.normal(size=end - first)
        q[first:end] /= np.linalg.norm(q[first:end])
    for place, slot in model.plain_slots:
        low, high = model.coordinates[slot].limits
        if max(-low, high) < FAR:
            q[place] = rng.uniform(low, high)
    balls = ball_limits(model)
    for k, place in balls.own_places:
        q[place : place + 4] = somewhere_inside(balls, k, rng)
    return q


FUNCTIONS: dict[str, Function] = {
    "forward_dynamics": Function(
        "Accelerations of the coordinates under the generalized forces tau.",
        ("q", "v", "tau"), _nv, _forward_dynamics, solves=True, exported=True,
        rows=tree_rows.slots,
    ),
    "step_accelerations": Function(
        "The same with joint damping and springs in M as in a step of dt, M + dt D + dt^2 K, but not among the forces.",
        ("q", "v", "tau", "dt"), _nv, _step_accelerations, solves=True, common=True,
        rows=tree_rows.slots,
    ),
    "inverse_dynamics": Function(
        "Generalized forces for the accelerations a.",
        ("q", "v", "a"), _nv, lambda c: [("tau", c.inverse_dynamics(c.tree, c.input("a")))], exported=True,
        rows=tree_rows.slots,
    ),
    "mass_matrix": Function(
        "M, row after row.", ("q",), lambda m: (m.nv, m.nv), _mass_matrix, exported=True, rows=tree_rows.matrix
    ),
    "bias": Function(
        "C(q, v) v and gravity: the generalized forces that hold zero acceleration.",
        ("q", "v"), _nv, lambda c: [("tau", c.inverse_dynamics(c.tree, None))], exported=True,
        rows=tree_rows.slots,
    ),
    "gravity": Function(
        "Gravity's part of the bias.",
        ("q",), _nv, lambda c: [("tau", c.inverse_dynamics(c.still(), None))], exported=True,
        rows=tree_rows.slots,
    ),
    "passive_forces": Function(
        "Generalized forces of joint damping and springs, and of force elements.",
        ("q", "v"), _nv, lambda c: [("tau", passive.passive_forces(c.tree))],
        rows=tree_rows.slots,
    ),
    "drive_forces": Function(
        "Generalized forces that prescribed motion takes, 0 elsewhere; of time the power of what it drives.",
        ("q", "v", "tau"), _nv, _drive_forces, solves=True,
        rows=tree_rows.slots,
    ),
    "poses": Function(
        "X_WB of every body, a 4 x 4 matrix, row after row.",
        ("q",), lambda m: (m.nb, 4, 4), lambda c: [("X", kinematics.poses(c.tree))], exported=True,
        rows=tree_rows.bodies(16),
    ),
    "velocities": Function(
        "[omega; v] of every body at its origin, world axes.",
        ("q", "v"), lambda m: (m.nb, 6), lambda c: [("V", kinematics.velocities(c.tree))], exported=True,
        rows=tree_rows.bodies(6),
    ),
    "accelerations": Function(
        "[alpha; a] of every body at its origin, world axes; a is the second derivative of the origin's place.",
        ("q", "v", "a"), lambda m: (len(m.bodies), 6),
        lambda c: [("A", body_accelerations(c.tree, c.input("a")))], exported=True,
        rows=tree_rows.bodies(6),
    ),
    "screws": Function(
        "Twist [omega; v] at the world origin, world axes, of unit speed of each column listed above.\n"
        "The Jacobian of a body's point, at p in the world, has [omega; v + omega x p] in the slot of every\n"
        "column of the body's link and of that link's parents (summed where columns share a slot), else zero.",
        ("q",), lambda m: (len(columns(m)), 6), lambda c: [("S", kinematics.screws(c.tree))], exported=True,
        rows=tree_rows.columns,
    ),
    "kinetic_energy": Function(
        "Kinetic energy, rotors included.",
        ("q", "v"), lambda m: (), lambda c: [("T", [energy.kinetic_energy(c.tree)])], exported=True,
        rows=tree_rows.nothing, sums=1,
    ),
    "potential_energy": Function(
        "Gravity's potential, zero with all mass at the world origin.",
        ("q",), lambda m: (), lambda c: [("U", [energy.potential_energy(c.tree)])], exported=True,
        rows=tree_rows.nothing, sums=1,
    ),
    "elastic_energy": Function(
        "Energy stored in the joints' springs, and of force elements.",
        ("q",), lambda m: (), lambda c: [("U", [energy.elastic_energy(c.tree)])],
        rows=tree_rows.nothing, sums=1,
    ),
    "element_power": Function(
        "Power of force elements that have no energy.",
        ("q", "v"), lambda m: (), lambda c: [("P", [element_forces.element_power(c.tree)])],
        rows=tree_rows.nothing, sums=1,
    ),
    "momentum": Function(
        "[angular about the world origin; linear], world axes.",
        ("q", "v"), lambda m: (6,), lambda c: [("p", energy.momentum(c.tree))], exported=True,
        rows=tree_rows.nothing, sums=6,
    ),
    "center_of_mass": Function(
        "Centre of mass of all that moves, world axes.",
        ("q",), lambda m: (3,), lambda c: [("c", energy.mass_moment(c.tree))], exported=True,
        rows=tree_rows.nothing, sums=4, total=energy.center_of_mass,
    ),
    "integrate": Function(
        "The configuration after moving with constant velocity v for dt.",
        ("q", "v", "dt"), lambda m: (m.nq,),
        lambda c: [("q", configuration.integrate(c.tree, c.input("v"), c.input("dt")[0]))], exported=True,
        rows=tree_rows.places, configuration=True,
    ),
    "in_time": Function(
        "q and v with what is prescribed as it is at the time in q.",
        ("q", "v"), lambda m: (m.nq + m.nv,), lambda c: [("q", list(c.tree.q)), ("v", list(c.tree.v))],
        rows=tree_rows.state, configuration=True,
    ),
    "difference": Function(
        "The velocity that leads from q to q_end in a unit of time.",
        ("q", "q_end"), _nv, lambda c: [("v", configuration.difference(c.tree, c.input("q_end")))], exported=True,
        rows=tree_rows.slots,
    ),
    **CONVERSIONS,
    "multipliers": Function(
        "lambda of the rows of constraints: M a + bias = tau + C^T lambda.",
        ("q", "v", "tau"), _rows, lambda c: [("lambda", c.multipliers())],
        solves=True, exported=True, constrained=True,
    ),
    "constrained_motion": Function(
        "What forward dynamics and multipliers give, one after the other.",
        ("q", "v", "tau"), lambda m: (m.nv + len(m.constraints),), lambda c: c.constrained_motion(),
        solves=True, constrained=True,
    ),
    "constraint_wrenches": Function(
        "What the constraints do to the bodies: [moment; force], world axes at each body's origin.",
        ("q", "v", "tau"), lambda m: (m.nb, 6), _constraint_wrenches,
        solves=True, exported=True, constrained=True,
    ),
    "element_wrenches": Function(
        "What force elements do to the bodies: [moment; force], world axes at each body's origin.",
        ("q", "v"), lambda m: (m.nb, 6), lambda c: [("W", element_forces.element_wrenches(c.tree))],
        rows=tree_rows.bodies(6),
    ),
    "constraint_positions": Function(
        "phi of the rows, which should be 0; 0 for rows between velocities.",
        ("q",), _rows, lambda c: [("phi", c.rows.phi)], exported=True, constrained=True,
    ),
    "constraint_velocities": Function(
        "C v of the rows, which should be 0.",
        ("q", "v"), _rows, lambda c: [("psi", c.rows.psi)], exported=True, constrained=True,
    ),
    "constraint_jacobian": Function(
        "C, row after row.",
        ("q",), lambda m: (len(m.constraints), m.nv), lambda c: [("C", [x for row in c.rows.C for x in row])],
        exported=True, constrained=True,
    ),
    "project": Function(
        "q, v a Newton step nearer to the constraints, and the largest |phi| and |C v| before: call it after\n"
        "every step, and again while these are not small.",
        ("q", "v"), lambda m: (m.nq + m.nv + 2,), lambda c: c.projected(),
        solves=True, exported=True, constrained=True, configuration=True,
    ),
    "chart_quality": Function(
        "Volume and roundness of the motion subspace of every joint of several charts, in the chart in force; of\n"
        "surfaces that touch, the cosines of both latitudes.",
        ("q",), lambda m: (2 * len(m.charted),), lambda c: [("measures", conditioning.measures(c.tree))],
        rows=tree_rows.charted,
    ),
    "chart_motion": Function(
        "Of every joint of several charts, in the chart in force, the quaternion of its transform, the angular rows\n"
        "of S (3, d), the transform's position, and the linear rows of S (3, d).",
        ("q",), lambda m: (sum(map(turning_size, m.links)),), lambda c: [("motion", chart_motion(c.tree))],
        rows=tree_rows.chart_motion,
    ),
    "frames": Function(
        "Poses and twists of every body; mass, centre and momentum of every tree that floats (see recursion.impulse).",
        ("q", "v"), lambda m: (22 * m.nb + impulse.FLOATING * len(impulse.floating(m)),), _frames,
        rows=tree_rows.frames,
    ),
    **CONTROL,
    **IMPULSES,
    **{name: rule.graph for name, rule in BY_FUNCTION.items()},
    **{rule.beside_name: rule.beside[1] for rule in BY_FUNCTION.values() if rule.beside is not None},
}  # fmt: skip
