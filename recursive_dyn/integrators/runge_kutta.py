"""The classical Runge-Kutta method: fourth order, four forward dynamics a step.

    k1 = f(x), k2 = f(x + h k1 / 2), k3 = f(x + h k2 / 2), k4 = f(x + h k3),   x' = x + h (k1 + 2 k2 + 2 k3 + k4) / 6

of x = [q, v], x-dot = f(x) = [N(q) v, a] (Hairer, Norsett & Wanner 1993, Solving Ordinary Differential Equations I,
II.1). Quaternions, and whatever else has length 1, are integrated as the numbers they are and divided by their length
once a step. Dampers and springs of the joints are explicit: stiff ones need steps below 2.8 m / d and 2.8 sqrt(m / k).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from recursive_dyn.codegen.emitting.ir_text import copy, counted, load, place, several
from recursive_dyn.codegen.emitting.sizes import Sizes
from recursive_dyn.integrators.integrator import Integrator, ModelEquations, StatePair
from recursive_dyn.integrators.loop_text import (
    LIMITED,
    WITHIN,
    classical_stages,
    limit_check,
    opening,
    size_check,
    stage_helpers,
)
from recursive_dyn.recursion import kinematics, tree_rows
from recursive_dyn.recursion.context import Context, Function, Outputs
from recursive_dyn.recursion.forces import passive


def _graph(c: Context) -> Outputs:
    """The rates (q-dot, v-dot) under the joints' own forces as well."""
    tau = [t + p for t, p in zip(c.input("tau"), passive.passive_forces(c.tree), strict=True)]
    return [("q_rate", kinematics.rates(c.tree)), ("a", c.accelerations(c.tree, tau))]


_SQUARE = f"""{load("a", "double", "%p", "%i")}
  %aa = fmul double %a, %a
  %s = fadd double %sum, %aa"""
_DIVIDED = f"""{load("b", "double", "%p", "%j")}
  %u = fdiv double %b, %length
  store double %u, ptr %b.p"""
_UNIT = f"""{several("first n", "%table", "%k")}
{place("p", "double", "%x", "%first")}
{counted("i", "%n", _SQUARE, after="k.body", carried=(("sum", "double", "0.0", "%s"),))}
  %length = call double @llvm.sqrt.f64(double %sum)
{counted("j", "%n", _DIVIDED, after="i.done")}"""
UNITS = f"""define internal void @units(ptr %x, ptr %table, i64 %count) nounwind {{
entry:
{counted("k", "%count", _UNIT)}
  ret void
}}
declare double @llvm.sqrt.f64(double)
"""  # x /= |x| of every unit of a table


def _loop(entry: str, sizes: Sizes) -> str:
    """The kernel gives the rates of the state."""
    return f"""{stage_helpers()}{WITHIN}{UNITS}{sizes.text}
{opening(entry, sizes.inputs, LIMITED, first=sizes.first)}
{classical_stages(entry, sizes.state, sizes.asked)}
  call void @units(ptr %in, ptr {sizes.unit_table}, i64 {sizes.unit_count})
  %end = call i1 @rd.finite(ptr %in, i64 {sizes.inputs})
  br i1 %end, label %size, label %back
size:
{size_check("%out", sizes.state, "back", "undo")}
undo:
{copy("%in", "%x0", sizes.state)}
  br label %doubt
check:
{limit_check("%in", beyond="return")}
return:
{copy("%in", "%x0", sizes.state)}
  br label %stop
accept:
  %next = add i64 %done, 1
  br label %head
}}
"""


def classical(f: Callable[[np.ndarray], np.ndarray], x: np.ndarray, h: float) -> np.ndarray:
    """x (n,) after a step along x-dot = f(x), operation for operation as ``classical_stages`` has it."""
    k1 = f(x)
    k2 = f(x + k1 * (h * 0.5))
    k3 = f(x + k2 * (h * 0.5))
    k4 = f(x + k3 * h)
    return x + (k1 + k2 * 2.0 + k3 * 2.0 + k4) * (h * (1.0 / 6.0))


def definition(equations: ModelEquations, q: np.ndarray, v: np.ndarray, tau: np.ndarray, h: float) -> StatePair:
    """(q, v) after one step: the equations above, over the compiled rates."""
    nq = len(q)
    x = classical(lambda x: equations.call("rates", x[:nq], x[nq:], tau), np.concatenate([q, v]), h)
    for first, end in equations.model.units:
        x[first:end] /= np.sqrt(sum(x[first:end] ** 2))  # summed from the first to the last, as the loop does
    return x[:nq], x[nq:]


INTEGRATOR = Integrator(
    name="rk4",
    function="rates",
    graph=Function(
        "q-dot and accelerations, with the joints' damping and springs.",
        ("q", "v", "tau"),
        lambda m: (m.nq + m.nv,),
        _graph,
        solves=True,
        rows=tree_rows.state,
    ),
    loop=_loop,
    definition=definition,
    order=4,
    share=0.5,
    implicit=0.0,
    passing="variational_midpoint",
)
