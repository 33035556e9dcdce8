"""The compiled loop of the variational rule: where its steps begin, and those that go in parts (``turning_parts``)."""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.emitting.drivers import AT_LIMIT, NOT_CONVERGED
from recursive_dyn.codegen.emitting.ir_text import copy, counted, load, place
from recursive_dyn.codegen.emitting.llvm import scalar_literal
from recursive_dyn.codegen.emitting.sizes import Sizes
from recursive_dyn.integrators.compiled_loop import BESIDE, EARLIER, SINCE, TALLY, TOLD
from recursive_dyn.integrators.converging_loop import LEFT, MOST, USUAL, settled
from recursive_dyn.integrators.foretelling import FORETELLING, known_rates, left_behind
from recursive_dyn.integrators.loop_text import (
    LIMITED,
    SWEPT_SO_FAR,
    WITHIN,
    evaluation,
    leaving,
    opening,
    size_check,
    swept_step,
)
from recursive_dyn.integrators.turning_parts import BENT, LONGEST, QUICK, SHORTEST, SLOW


def parted(entry: str, sizes: Sizes) -> str:
    """The loop of a kernel [q, v, tau, dt, v_middle] -> [q, v, v_middle, changes] and of one of the same beside
    it that gives ``point_velocities``."""
    return f"""{WITHIN}
{FORETELLING}{_TURNS}
{opening(entry, sizes.inputs, LIMITED, SWEPT_SO_FAR + _KNOWN, f"{sizes.first}{chr(10)}{known_rates(sizes)}")}
step:
{_memory(sizes)}
{copy("%start", "%in", sizes.state)}
  br label %fly
{_PART}
  call void @advance(ptr %m, ptr %v, double %h, ptr %rate, i64 {sizes.nv})
  %middle = fmul double %h, 0.5
  br label %sweep
sweep:
  %k = phi i64 [ 0, %fly ], [ %k1, %again ]
  %called = phi double [ {scalar_literal(1e-100)}, %fly ], [ %newton, %again ]
{evaluation(entry, sizes.asked, "%middle")}
  %good = call i1 @rd.finite(ptr %out, i64 {sizes.outputs})
  br i1 %good, label %measure, label %lost
measure:
  %k1 = add i64 %k, 1
{settled(sizes.asked, LEFT, True)}
  br i1 %settled, label %arrive, label %judge
judge:
  br i1 %hopeful, label %again, label %lost
again:
{copy("%m", "%better", sizes.nv)}
  %tired = icmp sge i64 %k1, {MOST}
  br i1 %tired, label %lost, label %sweep
{_lost(sizes)}
arrive:
{size_check("%out", sizes.state, "lost", "undo")}
check:
  %swept.here = add i64 %swept.before, %k1
  br i1 %entire, label %glance, label %met
glance:
  %quick = call i1 @quick(ptr %better, double %h, i64 {sizes.nv})
  br i1 %quick, label %bend, label %met
{_bend(sizes)}
met:
  %told.end = phi i1 [ false, %check ], [ false, %glance ], [ true, %later ]
  br i1 %last, label %bounds, label %onward
bounds:
  %inside = call i1 @within(ptr %out, ptr %limits, i64 %limited)
  br i1 %inside, label %onward, label %return
{_returning(sizes)}
onward:
{copy("%in", "%out", sizes.state)}
{left_behind(sizes)}
  br i1 %last, label %accept, label %go_on
go_on:
  %following.part = add i64 %part, 1
  br label %fly
{swept_step("%out", sizes.state, USUAL, "%swept.here")}"""


_TURNED = f"""{load("x", "double", "%before", "%i")}
{load("y", "double", "%after", "%i")}
  %d = fsub double %y, %x
  %s = fadd double %y, %x
  %d2 = fmul double %d, %d
  %s2 = fmul double %s, %s
  %turned.sum = fadd double %turned, %d2
  %speeds.sum = fadd double %speeds, %s2"""
_FAST = f"""{load("x", "double", "%m", "%i")}
  %way = fmul double %x, %h
  %square = fmul double %way, %way
  %far = fcmp ogt double %square, {scalar_literal(QUICK**2)}
  %found = or i1 %any, %far"""
_NONE = scalar_literal(0.0)
_TURNS = f"""
declare double @llvm.sqrt.f64(double)
define internal double @bent(ptr %before, ptr %after, double %h, i64 %count) nounwind {{
entry:
  %size = sub i64 %count, 1
{
    counted(
        "i",
        "%size",
        _TURNED,
        carried=(("turned", "double", _NONE, "%turned.sum"), ("speeds", "double", _NONE, "%speeds.sum")),
    )
}
{load("fall", "double", "%after", "%size")}
  %short = fmul double %h, %h
  %falls = fmul double %fall, %short
  %allowed.falls = fmul double %falls, {scalar_literal(SLOW**2)}
  %allowed.turns = fmul double %speeds, {scalar_literal(BENT**2 / 4.0)}
  %allowed = fadd double %allowed.falls, %allowed.turns
  %none = fcmp ole double %turned, %allowed
  %ratio = fdiv double %turned, %allowed
  %square = select i1 %none, double 1.0, double %ratio
  %bent = call double @llvm.sqrt.f64(double %square)
  ret double %bent
}}
define internal i1 @quick(ptr %m, double %h, i64 %size) nounwind {{
entry:
{counted("i", "%size", _FAST, carried=(("any", "i1", "false", "%found"),))}
  ret i1 %any
}}
"""


