"""The implicit midpoint rule: second order, time-symmetric; keeps energy near its start where h resolves the motion.

    q_m = q moved by h v_m / 2
    M a = tau - bias - D (v + theta h a) - K (q + h (v + h a / 2) / 2 - rest) + C^T lambda,   C v_m = 0
    v_m = v + h a / 2,   v' = 2 v_m - v,   q' = q moved by h v_m

with M, bias, the constraints C and force elements, a part of tau, at (q_m, v_m) (Hairer, Lubich & Wanner 2006,
Geometric Numerical Integration, I.1.2 and II.1). theta is 1 / 2 where a step resolves a damper and 1 where it does not:
with z = h D / M_ii where the step begins, theta = (1 + z) / (2 + z) is second order and has a damped coordinate end at
2 / (2 + 2 z + z^2) of its speed, close to exp(-z), which does not ring. The constraints' forces do no work on the way
of the step. The centre of mass of a body that moves freely is stepped in world axes; everything is written in the axes
of the middle.

v_m is found by sweeps, each of which solves these equations with M, bias and C where the last one led, dampers and
springs implicit. On trees a sweep goes on from there by an exact step of Newton's method and one or two more by its
factors (``midpoint_newton``), unless these do not contract. Under constraints, and by the trace form, it does not.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.graph.expression import Scalar, array, less, select
from recursive_dyn.integrators.converging_loop import CHANGES, converging
from recursive_dyn.integrators.energy_watch import WATCHED
from recursive_dyn.integrators.free_body import MOVING, stepped_point
from recursive_dyn.integrators.integrator import (
    Integrator,
    ModelEquations,
    StatePair,
    accelerations,
    elements,
    given_accelerations,
    in_time,
    joint_forces,
    numbers,
    plain_positions,
)
from recursive_dyn.integrators.midpoint_energy import WEIGHED, late, powers
from recursive_dyn.integrators.midpoint_newton import Middle, Newton, springs
from recursive_dyn.integrators.newton_changes import apart, changes_of, following, relative
from recursive_dyn.model.independent import independent_count
from recursive_dyn.recursion import multipliers as constraints
from recursive_dyn.recursion import tree_rows
from recursive_dyn.recursion.configuration import integrate
from recursive_dyn.recursion.context import TRACE, Context, Function, Outputs
from recursive_dyn.recursion.forces import passive
from recursive_dyn.recursion.forces.element_forces import element_forces
from recursive_dyn.recursion.kinematics import Tree
from recursive_dyn.recursion.multipliers import YieldingRow
from recursive_dyn.spatial.algebra import cross, dot
from recursive_dyn.spatial.rotations import quaternion_exp, quaternion_product, quaternion_to_matrix, rotation_exp

AHEAD = 1e-3  # of a sweep's squared change, what the next one's is taken for
_LEFT = AHEAD * 1e-24  # squared relative change of the velocity of the middle that need not be made
_MOST, _USUAL = 100, 4  # sweeps, after which they do not converge; of them a step


def _graph(c: Context) -> Outputs:
    """A better v_middle, the step it implies, its changes and its size, squared."""
    return _by_sweep(c) if c.model.constraints or c.method == TRACE else _by_newton(c)


def _by_sweep(c: Context) -> Outputs:
    """One sweep, of which nothing is foreseen but that the next one changes less."""
    h = c.input("dt")[0]
    guess = c.tree.paced(c.input("v_middle"))
    middle = _middle(c.tree, guess, h)
    q, v, better, a = _swept(c, middle, *_joint_forces(c.tree, h))
    way = array(better) - guess
    change = dot(way, way)
    error = [change, change, change, change * AHEAD, dot(better, better)]
    power = powers(c, middle.tree, a)
    return [("q", q), ("v", v), ("v_middle", better), ("power", power), ("error", error)]


def _swept(
    c: Context, middle: Middle, forces: list[Scalar], diagonal: list[Scalar]
) -> tuple[list[Scalar], list[Scalar], list[Scalar], list[Scalar]]:
    """(q, v, a better velocity of the middle, a (nv,)) by the acceleration a at a middle; springs answer what that is
    off from the one that leads to it."""
    h, start, guess = c.input("dt")[0], c.tree, middle.guess
    tau = [t + f + e for t, f, e in zip(c.input("tau"), forces, element_forces(middle.tree), strict=True)]
    diagonal = list(diagonal)
    for slot, joint in enumerate(c.model.coordinates):
        if joint.torsion:
            more = joint.torsion * h * h * 0.25
            diagonal[slot], tau[slot] = diagonal[slot] + more, tau[slot] + more * middle.acceleration[slot]
    rows = [row * (h * 0.5) for row in springs(middle.tree)]
    held = [YieldingRow(list(r), -dot(r, middle.acceleration), 0.0, 1.0, 0.0, 0.0, 0.0) for r in rows]
    bias = None
    if c.model.constraints:
        free = _step(start, guess, array(np.zeros(c.model.nv)), h)[2]
        bias = constraints.middle_bias(middle.tree, array(free), h)
    a = c.solved(middle.tree, tau, diagonal, bias, held).a
    return *_step(start, guess, array(a), h), a


def _by_newton(c: Context) -> Outputs:
    """A sweep, a step of Newton's method and more by its factors to a better v_middle; the step that it implies; what
    changes in all, by the second and by the last of these and by the next one, and the middle's size, squared. Of trees
    of which the second change is not half as long as Newton's (Deuflhard 2004, Newton methods for nonlinear problems,
    2.1) the sweep is all that is taken."""
    h, start = c.input("dt")[0], c.tree
    forces, diagonal = _joint_forces(start, h)
    known, trees = array(forces) + c.input("tau"), apart(c.model)
    first = start.paced(c.input("v_middle"))
    swept = array(_swept(c, _middle(start, first, h), forces, diagonal)[2])
    guess, newton, taken = swept, None, list[list[Scalar]]()
    falls: list[Scalar] = [1.0] * len(trees)
    for _ in range(changes_of(c.model)):
        middle = _middle(start, guess, h)
        newton = newton or Newton(middle, array(diagonal))
        change = newton.change(middle, known + array(element_forces(middle.tree)))
        taken.append([dot(change[slots], change[slots]) for slots in trees])
        better = guess + change
        for n, slots in enumerate(trees) if len(taken) > 1 else ():
            falls[n] = falls[n] * less(taken[-1][n] * 4.0, taken[-2][n])
            before = swept if len(taken) == 2 else guess
            better[slots] = [select(falls[n], x, y) for x, y in zip(better[slots], before[slots], strict=True)]
        guess = better
    last = _middle(start, guess, h)
    q, v, _ = _step(start, guess, last.acceleration, h)
    power = powers(c, last.tree, list(last.acceleration))
    ahead = [following(*own) for own in zip(*taken, strict=True)]
    whole = dot(guess - first, guess - first)
    error = [whole, *(array(x).sum() for x in (taken[1], taken[-1], ahead)), dot(guess, guess)]
    return [("q", q), ("v", v), ("v_middle", list(guess)), ("power", power), ("error", error)]


def _middle(start: Tree, guess: np.ndarray, h: Scalar) -> Middle:
    """The middle of a step, for a velocity of it (nv,)."""
    return Middle(start, start.at(array(_moved(start, guess, h, 0.5)), guess), h)


def _joint_forces(start: Tree, h: Scalar) -> tuple[list[Scalar], list[Scalar]]:
    """(tau (nv,), diagonal (nv,)) of the joints' dampers and springs: (M + diagonal) a = tau + ..."""
    forces, diagonal = passive.implicit_terms(start, h * 0.5, balls=False)
    for s, more in late(start, h).items():
        diagonal[s] = diagonal[s] + start.model.coordinates[s].damping * more
    return forces, diagonal


