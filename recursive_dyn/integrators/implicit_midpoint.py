"""The implicit midpoint rule: second order, time-symmetric; keeps energy near its start where h resolves the motion.

    q_m = q moved by h v_m / 2
    M a = tau - bias - D (v + theta h a) - K (q + h (v + h a / 2) / 2 - rest) + C^T lambda,   C v_m = 0
    v_m = v + h a / 2,   v' = 2 v_m - v,   q' = q moved by h v_m

with M, bias, the constraints C and force elements, a part of tau, at (q_m, v_m) (Hairer, Lubich & Wanner 2006,
Geometric Numerical Integration, I.1.2 and II.1). v_m is found by fixed-point sweeps, in which the joints' dampers D and
springs K are implicit. theta is 1 / 2 where a step resolves a damper and 1 where it does not: with z = h D / M_ii where
the step begins, theta = (1 + z) / (2 + z) is second order and has a damped coordinate end at 2 / (2 + 2 z + z^2) of its
speed, close to exp(-z), which does not ring. The constraints' forces then do no work on the way of the step. The centre
of mass of a body that moves freely is stepped in world axes; everything is written in the axes of the middle.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.emitting.drivers import NOT_CONVERGED
from recursive_dyn.codegen.emitting.ir_text import copy, load, place
from recursive_dyn.codegen.emitting.llvm import scalar_literal
from recursive_dyn.codegen.emitting.sizes import Sizes
from recursive_dyn.graph.expression import Scalar, array, reciprocal
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
from recursive_dyn.integrators.loop_text import (
    LIMITED,
    SWEPT_SO_FAR,
    WITHIN,
    evaluation,
    leaving,
    limit_check,
    opening,
    size_check,
    swept_step,
)
from recursive_dyn.recursion import multipliers as constraints
from recursive_dyn.recursion import tree_rows
from recursive_dyn.recursion.configuration import integrate
from recursive_dyn.recursion.context import Context, Function, Outputs
from recursive_dyn.recursion.equations.mass_matrix import carried
from recursive_dyn.recursion.forces import passive
from recursive_dyn.recursion.forces.element_forces import element_forces
from recursive_dyn.recursion.kinematics import Tree
from recursive_dyn.spatial.algebra import cross
from recursive_dyn.spatial.rotations import quaternion_exp, quaternion_product, quaternion_to_matrix, rotation_exp

_TOLERANCE = 1e-24  # squared relative change of the velocity of the middle at which the sweeps have converged
_SWEEPS = 100  # after which they do not
_USUAL = 10  # of them a step


def _graph(c: Context) -> Outputs:
    """One sweep: a better v_middle, the step it implies, its squared change and size."""
    h = c.input("dt")[0]
    start = c.tree
    guess = start.paced(c.input("v_middle"))
    middle = start.at(array(_moved(start, guess, h, 0.5)), guess)
    forces, diagonal = _joint_forces(start, h)
    acting = element_forces(middle)
    tau = [t + f + e for t, f, e in zip(c.input("tau"), forces, acting, strict=True)]
    bias = None
    if c.model.constraints:
        free = _step(start, guess, array(np.zeros(c.model.nv)), h)[2]
        bias = constraints.middle_bias(middle, array(free), h)
    a = array(c.accelerations(middle, tau, diagonal, bias))
    q, v, better = _step(start, guess, a, h)
    change: Scalar = 0.0
    size: Scalar = 0.0
    for x, y in zip(better, guess, strict=True):
        change, size = change + (x - y) * (x - y), size + x * x
    return [("q", q), ("v", v), ("v_middle", better), ("error", [change, size])]


def _joint_forces(start: Tree, h: Scalar) -> tuple[list[Scalar], list[Scalar]]:
    """(tau (nv,), diagonal (nv,)) of the joints' dampers and springs: (M + diagonal) a = tau + ..."""
    forces, diagonal = passive.implicit_terms(start, h * 0.5, balls=False)
    damped = [(s, c.damping) for s, c in enumerate(start.model.coordinates) if c.damping]
    inertia = carried(start) if damped else []
    for s, damping in damped:  # (theta - 1 / 2) h D more
        z = h * damping * reciprocal(inertia[s])
        diagonal[s] = diagonal[s] + h * 0.5 * damping * z * reciprocal(z + 2.0)
    return forces, diagonal


def relative(error: list[Scalar]) -> list[Scalar]:
    """The squared relative change, of velocities below 1 against 1."""
    change, size = error
    return [change * reciprocal(size + 1.0)]


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


def loop(entry: str, sizes: Sizes) -> str:
    """The kernel [q, v, tau, dt, v_middle] -> [q, v, v_middle, error] is iterated until v_middle stands still.

    Sweeps that run away to infinity have not converged either.
    """
    return f"""{WITHIN}
{opening(entry, sizes.inputs, LIMITED, SWEPT_SO_FAR, sizes.first)}
step:
{place("v", "double", "%in", sizes.nq)}
{place("tau", "double", "%v", sizes.nv)}
{place("dt", "double", "%tau", sizes.nv)}
{place("m", "double", "%dt", 1)}
{copy("%m", "%v", sizes.nv)}
{load("h", "double", "%dt", 0)}
  %half = fmul double %h, 0.5
  br label %sweep
sweep:
  %k = phi i64 [ 0, %step ], [ %k1, %again ]
{evaluation(entry, sizes.asked, "%half")}
  %good = call i1 @rd.finite(ptr %out, i64 {sizes.outputs})
  br i1 %good, label %measure, label %lost
measure:
  %k1 = add i64 %k, 1
{place("end", "double", "%out", sizes.outputs)}
{load("e", "double", "%end", -1)}
  %settled = fcmp ole double %e, {scalar_literal(_TOLERANCE)}
  br i1 %settled, label %size, label %again
size:
{size_check("%out", sizes.outputs, "lost")}
again:
{place("better", "double", "%out", sizes.state)}
{copy("%m", "%better", sizes.nv)}
  %tired = icmp sge i64 %k1, {_SWEEPS}
  br i1 %tired, label %lost, label %sweep
{leaving("lost", NOT_CONVERGED)}
check:
{limit_check("%out")}
{swept_step("%out", sizes.state, _USUAL)}"""


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
        "q, v after dt and a better v_middle: a sweep of the implicit midpoint rule; then its squared relative change.",
        ("q", "v", "tau", "dt", "v_middle"),
        lambda m: (m.nq + 2 * m.nv + 1,),
        _graph,
        solves=True,
        rows=tree_rows.state_and_velocity,
        sums=2,
        total=relative,
        configuration=True,
    ),
    loop=loop,
    definition=definition,
    order=2,
    share=0.5,
    implicit=0.5,
    passing="variational_midpoint",
)
