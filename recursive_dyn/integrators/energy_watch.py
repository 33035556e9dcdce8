"""What the watch on energy asks of a part of a step: of each tree, or of what is connected, against its own energy.

Numbers of all of them one after the other: before (n, 4): kinetic energy T, potential and elastic energy U, the size of
the numbers that U is made of, and one that is not looked at; after (n, 4): the same, and whether anything takes energy;
peaks (n,): T so far; spent (n,): power, by the weights of the stages.
"""

from __future__ import annotations

from recursive_dyn.codegen.emitting.drivers import counted_loop
from recursive_dyn.codegen.emitting.ir_text import counted, load, place
from recursive_dyn.codegen.emitting.llvm import scalar_literal
from recursive_dyn.codegen.emitting.sizes import Operand, Sizes

ENERGY = 1e-4  # of the kinetic energy, that a step may leave unexplained
ROUNDING = 1e-12  # of the energies that a balance is made of
WATCHED, BALANCES = 1, 4  # numbers of each tree: its power, its energies

_TREE = f"""  %row = shl i64 %i, 2
{place("b", "double", "%before", "%row")}
{place("a", "double", "%after", "%row")}
{load("T0", "double", "%b", 0)}
{load("U0", "double", "%b", 1)}
{load("T1", "double", "%a", 0)}
{load("U1", "double", "%a", 1)}
{load("soft", "double", "%a", 3)}
{load("power", "double", "%spent", "%i")}
  %work = fmul double %sixth, %power
  %faster = fsub double %T1, %T0
  %higher = fsub double %U1, %U0
  %gain = fadd double %faster, %higher
  %rise = fsub double %gain, %work
  %sink = fneg double %rise
  %hard = fcmp oeq double %soft, 0.0
  %sinks = fcmp olt double %rise, 0.0
  %told = and i1 %hard, %sinks
  %odd = select i1 %told, double %sink, double %rise
{load("most", "double", "%peaks", "%i")}
  %rises = fcmp ogt double %T0, %most
  %peak_here = select i1 %rises, double %T0, double %most
  store double %peak_here, ptr %most.p
  %slows = fcmp ogt double %peak_here, %T1
  %scale = select i1 %slows, double %peak_here, double %T1
{load("high0", "double", "%b", 2)}
{load("high1", "double", "%a", 2)}
  %heights = fadd double %high0, %high1
  %energy = fadd double %T1, %heights
  %rounding = fmul double %energy, {scalar_literal(ROUNDING)}
  %allowance = fmul double %scale, %own
  %allowed = fadd double %allowance, %rounding
  %explained = fcmp ole double %odd, %allowed
  %left = select i1 %explained, double 0.0, double %odd
  %more = fadd double %sum, %left"""
WATCH = counted_loop("clear", "ptr %x, i64 %n", "%n", f"{place('p', 'double', '%x', '%i')}\n  store double 0.0, ptr %p")
WATCH += f"""
define internal double @unexplained(
  ptr %before, ptr %after, ptr %peaks, ptr %spent, double %sixth, double %share, i64 %n
) nounwind {{
entry:
  %own = fmul double %share, {scalar_literal(ENERGY)}
{counted("i", "%n", _TREE, carried=(("sum", "double", "0.0", "%more"),))}
  ret double %sum
}}
"""  # J, of all that have more than is allowed; 0 where everything is explained


def watched_sizes(sizes: Sizes) -> tuple[str, Operand, Operand]:
    """IR that makes names, how many trees a kernel's last outputs, behind its state and a velocity, have the power of,
    and how many numbers their energies are."""
    if isinstance(sizes.outputs, int) and isinstance(sizes.state, int) and isinstance(sizes.nv, int):
        count = sizes.outputs - sizes.state - sizes.nv
        return "", count, BALANCES * count
    text = f"""  %watched.behind = sub i64 {sizes.outputs}, {sizes.state}
  %watched = sub i64 %watched.behind, {sizes.nv}
  %balances = mul i64 %watched, {BALANCES}
  %balances.bytes = shl i64 %balances, 3"""
    return text, "%watched", "%balances"
