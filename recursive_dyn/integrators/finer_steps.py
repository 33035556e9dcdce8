"""Steps in 1, 2, 4 or 8 parts, all alike from some step on and never back: IR text of a loop whose steps keep energy.

What a symplectic rule keeps is not the energy that is measured, which is off by what its own has more or less: of
chords h^2 / 12 of Gauss's constraint, which swells and shrinks where joints whip. Halving steps where that is much and
lengthening them again would make energy; a change for good does so once, three quarters of what it is off by then. A
kernel tells by how much each step is off, J, and by what that is to be measured (``chords.made_energy``). What steps
made adds up, and is forgotten as slowly as the largest measure is. Where it is more than FAR of that, or as many times
less as there are parts, all later steps are in twice as many, up to MOST: what changes lose in all is less than twice
what the first one does. A quarter of the sum is what the shorter steps are off by. A step that makes more than GROSS
alone, as of springs that swing within it, is taken again, in twice as many. What the shortest parts are off by in all,
beyond TOLD, is told (``Report.unexplained_energy``). It is of steps alone: what anyone writes between them, what
pushes, contacts or motors give is no part of it. Whoever takes a share of the motion between steps takes as much of the
sum with it: what rests on something falls anew in every step, by the same energy too little.
"""

from __future__ import annotations

from recursive_dyn.codegen.emitting.ir_text import copy, load, place, scalar_literal
from recursive_dyn.codegen.emitting.sizes import Sizes
from recursive_dyn.integrators.compiled_loop import ENDED, MADE, OFF_TOLD, OFF_UP_TO, PARTS, SIZE, TALLY, WATCH

MOST = 8.0  # parts of a step
FAR = 2e-3  # of the kinetic energy, beyond which whole steps may not make or lose any; of parts, so many times less
GROSS = 1e-3  # of it, more than which no step is to make or lose alone: it is taken again
TOLD = 1e-2  # of it, beyond which it is told what the shortest parts are off by
LASTING = 1.0 - 2.0**-16  # of what steps made, and of the measure, is left after a step: some 65 000 count
_SIZE, _FIRST, _LAST = 1, 2, 3  # behind what a kernel tells that it made: its measure, motion at the start, at the end


def cells(sizes: Sizes) -> str:
    """%watch (``compiled_loop.leading``) behind %rate; %making: J of the step so far; %moving: of motion
    where it began; %begin (state,): its start."""
    return f"""  %watch.at = mul i64 {sizes.nv}, 5
{place("watch", "double", "%rate", "%watch.at")}
{place("making", "double", "%watch", WATCH)}
{place("moving", "double", "%making", 1)}
{place("begin", "double", "%moving", 1)}"""


def begun(sizes: Sizes) -> str:
    """%h of each of %parts, and what there is before the first."""
    return f"""{load("whole", "double", "%work", 0)}
{load("told", "double", "%watch", PARTS)}
  %several = fcmp ogt double %told, 1.0
  %parts = select i1 %several, double %told, double 1.0
  %h = fdiv double %whole, %parts
  store double %h, ptr %dt
{copy("%begin", "%in", sizes.state)}
  store double 0.0, ptr %making"""


def undone(sizes: Sizes) -> str:
    """Back to where the step began."""
    return copy("%in", "%begin", sizes.state) + "\n"


def added(made: int) -> str:
    """What a part made is added, and known by what motion the first one began; made: where, from %end."""
    return f"""{load("part.made", "double", "%end", made)}
{load("made.so.far", "double", "%making", 0)}
  %made.now = fadd double %made.so.far, %part.made
  store double %made.now, ptr %made.so.far.p
{load("moving.here", "double", "%end", made + _FIRST)}
{load("moving.first", "double", "%moving", 0)}
  %moving.begun = select i1 %first.part, double %moving.here, double %moving.first
  store double %moving.begun, ptr %moving.first.p"""


def weighed(made: int) -> str:
    """%share: what nobody took of the motion before a whole step that ends; %made.all: what steps made of that, with
    this one's, which is at made from %end; %size.now: by what it is measured; %divisible: whether steps can be shorter;
    %again.finer: whether this one made so much that it is taken again."""
    return f"""{load("made.before", "double", "%watch", MADE)}
{load("size.before", "double", "%watch", SIZE)}
{load("ended.before", "double", "%watch", ENDED)}
{load("size.here", "double", "%end", made + _SIZE)}
  %slower = fcmp olt double %moving.begun, %ended.before
  %moved = fcmp ogt double %ended.before, 0.0
  %taken.from = and i1 %slower, %moved
  %moves = fcmp ogt double %moving.begun, 0.0
  %moving.left = select i1 %moves, double %moving.begun, double 0.0
  %some = fdiv double %moving.left, %ended.before
  %share = select i1 %taken.from, double %some, double 1.0
  %made.shared = fmul double %made.before, %share
  %made.left = fmul double %made.shared, {scalar_literal(LASTING)}
  %made.all = fadd double %made.left, %made.now
  %size.left = fmul double %size.before, {scalar_literal(LASTING)}
  %larger = fcmp ogt double %size.here, %size.left
  %size.now = select i1 %larger, double %size.here, double %size.left
  %watched = fcmp oge double %told, 1.0
  %fewer = fcmp olt double %told, {scalar_literal(MOST)}
  %divisible = and i1 %watched, %fewer
  %alone = call double @llvm.fabs.f64(double %made.now)
  %gross = fmul double %size.now, {scalar_literal(GROSS)}
  %grossly = fcmp ogt double %alone, %gross
  %again.finer = and i1 %grossly, %divisible"""


def twice(sizes: Sizes) -> str:
    """Back to where the step began, in twice as many parts."""
    return f"""  %doubled = fadd double %told, %told
  store double %doubled, ptr %told.p
{undone(sizes)}"""


def judged(made: int) -> str:
    """What steps made is kept, and more parts are taken from here on, or, where there cannot be more, told by how much
    more than ever they are far off; made: where this one's is, from %end."""
    return f"""{load("ended.here", "double", "%end", made + _LAST)}
  %off = call double @llvm.fabs.f64(double %made.all)
{load("told.to", "double", "%work", TALLY + OFF_UP_TO)}
{load("nothing.explained", "double", "%work", TALLY + OFF_TOLD)}
  %told.left = fmul double %told.to, %share
  %told.least = fmul double %size.now, {scalar_literal(TOLD)}
  %usual = fcmp ogt double %told.left, %told.least
  %told.already = select i1 %usual, double %told.left, double %told.least
  %further = fcmp ogt double %off, %told.already
  %as.it.is = xor i1 %divisible, true
  %is.told = and i1 %further, %as.it.is
  %off.more = fsub double %off, %told.already
  %nothing.explains = select i1 %is.told, double %off.more, double 0.0
  %nothing.explained.sum = fadd double %nothing.explained, %nothing.explains
  %told.now = select i1 %is.told, double %off, double %told.left
  store double %nothing.explained.sum, ptr %nothing.explained.p
  store double %told.now, ptr %told.to.p
  %far.whole = fmul double %size.now, {scalar_literal(FAR)}
  %far = fdiv double %far.whole, %parts
  %now = fcmp ogt double %off, %far
  %finer = and i1 %now, %divisible
  %twice = fadd double %told, %told
  %made.less = fmul double %made.all, 0.25
  %parts.next = select i1 %finer, double %twice, double %told
  %made.next = select i1 %finer, double %made.less, double %made.all
  store double %parts.next, ptr %told.p
  store double %made.next, ptr %made.before.p
  store double %ended.here, ptr %ended.before.p
  store double %size.now, ptr %size.before.p"""
