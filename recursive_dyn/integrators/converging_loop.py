"""The compiled loop of a rule whose step is found by Newton's method.

The kernel takes a step of Newton's method and more by the same factors, and tells how long the first two and the last
of these changes were, and how long the next one would be. Where the second one is not half as long as the first
(Deuflhard 2004, Newton methods for nonlinear problems, 2.1: the natural monotonicity test) there is another solution
about, which is no motion: the step is to be halved. Where forces are asked for, which are the same for all steps of a
call, changes are those from call to call. Steps of one that is not ``natural`` are weighed (``explained_steps``).

A step of a ``natural`` one begins where the last ones lead on (``foretold``), and may be in parts (``finer_steps``).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from recursive_dyn.codegen.emitting.drivers import NOT_CONVERGED
from recursive_dyn.codegen.emitting.ir_text import copy, load, place, scalar_literal
from recursive_dyn.codegen.emitting.sizes import Sizes
from recursive_dyn.integrators import explained_steps, finer_steps, foretold
from recursive_dyn.integrators.loop_text import (
    LIMITED,
    SWEPT_SO_FAR,
    WITHIN,
    evaluation,
    leaving,
    limit_check,
    opening,
    pausing,
    size_check,
    swept,
    swept_step,
)

CHANGES = 4  # squares that the kernel tells: of Newton's change, the second, the last, and the next one
MADE = 4  # numbers before these, of a natural one, J: made of nothing, its measure, motion at the start and the end
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
    infinity has not converged either. One that is not natural has powers before its changes.

    left: squared relative change that need not be made; most: calls, after which it does not converge; usual: of them a
    step; natural: whether the second change tells that there is another solution about. If it does not the kernel tells
    the middle's size before its changes, squared: what runs away from that of the first call has not converged.
    """
    return partial(_loop, left, most, usual, natural)


def _loop(left: float, most: int, usual: int, natural: bool, entry: str, sizes: Sizes) -> str:
    own = (
        foretold.known(sizes) + "\n" + finer_steps.cells(sizes)
        if natural
        else explained_steps.names(sizes, 1 + CHANGES)
    )
    back = finer_steps.undone(sizes) if natural else ""
    begun = "part" if natural else "begun"
    return f"""{WITHIN}
{foretold.HELPERS if natural else explained_steps.HELPERS}
{opening(entry, sizes.inputs, LIMITED, SWEPT_SO_FAR, f"{sizes.first}{chr(10)}{own}")}
step:
{place("v", "double", "%in", sizes.nq)}
{place("tau", "double", "%v", sizes.nv)}
{place("dt", "double", "%tau", sizes.nv)}
{place("m", "double", "%dt", 1)}
{place("better", "double", "%out", sizes.state)}
{place("end", "double", "%out", sizes.outputs)}
{_part(sizes) if natural else _whole(sizes)}
  br label %sweep
sweep:
  %k = phi i64 [ 0, %{begun} ], [ %k1, %again ]
  %called = phi double [ {scalar_literal(1e-100)}, %{begun} ], [ %newton, %again ]
  %known = phi double [ {scalar_literal(np.inf)}, %{begun} ], [ %beyond, %again ]
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
{size_check("%out", sizes.state, "lost", back=back)}
check:
{limit_check("%out", onward="land" if natural else "weighed", back=back)}
{_landed(sizes, usual) if natural else explained_steps.judged(sizes) + swept_step("%out", sizes.state, usual)}"""


def _whole(sizes: Sizes) -> str:
    """How a step begins."""
    return f"""{load("h", "double", "%dt", 0)}
{copy("%m", "%v", sizes.nv)}
  %half = fmul double %h, 0.5
{explained_steps.begun(sizes)}"""


def _part(sizes: Sizes) -> str:
    """How a step begins, and a part of one, as the last ones lead on, or by the velocity that there is."""
    return f"""{finer_steps.begun(sizes)}
  br label %part
part:
  %number = phi double [ 0.0, %step ], [ %number.next, %go.on ], [ %number, %plainly ]
  %swept.before = phi i64 [ %swept, %step ], [ %sweeps, %go.on ], [ %swept.before, %plainly ]
  %anew = phi i1 [ false, %step ], [ false, %go.on ], [ true, %plainly ]
  %first.part = fcmp oeq double %number, 0.0
  %first.step = icmp eq i64 %done, 0
  %begins.run = and i1 %first.part, %first.step
  %nothing = xor i1 %goes.on, true
  %unknown = and i1 %begins.run, %nothing
  %plain = or i1 %anew, %unknown
  call void @advance(ptr %m, ptr %v, double %h, ptr %rate, i64 {sizes.nv})
  %behind = fmul double %number, %h
  %half.part = fmul double %h, 0.5
  %half = fadd double %behind, %half.part"""


def _landed(sizes: Sizes, usual: int) -> str:
    """From ``land``, where a part of a step ends, to the end of the loop."""
    return f"""land:
{copy("%in", "%out", sizes.state)}
{foretold.left(sizes)}{finer_steps.added(-CHANGES - MADE)}
  %sweeps = add i64 %swept.before, %k1
{swept("%k1")}
  %number.next = fadd double %number, 1.0
  %arrived = fcmp oge double %number.next, %parts
  br i1 %arrived, label %ended, label %go.on
go.on:
  br label %part
ended:
{finer_steps.weighed(-CHANGES - MADE)}
  br i1 %again.finer, label %finer.now, label %keep
finer.now:
{finer_steps.twice(sizes)}{_FORGOTTEN.format(nv=sizes.nv)}
  br label %accept
keep:
{finer_steps.judged(-CHANGES - MADE)}
  br label %accept
accept:
  %taken.now = phi i64 [ 0, %finer.now ], [ 1, %keep ]
  %total = phi i64 [ %swept, %finer.now ], [ %sweeps, %keep ]
  %next = add i64 %done, %taken.now
{pausing(usual)}
}}
"""


def _lost(sizes: Sizes) -> str:
    """Try once more where the step began otherwise, else leave; of the state nothing is known any more."""
    nowhere = f"  store double {scalar_literal(np.nan)}, ptr %place\n"
    return f"""lost:
{_FORGOTTEN.format(nv=sizes.nv)}
  br i1 %plain, label %leave, label %plainly
plainly:
  br label %part
{leaving("leave", NOT_CONVERGED, nowhere + finer_steps.undone(sizes))}"""


_FORGOTTEN = """  call void @kept(ptr %rate, i1 false, i64 {nv})
  call void @kept(ptr %led, i1 false, i64 1)"""  # how the last steps went
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
