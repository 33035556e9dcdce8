"""The compiled loop of a rule whose step is found by Newton's method.

The kernel takes a step of Newton's method and more by the same factors, and tells how long the first two and the last
of these changes were, and how long the next one would be. Where the second one is not half as long as the first
(Deuflhard 2004, Newton methods for nonlinear problems, 2.1: the natural monotonicity test) there is another solution
about, which is no motion: the step is to be halved. Where forces are asked for, which are the same for all steps of a
call, changes are those from call to call.

A step of a ``natural`` one begins where the last ones lead on: by velocities that change as they did from the last
middle to its end, off by nothing, by what that was last, or as a line or a parabola through the last times has it,
whichever would have foretold the last middle best. Momenta have both halves agree but for what is curved, which is
small and changes little also where velocities swing within some steps. It is kept from call to call, for the state
which it belongs to (``compiled_loop.EXPECTED``), and begins anew where steps are of another length.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise

import numpy as np

from recursive_dyn.codegen.emitting.drivers import NOT_CONVERGED, counted_loop
from recursive_dyn.codegen.emitting.ir_text import copy, counted, load, place
from recursive_dyn.codegen.emitting.llvm import scalar_literal
from recursive_dyn.codegen.emitting.sizes import Sizes, in_bytes
from recursive_dyn.integrators.compiled_loop import EXPECTED
from recursive_dyn.integrators.loop_text import (
    LIMITED,
    SWEPT_SO_FAR,
    WITHIN,
    advancing,
    evaluation,
    leaving,
    limit_check,
    opening,
    size_check,
    swept_step,
)

CHANGES = 4  # squares that the kernel tells: of Newton's change, the second, the last, and the next one
DONE = 1e-24  # squared relative change of the velocity of the middle that is nothing
LEFT = 1e-16  # the same of the next change, where it need not be taken
AGREED = 1e-26  # the same of the next call, where forces are asked for
ROUNDING = 1e-18  # the same, where it no longer falls to a quarter
MOST = 25  # calls of the kernel, after which it does not converge
FAR = 1e4  # times the square of the middle's size, or of 1, beyond which it has run away
_USUAL = 5  # of them a step


def converging(
    left: float = LEFT, most: int = MOST, usual: int = _USUAL, natural: bool = False
) -> Callable[[str, Sizes], str]:
    """The loop of a kernel [q, v, tau, dt, v_middle] -> [q, v, v_middle, changes], which is iterated; what runs away to
    infinity has not converged either.

    left: squared relative change that need not be made; most: calls, after which it does not converge; usual: of them a
    step; natural: whether the second change tells that there is another solution about. If it does not the kernel tells
    the middle's size before its changes, squared: what runs away from that of the first call has not converged.
    """
    return partial(_loop, left, most, usual, natural)


def _loop(left: float, most: int, usual: int, natural: bool, entry: str, sizes: Sizes) -> str:
    first = f"{sizes.first}\n{_known(sizes)}" if natural else sizes.first
    begun = f"  call void @advance(ptr %m, ptr %v, double %h, ptr %rate, i64 {sizes.nv})"
    return f"""{WITHIN}
{_HELPERS if natural else ""}
{opening(entry, sizes.inputs, LIMITED, SWEPT_SO_FAR, first)}
step:
{_AGAIN if natural else ""}
{place("v", "double", "%in", sizes.nq)}
{place("tau", "double", "%v", sizes.nv)}
{place("dt", "double", "%tau", sizes.nv)}
{place("m", "double", "%dt", 1)}
{place("better", "double", "%out", sizes.state)}
{place("end", "double", "%out", sizes.outputs)}
{load("h", "double", "%dt", 0)}
{begun if natural else copy("%m", "%v", sizes.nv)}
  %half = fmul double %h, 0.5
  br label %sweep
sweep:
  %k = phi i64 [ 0, %step ], [ %k1, %again ]
  %called = phi double [ {scalar_literal(1e-100)}, %step ], [ %newton, %again ]
  %known = phi double [ {scalar_literal(np.inf)}, %step ], [ %beyond, %again ]
{evaluation(entry, sizes.asked, "%half")}
  %good = call i1 @rd.finite(ptr %out, i64 {sizes.outputs})
  br i1 %good, label %measure, label %lost
measure:
  %k1 = add i64 %k, 1
{_CLOSE if natural else _RUNNING}
  br i1 %close, label %look.on, label %lost
look.on:
{_settled(sizes.asked, left, natural)}
  br i1 %settled, label %arrive, label %judge
