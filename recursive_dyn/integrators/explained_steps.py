"""Steps whose energy is explained, or not taken: IR text of loops of rules that keep energies but where steps are long.

A kernel tells the powers of a step, behind the velocity of its middle, and another one the energies at its ends, as
``energy_watch`` has them. A step that leaves more unexplained than GROSS of its kinetic energy ends the loop where it
began, for who halves it (``ShorterSteps``). One that is as short as they get is taken, and what it leaves is told,
unless that is more than MOST of it.

What steps that are taken are off by adds up, of all trees together, as in ``finer_steps``: it is told as far as it is
beyond GROSS of the largest kinetic energy, of some 65 000 steps, and more than it ever was. Who takes a share of the
motion between steps takes as much of the sum.
"""

from __future__ import annotations

from recursive_dyn.codegen.emitting import drivers
from recursive_dyn.codegen.emitting.ir_text import copy, counted, load, place, scalar_literal
from recursive_dyn.codegen.emitting.sizes import Sizes
from recursive_dyn.integrators.compiled_loop import (
    BESIDE,
    HEAD,
    OFF_BY,
    OFF_OF,
    OFF_SINCE,
    OFF_TOLD,
    OFF_UP_TO,
    SHARE,
    SHORTEST,
    TALLY,
    UNEXPLAINED,
)
from recursive_dyn.integrators.energy_watch import ROUNDING, WATCHED, rise
from recursive_dyn.integrators.finer_steps import LASTING
from recursive_dyn.integrators.loop_text import leaving

GROSS = 1e-2  # of the kinetic energy, more than which no step is to leave unexplained
MOST = 1.0  # of it, with GROSS of what joints' springs hold, more than which no part of one may, however short
# numbers of each tree: T, potential and elastic energy, size of what these are made of, what joints' springs hold
ENERGIES = 4
UNKNOWN = 1e90  # J, a size of energies of what is not weighed
MEASURED = 0.5 * GROSS / ROUNDING  # times J that kinetic energy is to be measured with, in the size of energies
_TREE = f"""  %row = mul i64 %i, {ENERGIES}
  %pair = mul i64 %i, {WATCHED}
{place("b", "double", "%before", "%row")}
{place("a", "double", "%after", "%row")}
{place("s", "double", "%spent", "%pair")}
{load("T0", "double", "%b", 0)}
{load("U0", "double", "%b", 1)}
{load("size0", "double", "%b", 2)}
{load("springs0", "double", "%b", 3)}
{load("T1", "double", "%a", 0)}
{load("U1", "double", "%a", 1)}
{load("size1", "double", "%a", 2)}
{load("power", "double", "%s", 0)}
{load("damping", "double", "%s", 1)}
{rise("%h", "%T0")}
  %sinks = fcmp olt double %rise, 0.0
  %rises = fcmp ogt double %rise, 0.0
  %told = and i1 %resolved, %sinks
  %odd = select i1 %told, double %sink, double %rise
  %sizes = fadd double %size0, %size1
  %energy = fadd double %T1, %sizes
  %rounding = fmul double %energy, {scalar_literal(ROUNDING)}
  %allowance = fmul double %scale, %most
  %sprung = fmul double %springs0, %of.springs
  %beyond = fadd double %allowance, %sprung
  %allowed = fadd double %beyond, %rounding
  %explained = fcmp ole double %odd, %allowed
  %left = select i1 %explained, double 0.0, double %odd
  %more = fadd double %sum, %left
  %weighed = fcmp olt double %sizes, {scalar_literal(UNKNOWN)}
  %sinks.known = or i1 %resolved, %rises
  %is.off = and i1 %weighed, %sinks.known
  %off = select i1 %is.off, double %rise, double 0.0
  %off.more = fadd double %off.sum, %off
  %start = select i1 %weighed, double %T0, double 0.0
  %start.more = fadd double %start.sum, %start
  %end = select i1 %weighed, double %T1, double 0.0
  %end.more = fadd double %end.sum, %end
  %beside = select i1 %weighed, double %rounding, double 0.0
  %beside.more = fadd double %beside.sum, %beside"""
