"""What the watch on energy asks of a part of a step: of each tree, or of what is connected, against its own energy.

Numbers of all of them one after the other: before (n, 5): kinetic energy T, potential and elastic energy U, the size of
the numbers that U is made of, one that is not looked at, and what springs that give way may lift in a whole step; after
(n, 5): the same, and above 0 if anything takes energy, below 0 if springs carry some and nothing does; peaks (n,): T so
far; spent (n, 2): power, and that of joint dampers, by the weights of the stages. What dampers take is known where it
is little of the motion: beyond that a step does not resolve them, and only a gain is unexplained. damped (3,): J that
went where only springs take any, the most of one tree, and by which spring: the tree's number times TREE, and what
takes energy in it, SPRING and more.
"""

from __future__ import annotations

from recursive_dyn.codegen.emitting.drivers import counted_loop
from recursive_dyn.codegen.emitting.ir_text import counted, load, place, scalar_literal
from recursive_dyn.codegen.emitting.sizes import Operand, Sizes

ENERGY = 6e-5  # of the kinetic energy, that a step may leave unexplained
LOSING = 2e-4  # of it, a second, that one of what springs carry may: it loses in every step, where others win again
ROUNDING = 1e-12  # of the energies that a balance is made of
LITTLE = 0.1  # of the kinetic energy, up to which a step knows what dampers take
WATCHED, BALANCES = 2, 5  # numbers of each tree: its powers, its energies
SPRING, TREE = 2, 1 << 20  # from where on what takes energy is a spring's number; more than a tree has


def rise(share: str, motion: str) -> str:
    """%rise, J: what a tree has more at a step's end, %T1 + %U1, than at its start, %T0 + %U0, and than %power and
    %damping in this share of the step, if that is %resolved, explain; %sink: less. %scale: motion, J, or %T1, if more.
    """
    return f"""  %slows = fcmp ogt double {motion}, %T1
  %scale = select i1 %slows, double {motion}, double %T1
  %taken = fmul double {share}, %damping
  %given = fneg double %taken
  %little = fmul double %scale, {scalar_literal(LITTLE)}
  %resolved = fcmp ole double %given, %little
  %counted = select i1 %resolved, double %taken, double 0.0
  %driven = fmul double {share}, %power
  %work = fadd double %driven, %counted
  %faster = fsub double %T1, %T0
  %higher = fsub double %U1, %U0
  %gain = fadd double %faster, %higher
  %rise = fsub double %gain, %work
  %sink = fneg double %rise"""


_TREE = f"""  %row = mul i64 %i, {BALANCES}
  %pair = shl i64 %i, 1
{place("b", "double", "%before", "%row")}
{place("a", "double", "%after", "%row")}
{place("s", "double", "%spent", "%pair")}
{load("T0", "double", "%b", 0)}
{load("U0", "double", "%b", 1)}
{load("T1", "double", "%a", 0)}
{load("U1", "double", "%a", 1)}
{load("soft", "double", "%a", 3)}
{load("power", "double", "%s", 0)}
{load("damping", "double", "%s", 1)}
{load("most", "double", "%peaks", "%i")}
  %rises = fcmp ogt double %T0, %most
  %peak_here = select i1 %rises, double %T0, double %most
  store double %peak_here, ptr %most.p
{rise("%sixth", "%peak_here")}
  %known = fcmp ole double %soft, 0.0
  %hard = and i1 %known, %resolved
  %carried = fcmp olt double %soft, 0.0
  %sinks = fcmp olt double %rise, 0.0
  %told = and i1 %hard, %sinks
  %odd = select i1 %told, double %sink, double %rise
{load("high0", "double", "%b", 2)}
{load("high1", "double", "%a", 2)}
  %heights = fadd double %high0, %high1
  %energy = fadd double %T1, %heights
  %rounding = fmul double %energy, {scalar_literal(ROUNDING)}
  %part = select i1 %carried, double %less, double %own
  %allowance = fmul double %scale, %part
{load("lift", "double", "%b", 4)}
  %lifting = fmul double %lift, %shared
  %exact = fadd double %rounding, %lifting
  %allowed = fadd double %allowance, %exact
  %explained = fcmp ole double %odd, %allowed
  %left = select i1 %explained, double 0.0, double %odd
  %springs = fcmp oge double %soft, {scalar_literal(float(SPRING))}
  %theirs = and i1 %springs, %resolved
  %felt = fcmp ogt double %sink, %rounding
  %gone = and i1 %theirs, %felt
  %lost = select i1 %gone, double %sink, double 0.0
{load("damped.so_far", "double", "%damped", 0)}
  %damped.sum = fadd double %damped.so_far, %lost
  store double %damped.sum, ptr %damped.so_far.p
  %tree = uitofp i64 %i to double
  %trees = fmul double %tree, {scalar_literal(float(TREE))}
  %which = fadd double %trees, %soft
{place("most.damped", "double", "%damped", 1)}
  call void @larger(ptr %most.damped, double %lost, double %which)
  %more = fadd double %sum, %left"""
WATCH = counted_loop("clear", "ptr %x, i64 %n", "%n", f"{place('p', 'double', '%x', '%i')}\n  store double 0.0, ptr %p")
WATCH += f"""
define internal void @larger(ptr %most, double %x, double %which) nounwind {{
entry:
{load("so_far", "double", "%most", 0)}
{load("its", "double", "%most", 1)}
  %more = fcmp ogt double %x, %so_far
  %largest = select i1 %more, double %x, double %so_far
  %where = select i1 %more, double %which, double %its
  store double %largest, ptr %so_far.p
  store double %where, ptr %its.p
  ret void
}}
define internal double @unexplained(
  ptr %before, ptr %after, ptr %peaks, ptr %spent, double %sixth, double %share, i64 %n, ptr %damped
) nounwind {{
entry:
  call void @clear(ptr %damped, i64 3)
  %own = fmul double %share, {scalar_literal(ENERGY)}
  %shared = fmul double %share, %share
  %losing = fmul double %sixth, {scalar_literal(6.0 * LOSING)}
  %lower = fcmp olt double %losing, %own
  %less = select i1 %lower, double %losing, double %own
{counted("i", "%n", _TREE, carried=(("sum", "double", "0.0", "%more"),))}
  ret double %sum
}}
"""  # J, of all that have more than is allowed; 0 where everything is explained


def watched_sizes(sizes: Sizes) -> tuple[str, Operand, Operand, Operand]:
    """IR that makes names, how many trees a kernel's last outputs, behind its state and a velocity, have the powers of,
    how many these are, and how many numbers their energies are."""
    if isinstance(sizes.outputs, int) and isinstance(sizes.state, int) and isinstance(sizes.nv, int):
        powers = sizes.outputs - sizes.state - sizes.nv
        return "", powers // WATCHED, powers, BALANCES * powers // WATCHED
    text = f"""  %watched.behind = sub i64 {sizes.outputs}, {sizes.state}
  %powers = sub i64 %watched.behind, {sizes.nv}
  %watched = udiv i64 %powers, {WATCHED}
  %balances = mul i64 %watched, {BALANCES}
  %balances.bytes = shl i64 %balances, 3"""
    return text, "%watched", "%powers", "%balances"