judge:
  br i1 %hopeful, label %again, label %lost
again:
{copy("%m", "%better", sizes.nv)}
  %tired = icmp sge i64 %k1, {most}
  br i1 %tired, label %lost, label %sweep
{_lost(sizes) if natural else leaving("lost", NOT_CONVERGED)}
arrive:
{size_check("%out", sizes.state, "lost")}
check:
{limit_check("%out")}
{swept_step("%out", sizes.state, usual, _left(sizes) if natural else "")}"""


_KEPT = f"""{load("r", "double", "%rate", "%i")}
  %or.none = select i1 %known, double %r, double 0.0
  store double %or.none, ptr %r.p"""
# by how much the last middle, in %m, was off: of a straight line through the middle before and the velocity between
# both by e0; of what is off as the line before was, by e1, or those before, on a line or a parabola, by a, b and c
_AREAS = "\n".join(
    place(f"{x}.s", "double", f"%{before}", "%size")
    for before, x in (("rate", "m1"), ("m1.s", "e1"), ("e1.s", "e2"), ("e2.s", "e3"))
)
_MISSED = "\n".join([
    *(load(x, "double", f"%{x}.s", "%i") for x in ("m1", "e1", "e2", "e3", "u")), load("m0", "double", "%m", "%i"),
    "  %turned = fsub double %u, %m1", "  %line = fadd double %u, %turned", "  %e0 = fsub double %m0, %line",
    "  %a = fsub double %e0, %e1", "  %a1 = fsub double %e1, %e2", "  %a2 = fsub double %e2, %e3",
    "  %b = fsub double %a, %a1", "  %b1 = fsub double %a1, %a2", "  %c = fsub double %b, %b1",
])  # fmt: skip
_KINDS = ("e0", "a", "b", "c")
_SQUARES = "\n".join(
    f"  %{x}.square = fmul double %{x}, %{x}\n  %{x}.sum = fadd double %{x}.all, %{x}.square" for x in _KINDS
)
_SUMS = tuple((f"{x}.all", "double", scalar_literal(0.0), f"%{x}.sum") for x in _KINDS)
_CHOICE = "".join(
    f"""
  %{x}.less = fcmp olt double %{x}.all, %{before}.least
  %{x}.known = icmp sgt i64 %count, {k}
  %{x}.best = and i1 %{x}.less, %{x}.known
  %{x}.least = select i1 %{x}.best, double %{x}.all, double %{before}.least
  %{x}.kind = select i1 %{x}.best, i64 {k}, i64 %{before}.kind"""
    for k, (before, x) in enumerate(pairwise(_KINDS), 1)
)
# which of these, of those that so many middles before this one allow, foretold this one best
_BEST = f"""define internal i64 @best(ptr %rate, ptr %m, ptr %u.s, i64 %count, i64 %size) nounwind {{
entry:
{_AREAS}
{counted("i", "%size", f"{_MISSED}{chr(10)}{_SQUARES}", carried=_SUMS)}
  %e0.least = fadd double %e0.all, 0.0
  %e0.kind = add i64 0, 0{_CHOICE}
  ret i64 %c.kind
}}
"""
_RATED = f"""{_MISSED}
{load("now", "double", "%v", "%i")}
{place("target", "double", "%rate", "%i")}
  %straight = fsub double %now, %m0
  %once = fadd double %e0, %a
  %twice = fadd double %once, %b
  %missed.1 = select i1 %first, double %e0, double 0.0
  %missed.2 = select i1 %second, double %once, double %missed.1
  %missed = select i1 %third, double %twice, double %missed.2
  %more = fadd double %straight, %missed
  %r = fdiv double %more, %h
  store double %r, ptr %target
  store double %e2, ptr %e3.p
  store double %e1, ptr %e2.p
  store double %e0, ptr %e1.p
  store double %m0, ptr %m1.p"""
_WHICH = "\n".join(
    [_AREAS, *(f"  %{x} = icmp eq i64 %kind, {k}" for k, x in enumerate(("first", "second", "third"), 1))]
)
_HELPERS = "".join((
    "declare i32 @memcmp(ptr, ptr, i64)\n", advancing(),
    counted_loop("kept", "ptr %rate, i1 %known, i64 %size", "%size", _KEPT),
    _BEST,
    counted_loop(
        "rated", "ptr %rate, ptr %u.s, ptr %v, ptr %m, double %h, i64 %kind, i64 %size", "%size", _RATED, _WHICH
    ),
))  # fmt: skip


def _known(sizes: Sizes) -> str:
    """%rate, which is nothing where the state is not the one that it belongs to."""
    return f"""{place("place", "double", "%work", EXPECTED)}
{place("led", "double", "%place", sizes.state)}
{place("length", "double", "%led", 1)}
{place("rate", "double", "%led", 2)}
  %differs = call i32 @memcmp(ptr %place, ptr %in, i64 {in_bytes(sizes.state)})
  %goes.on = icmp eq i32 %differs, 0
  call void @kept(ptr %rate, i1 %goes.on, i64 {sizes.nv})
  call void @kept(ptr %led, i1 %goes.on, i64 1)"""


_AGAIN = """  %anew = phi i1 [ false, %head ], [ true, %plainly ]
  %begins.run = icmp eq i64 %done, 0
  %nothing = xor i1 %goes.on, true
  %unknown = and i1 %begins.run, %nothing
  %plain = or i1 %anew, %unknown"""  # whether the step begins by the velocity that there is


def _lost(sizes: Sizes) -> str:
    """Try once more where the step began otherwise, else leave; of the state nothing is known any more."""
    return f"""lost:
  call void @kept(ptr %rate, i1 false, i64 {sizes.nv})
  call void @kept(ptr %led, i1 false, i64 1)
  br i1 %plain, label %leave, label %plainly