def _memory(sizes: Sizes) -> str:
    """Names of what a step works with."""
    places = [
        ("v", "%in", sizes.nq), ("tau", "%v", sizes.nv), ("dt", "%tau", sizes.nv), ("m", "%dt", 1),
        ("better", "%out", sizes.state), ("end", "%out", sizes.outputs), ("led.u", "%rate", sizes.nv),
        ("led.e1", "%led.u", sizes.nv), ("led.e2", "%led.e1", sizes.nv), ("led.e3", "%led.e2", sizes.nv),
        ("start", "%led.e3", sizes.nv), ("aside", "%start", sizes.state), ("since.p", "%work", SINCE),
    ]  # fmt: skip
    return "\n".join([
        *(place(name, "double", base, index) for name, base, index in places),
        load("whole", "double", "%work", 0),
        load("told.count", "i64", "%work", TOLD), "  %told.count.bytes = shl i64 %told.count, 3",
        load("earlier", "ptr", "%work", EARLIER),
        *(load(name, "ptr", "%work", BESIDE + i) for i, name in enumerate(("watch", "told", "room"))),
    ])  # fmt: skip


# %plain: whether a part begins by the velocity that there is
_PART = """fly:
  %part = phi i64 [ 0, %step ], [ %following.part, %go_on ], [ 1, %cut ], [ %part, %plainly ]
  %outer = phi double [ 0.0, %step ], [ %outer, %go_on ], [ %rest, %cut ], [ %outer, %plainly ]
  %swept.before = phi i64 [ 0, %step ], [ %swept.here, %go_on ], [ %swept.here, %cut ], [ %swept.before, %plainly ]
  %anew = phi i1 [ false, %step ], [ false, %go_on ], [ false, %cut ], [ true, %plainly ]
  %entire = icmp eq i64 %part, 0
  %inner = icmp eq i64 %part, 2
  %closing = icmp eq i64 %part, 3
  %last = or i1 %entire, %closing
  %begins.run = icmp eq i64 %done, 0
  %begins.step = icmp ule i64 %part, 1
  %begins = and i1 %begins.run, %begins.step
  %nothing = xor i1 %goes.on, true
  %unknown = and i1 %begins, %nothing
  %plain = or i1 %anew, %unknown
  %but.one = fsub double %whole, %outer
  %but.two = fsub double %but.one, %outer
  %aside.or.all = select i1 %entire, double %whole, double %outer
  %h = select i1 %inner, double %but.two, double %aside.or.all
  store double %h, ptr %dt
  %behind = select i1 %inner, double %outer, double 0.0
  %since = select i1 %closing, double %but.one, double %behind
  store double %since, ptr %since.p"""

# whether what is told of points is of where a step begins
_KNOWN = "\n  %known = phi i1 [ false, %entry ], [ %told.end, %accept ]"


def _returning(sizes: Sizes) -> str:
    """Leave with the state as it was when the step began, which ends beyond a limit, or with large results."""
    return f"""return:
{copy("%in", "%start", sizes.state)}
  br label %stop
{leaving("stop", AT_LIMIT)}
undo:
{copy("%in", "%start", sizes.state)}
  br label %doubt"""


def _bend(sizes: Sizes) -> str:
    """To ``cut`` where centres turn by too much between both ends of a step, else to ``met``."""
    return f"""bend:
  br i1 %known, label %later, label %sooner
sooner:
  call void %watch(ptr %in, ptr %told, ptr %room)
  br label %later
later:
{copy("%earlier", "%told", "%told.count")}
{copy("%aside", "%in", sizes.state)}
{copy("%in", "%out", sizes.state)}
  call void %watch(ptr %in, ptr %told, ptr %room)
{copy("%in", "%aside", sizes.state)}
  %bent = call double @bent(ptr %earlier, ptr %told, double %h, i64 %told.count)
  %shorter = fdiv double 1.0, %bent
  %least = fcmp olt double %shorter, {scalar_literal(SHORTEST)}
  %middle.share = select i1 %least, double {scalar_literal(SHORTEST)}, double %shorter
  %others.share = fsub double 1.0, %middle.share
  %outer.share = fmul double %others.share, 0.5
  %rest = fmul double %outer.share, %whole
  %much = fcmp olt double %middle.share, {scalar_literal(LONGEST)}
  br i1 %much, label %cut, label %met
cut:
{load("cut.so.far", "double", "%work", TALLY)}
  %cut.now = fadd double %cut.so.far, 1.0
  store double %cut.now, ptr %cut.so.far.p
{load("cuts", "double", "%work", TALLY + 1)}
  %cuts.now = fadd double %cuts, 1.0
  store double %cuts.now, ptr %cuts.p
  br label %fly"""


def _lost(sizes: Sizes) -> str:
    """Try once more where the step began otherwise, else leave; of the state nothing is known any more."""
    forget = f"  store double {scalar_literal(np.nan)}, ptr %place{chr(10)}"
    return f"""lost:
  call void @kept(ptr %rate, i1 false, i64 {sizes.nv})
  call void @kept(ptr %led, i1 false, i64 1)
  br i1 %plain, label %leave, label %plainly
plainly:
  br label %fly
{leaving("leave", NOT_CONVERGED, f"{forget}{copy('%in', '%start', sizes.state)}{chr(10)}")}"""