def _sized(error: list[Scalar]) -> list[Scalar]:
    """The middle's size, and squared relative changes."""
    return [error[-1], *relative(error)]


def _step(tree: Tree, guess: np.ndarray, a: np.ndarray, h: Scalar) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    """(q, v, better v of the middle) for the middle's acceleration a at ``guess``."""
    half = h * 0.5
    better = list(tree.paced(tree.v + a * half))
    after = list(array(better) * 2.0 - tree.v)
    for i, factor, _, v0 in tree.model.owners:
        if factor.space == MOVING:
            center, _ = stepped_point(tree.links[i], factor, at_center=True)
            spin, alpha = guess[v0 : v0 + 3], a[v0 : v0 + 3]
            velocity = guess[v0 + 3 : v0 + 6] + cross(spin, center)
            back = quaternion_to_matrix(quaternion_exp(spin * half)).T
            start = back @ (tree.v[v0 + 3 : v0 + 6] + cross(tree.v[v0 : v0 + 3], center))
            rate = a[v0 + 3 : v0 + 6] + cross(alpha, center) + cross(spin, velocity)
            middle = start + rate * half
            better[v0 + 3 : v0 + 6] = list(middle - cross(array(better[v0 : v0 + 3]), center))
            end = back @ (middle * 2.0 - start)
            after[v0 + 3 : v0 + 6] = list(end - cross(array(after[v0 : v0 + 3]), center))
    return *tree.in_time(_moved(tree, array(better), h, 1.0), after), better


def _moved(tree: Tree, middle: np.ndarray, h: Scalar, share: float) -> list[Scalar]:
    """Where the middle's velocity leads in ``share`` (1/2 or 1) of a step; a free body's centre moves straight on."""
    result = integrate(tree, middle, h * share)
    for i, factor, q0, v0 in tree.model.owners:
        if factor.space == MOVING:
            center, _ = stepped_point(tree.links[i], factor, at_center=True)
            q, omega = tree.q[q0 : q0 + 7], middle[v0 : v0 + 3]
            R = quaternion_to_matrix(quaternion_product(q[3:], quaternion_exp(omega * (h * 0.5))))
            way = R @ (middle[v0 + 3 : v0 + 6] + cross(omega, center)) * (h * share)
            place = q[:3] + quaternion_to_matrix(q[3:]) @ center + way
            result[q0 : q0 + 3] = list(place - quaternion_to_matrix(array(result[q0 + 3 : q0 + 7])) @ center)
    return result