plainly:
  br label %step
{leaving("leave", NOT_CONVERGED, f"  store double {scalar_literal(np.nan)}, ptr %place{chr(10)}")}"""


def _left(sizes: Sizes) -> str:
    """What the next step begins by, of a step that was taken."""
    return f"""{load("led.so.far", "double", "%led", 0)}
{load("length.then", "double", "%length", 0)}
{place("u", "double", "%place", sizes.nq)}
  %alike = fcmp oeq double %length.then, %h
  %before = select i1 %alike, double %led.so.far, double 0.0
  %led.count = fptosi double %before to i64
  %kind = call i64 @best(ptr %rate, ptr %better, ptr %u, i64 %led.count, i64 {sizes.nv})
  call void @rated(ptr %rate, ptr %u, ptr %v, ptr %better, double %h, i64 %kind, i64 {sizes.nv})
  %led.here = fadd double %before, 1.0
  %many = fcmp ogt double %led.here, 4.0
  %led.now = select i1 %many, double 4.0, double %led.here
  store double %led.now, ptr %led
  store double %h, ptr %length
{copy("%place", "%in", sizes.state)}
"""


_CLOSE = """  %beyond = fadd double %known, 0.0
  %close = or i1 true, true"""
_RUNNING = f"""{load("size", "double", "%end", -1 - CHANGES)}
  %one = fadd double %size, 1.0
  %far = fmul double %one, {scalar_literal(FAR)}
  %begins = icmp eq i64 %k, 0
  %beyond = select i1 %begins, double %far, double %known
  %close = fcmp ole double %size, %beyond"""  # whether the middle is no larger than what the first call says


def _settled(asked: bool, left: float, natural: bool) -> str:
    """%settled: whether nothing is left to be found, or what is left is rounding; %hopeful: whether it can be."""
    changes = load("newton", "double", "%end", -CHANGES)
    if asked:
        changes += f"""
  %ratio = fdiv double %newton, %called
  %e = fadd double %newton, 0.0
  %first = icmp eq i64 %k, 0
  %falls = {_hope("ole double %ratio, 0.25", natural)}
  %hopeful = or i1 %first, %falls
  %square = fmul double %ratio, %ratio
  %following = fmul double %square, %e
  %expected = fcmp ole double %following, {scalar_literal(AGREED)}"""
    else:
        changes += f"""
{load("second", "double", "%end", 1 - CHANGES)}
{load("e", "double", "%end", -2)}
{load("following", "double", "%end", -1)}
  %ratio = fdiv double %following, %e
  %quarter = fmul double %newton, 0.25
  %hopeful = {_hope("ole double %second, %quarter", natural)}
  %expected = fcmp ole double %following, {scalar_literal(left)}"""
    return f"""{changes}
  %small = fcmp ole double %e, {scalar_literal(DONE)}
  %stalls = fcmp ugt double %ratio, 0.25
  %low = fcmp ole double %e, {scalar_literal(ROUNDING)}
  %found = or i1 %small, %expected
  %rounded = and i1 %stalls, %low
  %settled = or i1 %found, %rounded"""


def _hope(comparison: str, natural: bool) -> str:
    """What finds out whether there is no other solution about; always, where that is not asked."""
    return f"fcmp {comparison}" if natural else "or i1 true, true"