_SUMS = ("sum", "off.sum", "start.sum", "end.sum", "beside.sum")
_CARRIED = tuple((name, "double", "0.0", f"%{name.replace('sum', 'more')}") for name in _SUMS)
_RESULTS = "\n".join(
    f"  %r{k + 1} = insertvalue [5 x double] {f'%r{k}' if k else 'poison'}, double %{name}, {k}"
    for k, name in enumerate(_SUMS)
)
# J, of all trees that have more than such shares of motion and of springs, 0 where all is explained; then of all
# that are weighed, what they are off by, motion where the step begins and ends, and GROSS of what is measured with it
HELPERS = f"""define internal [5 x double] @unexplained(
  ptr %before, ptr %after, ptr %spent, double %h, double %most, double %of.springs, i64 %n
) nounwind {{
entry:
{counted("i", "%n", _TREE, carried=_CARRIED)}
{_RESULTS}
  ret [5 x double] %r5
}}
"""
_LASTING = scalar_literal(LASTING)
_ADDED = f"""  %off.now = extractvalue [5 x double] %sums, 1
  %start.now = extractvalue [5 x double] %sums, 2
  %end.now = extractvalue [5 x double] %sums, 3
  %beside.now = extractvalue [5 x double] %sums, 4
{load("off.before", "double", "%work", TALLY + OFF_BY)}
{load("up.before", "double", "%work", TALLY + OFF_UP_TO)}
{load("of.before", "double", "%work", TALLY + OFF_OF)}
{load("ended", "double", "%work", TALLY + OFF_SINCE)}
{load("off.told", "double", "%work", TALLY + OFF_TOLD)}
  %slower = fcmp olt double %start.now, %ended
  %some = fdiv double %start.now, %ended
  %left.share = select i1 %slower, double %some, double 1.0
  %off.shared = fmul double %off.before, %left.share
  %off.left = fmul double %off.shared, {_LASTING}
  %off.all = fadd double %off.left, %off.now
  %up.left = fmul double %up.before, %left.share
  %up.odd = fadd double %up.left, %known.odd
  %of.left = fmul double %of.before, {_LASTING}
  %of.more = fcmp ogt double %end.now, %of.left
  %of.now = select i1 %of.more, double %end.now, double %of.left
  %of.gross = fmul double %of.now, {scalar_literal(GROSS)}
  %near = fadd double %of.gross, %beside.now
  %usual = fcmp ogt double %up.odd, %near
  %known.off = select i1 %usual, double %up.odd, double %near
  %lost.all = fneg double %off.all
  %gains = fcmp ogt double %off.all, 0.0
  %off.by = select i1 %gains, double %off.all, double %lost.all
  %newly = fcmp ogt double %off.by, %known.off
  %newly.by = fsub double %off.by, %known.off
  %telling = select i1 %newly, double %newly.by, double 0.0
  %off.told.all = fadd double %off.told, %telling
  %up.now = select i1 %newly, double %off.by, double %up.odd
  store double %off.all, ptr %off.before.p
  store double %up.now, ptr %up.before.p
  store double %of.now, ptr %of.before.p
  store double %end.now, ptr %ended.p
  store double %off.told.all, ptr %off.told.p"""


def names(sizes: Sizes, others: int) -> str:
    """%trees of which there are powers, and where all that is watched is; others: outputs behind the powers."""
    watched = [load(name, "ptr", "%work", BESIDE + i) for i, name in enumerate(("watch", "energies", "room"))]
    return "\n".join(
        [
            f"  %watched.behind = sub i64 {sizes.outputs}, {sizes.state}",
            f"  %watched.all = sub i64 %watched.behind, {sizes.nv}",
            f"  %powers = sub i64 %watched.all, {others}",
            f"  %trees = udiv i64 %powers, {WATCHED}",
            f"  %balances = mul i64 %trees, {ENERGIES}",
            "  %balances.bytes = shl i64 %balances, 3",
            place("start", "double", "%work", HEAD),
            place("before", "double", "%start", sizes.state),
            *watched,
            load("share", "double", "%work", SHARE),
            load("shortest", "double", "%work", SHORTEST),
            f"  %gross = fmul double %share, {scalar_literal(GROSS)}",
            f"  %most = fmul double %share, {scalar_literal(MOST)}",
        ]
    )


def begun(sizes: Sizes) -> str:
    """The state where a step begins is kept, and the energies there, which the last one of a run knows."""
    return f"""{copy("%start", "%in", sizes.state)}
  %first.step = icmp eq i64 %done, 0
  br i1 %first.step, label %measure.start, label %begun
measure.start:
  call void %watch(ptr %in, ptr %energies, ptr %room)
  br label %begun
begun:
{copy("%before", "%energies", "%balances")}"""


def judged(sizes: Sizes) -> str:
    """From ``weighed``, where a step is found, to ``accept``, or out of the loop."""
    said = leaving("refuse.step", drivers.UNEXPLAINED, copy("%in", "%start", sizes.state) + "\n")
    balance = "ptr %before, ptr %energies, ptr %spent, double %h"
    return f"""weighed:
{copy("%in", "%out", sizes.state)}
{place("spent.from", "double", "%out", sizes.state)}
{place("spent", "double", "%spent.from", sizes.nv)}
  call void %watch(ptr %in, ptr %energies, ptr %room)
  %known.energies = call i1 @rd.finite(ptr %energies, i64 %balances)
  br i1 %known.energies, label %balance, label %refuse.step
balance:
  %sums = call [5 x double] @unexplained({balance}, double %gross, double 0.0, i64 %trees)
  %odd = extractvalue [5 x double] %sums, 0
  %explained = fcmp ole double %odd, 0.0
  br i1 %explained, label %add.up, label %doubtful
doubtful:
  %is.short = fcmp ogt double %shortest, 0.0
  br i1 %is.short, label %weigh.all, label %refuse.step
weigh.all:
  %all.sums = call [5 x double] @unexplained({balance}, double %most, double {scalar_literal(GROSS)}, i64 %trees)
  %too.much = extractvalue [5 x double] %all.sums, 0
  %bearable = fcmp ole double %too.much, 0.0
  br i1 %bearable, label %tell, label %refuse.step
tell:
{load("told", "double", "%work", TALLY + UNEXPLAINED)}
  %told.all = fadd double %told, %odd
  store double %told.all, ptr %told.p
  br label %add.up
add.up:
  %known.odd = phi double [ 0.0, %balance ], [ %odd, %tell ]
{_ADDED}
  br label %accept
{said}
"""
