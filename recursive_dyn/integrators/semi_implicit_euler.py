"""Semi-implicit Euler: first order, one forward dynamics a step; the cheapest rule.

    (M + h D + h^2 K) a = tau - bias - D v - K (q + h v - rest) + C^T lambda,   C a = -C-dot v / 2
    v' = v + h a,   q' = q moved by h v'

with M, bias, the constraints C and force elements, a part of tau, at (q, v): the symplectic Euler method (Hairer,
Lubich & Wanner 2006, Geometric Numerical Integration, I.1.2), with the joints' dampers D and springs K as at the step's
end (Tan, Liu & Turk 2011, Stable proportional-derivative controllers, IEEE Computer Graphics and Applications 31). Half
of C-dot v, because a projection onto the constraints follows.

A body that turns freely is stepped in its momenta, carried in world axes. Its frame turns during the step: adding
-omega x v and the gyroscopic moment in body axes would make a tumbling body gain energy at every step. With the moment
of inertia I about the point that is stepped,

    R' I omega' = R L,   L = I omega + h (I alpha + omega x I omega)

and R' is where that momentum turns it at the energy that it has (``free_turn``).
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.emitting.ir_text import copy
from recursive_dyn.codegen.emitting.sizes import Sizes
from recursive_dyn.graph.expression import Scalar, array
from recursive_dyn.integrators.free_body import MOVING, TURNING, stepped_point
from recursive_dyn.integrators.free_turn import free_turn
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
from recursive_dyn.integrators.loop_text import LIMITED, WITHIN, limit_check, opening, size_check
from recursive_dyn.recursion import multipliers as constraints
from recursive_dyn.recursion import tree_rows
from recursive_dyn.recursion.configuration import plain_moved
from recursive_dyn.recursion.context import Context, Function, Outputs
from recursive_dyn.recursion.forces import passive
from recursive_dyn.recursion.forces.element_forces import element_forces
from recursive_dyn.recursion.kinematics import Tree
from recursive_dyn.spatial.algebra import cross
from recursive_dyn.spatial.rotations import (
    normalized,
    quaternion_exp,
    quaternion_product,
    quaternion_to_matrix,
)


def _graph(c: Context) -> Outputs:
    """(q, v) after the step."""
    h = c.input("dt")[0]
    forces, diagonal = passive.implicit_terms(c.tree, h)
    acting = element_forces(c.tree)
    tau = [t + f + e for t, f, e in zip(c.input("tau"), forces, acting, strict=True)]
    a = array(c.accelerations(c.tree, tau, diagonal, bias=constraints.half_bias))
    q, v = _moved(c.tree, a, h)
    return [("q", q), ("v", v)]


def _moved(tree: Tree, a: np.ndarray, h: Scalar) -> tuple[list[Scalar], list[Scalar]]:
    """(q, v) after v += h a, q moved with the new v; what turns freely in its momenta."""
    v_next: list[Scalar] = list(tree.v + a * h)
    q_next = plain_moved(tree, array(v_next), h)
    for i, factor, q0, v0 in tree.model.owners:
        k = tree.links[i]
        q = tree.q[q0 : q0 + factor.nq]
        if factor.space == TURNING:
            _, inertia = stepped_point(k, factor, at_center=False)
            turn, omega = _turned(tree.v[v0 : v0 + 3], a[v0 : v0 + 3], h, inertia)
            v_next[v0 : v0 + 3] = list(omega)
            moved = list(normalized(quaternion_product(q, turn)))
        elif factor.space == MOVING:
            center, inertia = stepped_point(k, factor, at_center=True)
            omega, alpha = tree.v[v0 : v0 + 3], a[v0 : v0 + 3]
            velocity = tree.v[v0 + 3 : v0 + 6] + cross(omega, center)
            rate = a[v0 + 3 : v0 + 6] + cross(alpha, center) + cross(omega, velocity)
            carried = velocity + rate * h  # of the centre of mass, in the old axes
            turn, omega_next = _turned(omega, alpha, h, inertia)
            back = quaternion_to_matrix(turn).T
            v_next[v0 : v0 + 6] = [*omega_next, *(back @ carried - cross(omega_next, center))]
            orientation = normalized(quaternion_product(q[3:], turn))
            place = q[:3] + quaternion_to_matrix(q[3:]) @ (center + carried * h)
            moved = [*(place - quaternion_to_matrix(orientation) @ center), *orientation]
        else:
            moved = list(factor.space.exp(q, array(v_next[v0 : v0 + factor.nv]) * h))
        q_next[q0 : q0 + factor.nq] = moved
    return tree.in_time(q_next, v_next)


def _turned(
    omega: np.ndarray, alpha: np.ndarray, h: Scalar, inertia: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """(quaternion of the step's turn, angular velocity after it): angular momentum is carried over in world axes."""
    if inertia is None:
        after = omega + alpha * h
        return quaternion_exp(after * h), after
    momentum = inertia @ omega
    return free_turn(inertia, momentum + (inertia @ alpha + cross(omega, momentum)) * h, h)


def _loop(entry: str, sizes: Sizes) -> str:
    """The kernel maps the state to the next one."""
    return f"""{WITHIN}
{opening(entry, sizes.inputs, LIMITED, first=sizes.first)}
step:
  call void @{entry}(ptr %in, ptr %out, ptr %scratch)
{size_check("%out", sizes.outputs)}
check:
{limit_check("%out")}
accept:
{copy("%in", "%out", sizes.state)}
  %next = add i64 %done, 1
  br label %head
}}
"""


def definition(equations: ModelEquations, q: np.ndarray, v: np.ndarray, tau: np.ndarray, h: float) -> StatePair:
    """(q, v) after one step: the equations above, solved densely."""
    model, own = equations.model, joint_forces(equations.model)
    M = equations.call("mass_matrix", q) + np.diag(h * own.damping + h * h * (own.stiffness + own.torsion))
    stretched = plain_positions(model, q) + h * v - own.rest
    force = tau + elements(equations, q, v) - equations.call("bias", q, v)
    force = force - own.damping * v - own.stiffness * stretched - own.torsion * h * v
    C = equations.call("constraint_jacobian", q)
    rate = -C @ equations.call("forward_dynamics", q, v, np.zeros(model.nv))  # C-dot v
    a = accelerations(M, force, C, -rate / 2, given_accelerations(equations, q, v))
    v_next = v + h * a
    way = v_next.copy()  # the constant velocity that moves q
    shifts = []
    for i, factor, q0, v0 in model.owners:
        if factor.space not in (TURNING, MOVING):
            continue
        turning, moving = slice(v0, v0 + 3), factor.space == MOVING
        point, inertia = stepped_point(model.links[i], factor, at_center=moving)
        center = numbers(equations, point)
        if inertia is not None:
            way[turning], v_next[turning] = _turn(v[turning], a[turning], h, numbers(equations, inertia))
        if moving:
            R = quaternion_to_matrix(q[q0 + 3 : q0 + 7])
            omega, alpha, sliding = v[turning], a[turning], slice(v0 + 3, v0 + 6)
            velocity = v[sliding] + np.cross(omega, center)  # of the centre of mass
            velocity = velocity + h * (a[sliding] + np.cross(alpha, center) + np.cross(omega, velocity))
            shifts.append((q0, sliding, center, q[q0 : q0 + 3] + R @ (center + h * velocity), R @ velocity))
    q_next = equations.call("integrate", q, way, [h])
    for q0, sliding, center, place, velocity in shifts:
        R, omega = quaternion_to_matrix(q_next[q0 + 3 : q0 + 7]), v_next[sliding.start - 3 : sliding.start]
        q_next[q0 : q0 + 3] = place - R @ center
        v_next[sliding] = R.T @ velocity - np.cross(omega, center)
    return in_time(equations, q_next, v_next)


def _turn(omega: np.ndarray, alpha: np.ndarray, h: float, inertia: np.ndarray) -> StatePair:
    """(angular velocity of the turn, angular velocity after it), of a turn of less than 1.5 rad."""
    momentum = inertia @ omega
    L = momentum + h * (inertia @ alpha + np.cross(omega, momentum))
    after = omega = np.linalg.solve(inertia, L)
    half = 0.5 * h * np.linalg.norm(omega)
    lag = np.tan(half) / half if half > 0.0 else 1.0
    for _ in range(100):  # w = (omega + after) / 2 turns by h w where the body turns steadily
        w = 0.5 * (omega + after)
        after = np.linalg.solve(inertia + 0.5 * h * lag * np.cross(w, inertia.T).T, L - 0.5 * h * lag * np.cross(w, L))
    axis = 0.5 * h * lag * w
    angle = 2.0 * np.arctan(np.linalg.norm(axis))
    return axis * (angle / h / max(float(np.linalg.norm(axis)), 1e-300)), after


INTEGRATOR = Integrator(
    name="semi_implicit_euler",
    function="step",
    graph=Function(
        "q, v after dt: semi-implicit Euler with joint damping and springs; it stops at no limits.",
        ("q", "v", "tau", "dt"),
        lambda m: (m.nq + m.nv,),
        _graph,
        solves=True,
        common=True,
        exported=True,
        rows=tree_rows.state,
        configuration=True,
    ),
    loop=_loop,
    definition=definition,
    order=1,
    share=1.0,
    implicit=1.0,
)