def definition(equations: ModelEquations, q: np.ndarray, v: np.ndarray, tau: np.ndarray, h: float) -> StatePair:
    """(q, v) after one step: the equations above, solved densely, swept until nothing changes."""
    model, own = equations.model, joint_forces(equations.model)
    resolved = h * own.damping / np.diag(equations.call("mass_matrix", q))  # z
    share = (1.0 + resolved) / (2.0 + resolved)
    softness = np.diag(h * share * own.damping + h * h / 4 * own.stiffness)
    stretched = plain_positions(model, q) + h / 2 * v - own.rest
    force = tau - own.damping * v - own.stiffness * stretched
    middle, change = v, np.inf
    while change > 1e-14 * (1.0 + np.abs(middle).max(initial=0.0)):
        q_m = _way(equations, q, middle, h, 0.5)
        free = _after(equations, v, middle, np.zeros(model.nv), h)[0]  # the middle's velocity without acceleration
        C = equations.call("constraint_jacobian", q_m)
        M = equations.call("mass_matrix", q_m) + softness
        acting = elements(equations, q_m, middle) - equations.call("bias", q_m, middle)
        given = given_accelerations(equations, q_m, middle)
        a = accelerations(M, force + acting, C, -C @ free * (2 / h), given)
        better, after = _after(equations, v, middle, a, h)
        previous, change, middle = change, np.abs(better - middle).max(initial=0.0), better
        if not change < previous:
            break  # rounding
    return in_time(equations, _way(equations, q, middle, h, 1.0), after)


def _after(
    equations: ModelEquations, v: np.ndarray, guess: np.ndarray, a: np.ndarray, h: float
) -> tuple[np.ndarray, np.ndarray]:
    """(velocity of the middle, velocity after the step) for the middle's acceleration a at the velocity ``guess``."""
    middle = v + h / 2 * a
    after = 2 * middle - v
    for i, factor, _, v0 in equations.model.owners:
        if factor.space == MOVING:
            turning, sliding = slice(v0, v0 + 3), slice(v0 + 3, v0 + 6)
            center = numbers(equations, stepped_point(equations.model.links[i], factor, at_center=True)[0])
            R = rotation_exp(h / 2 * guess[turning])  # from the axes of the start to those of the middle, and on
            start = R.T @ (v[sliding] + np.cross(v[turning], center))
            rate = np.cross(guess[turning], guess[sliding] + np.cross(guess[turning], center))
            velocity = start + h / 2 * (a[sliding] + np.cross(a[turning], center) + rate)
            middle[sliding] = velocity - np.cross(middle[turning], center)
            after[sliding] = R.T @ (2 * velocity - start) - np.cross(after[turning], center)
    return middle, after


def _way(equations: ModelEquations, q: np.ndarray, middle: np.ndarray, h: float, share: float) -> np.ndarray:
    """Where the velocity of the middle leads in a share of the step: centres of free bodies move straight on."""
    result = equations.call("integrate", q, middle, [h * share])
    for i, factor, q0, v0 in equations.model.owners:
        if factor.space == MOVING:
            omega, velocity = middle[v0 : v0 + 3], middle[v0 + 3 : v0 + 6]
            center = numbers(equations, stepped_point(equations.model.links[i], factor, at_center=True)[0])
            R, R_end = quaternion_to_matrix(q[q0 + 3 : q0 + 7]), quaternion_to_matrix(result[q0 + 3 : q0 + 7])
            way = R @ rotation_exp(h / 2 * omega) @ (velocity + np.cross(omega, center))
            result[q0 : q0 + 3] = q[q0 : q0 + 3] + R @ center + h * share * way - R_end @ center
    return result


INTEGRATOR = Integrator(
    name="implicit_midpoint",
    function="midpoint",
    graph=Function(
        "q, v after dt and a better v_middle: by Newton's method, or under constraints by a sweep, of the implicit"
        " midpoint rule; powers of tau and of dampers there; then its squared relative changes.",
        ("q", "v", "tau", "dt", "v_middle"),
        lambda m: (m.nq + 2 * m.nv + WATCHED * independent_count(m) + 1 + CHANGES,),
        _graph,
        solves=True,
        rows=tree_rows.state_velocity_and_two,
        sums=1 + CHANGES,
        total=_sized,
        configuration=True,
    ),
    loop=converging(_LEFT, _MOST, _USUAL),
    definition=definition,
    order=2,
    share=0.5,
    implicit=0.5,
    passing="variational_midpoint",
    beside=("energies", WEIGHED),
)
