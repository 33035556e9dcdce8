"""What a step of a rule begins by that goes on as the last steps did: IR text of loops.

By velocities that change as they did from the last middle to its end, off by nothing, by what that was last, or as a
line or a parabola through the last times has it, whichever would have foretold the last middle best. Momenta have both
halves agree but for what is curved, which is small and changes little also where velocities swing within some steps. It
is kept from call to call, for the state which it belongs to (``compiled_loop.EXPECTED``), and begins anew where steps
are of another length.
"""

from __future__ import annotations

from itertools import pairwise

from recursive_dyn.codegen.emitting.drivers import counted_loop
from recursive_dyn.codegen.emitting.ir_text import copy, counted, load, place, scalar_literal
from recursive_dyn.codegen.emitting.sizes import Sizes, in_bytes
from recursive_dyn.integrators.compiled_loop import EXPECTED
from recursive_dyn.integrators.loop_text import advancing

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
HELPERS = "".join((
    "declare i32 @memcmp(ptr, ptr, i64)\n", advancing(),
    counted_loop("kept", "ptr %rate, i1 %known, i64 %size", "%size", _KEPT),
    _BEST,
    counted_loop(
        "rated", "ptr %rate, ptr %u.s, ptr %v, ptr %m, double %h, i64 %kind, i64 %size", "%size", _RATED, _WHICH
    ),
))  # fmt: skip


def known(sizes: Sizes) -> str:
    """%rate, which is nothing where the state is not the one that it belongs to."""
    return f"""{place("place", "double", "%work", EXPECTED)}
{place("led", "double", "%place", sizes.state)}
{place("length", "double", "%led", 1)}
{place("rate", "double", "%led", 2)}
  %differs = call i32 @memcmp(ptr %place, ptr %in, i64 {in_bytes(sizes.state)})
  %goes.on = icmp eq i32 %differs, 0
  call void @kept(ptr %rate, i1 %goes.on, i64 {sizes.nv})
  call void @kept(ptr %led, i1 %goes.on, i64 1)"""


def left(sizes: Sizes) -> str:
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
