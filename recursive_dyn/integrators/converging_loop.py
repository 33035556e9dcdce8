"""The compiled loop of a rule whose step is found by Newton's method, and taken by another kernel when it is found.

Newton's method converges quadratically: after changes e_1 and e_2 of two of its steps the next one is
(e_2 / e_1)^2 e_2. Where changes do not fall to a half (Deuflhard 2004, Newton methods for nonlinear problems, 2.1: the
natural monotonicity test) there is another solution about, which is no motion: the step is to be halved.
"""

from __future__ import annotations

from recursive_dyn.codegen.drivers import NOT_CONVERGED
from recursive_dyn.codegen.ir_text import copy, load, place
from recursive_dyn.codegen.llvm import scalar_literal
from recursive_dyn.codegen.sizes import Sizes
from recursive_dyn.integrators.compiled_loop import BESIDE
from recursive_dyn.integrators.loop_text import (
    LIMITED,
    SWEPT_SO_FAR,
    WITHIN,
    evaluation,
    leaving,
    limit_check,
    opening,
    size_check,
    swept_step,
)

DONE = 1e-24  # squared relative change of the velocity of the middle, expected of the next step of Newton's method
ROUNDING = 1e-18  # the same, of what no longer falls to a quarter
MOST = 25  # steps of Newton's method, after which it does not converge
_USUAL = 5  # of them a step


def loop(entry: str, sizes: Sizes) -> str:
    """The kernel [q, v, tau, dt, v_middle] -> [v_middle, error] is iterated; the one beside it gives [q, v].

    What runs away to infinity has not converged either.
    """
    return f"""{WITHIN}
{opening(entry, sizes.inputs, LIMITED, SWEPT_SO_FAR, sizes.first)}
step:
{_memory(sizes)}
{copy("%m", "%v", sizes.nv)}
  %half = fmul double %h, 0.5
  br label %sweep
sweep:
  %k = phi i64 [ 0, %step ], [ %k1, %again ]
  %before = phi double [ {scalar_literal(1e-100)}, %step ], [ %e, %again ]
{evaluation(entry, sizes.asked, "%half")}
  %good = call i1 @rd.finite(ptr %out, i64 {sizes.outputs})
  br i1 %good, label %measure, label %lost
measure:
{copy("%m", "%out", sizes.nv)}
  %k1 = add i64 %k, 1
{load("e", "double", "%end", -1)}
{_settled()}
  br i1 %settled, label %arrive, label %judge
judge:
  %first = icmp eq i64 %k, 0
  %hopeful = or i1 %first, %falls
  br i1 %hopeful, label %again, label %lost
again:
  %tired = icmp sge i64 %k1, {MOST}
  br i1 %tired, label %lost, label %sweep
{leaving("lost", NOT_CONVERGED)}
arrive:
{_asked(sizes)}  call void %beside(ptr %in, ptr %next_state, ptr %room)
{size_check("%next_state", sizes.state, "lost")}
check:
{limit_check("%next_state")}
{swept_step("%next_state", sizes.state, _USUAL)}"""


def _memory(sizes: Sizes) -> str:
    """Names of what a step works with."""
    places = (
        ("v", "%in", sizes.nq), ("tau", "%v", sizes.nv), ("dt", "%tau", sizes.nv), ("m", "%dt", 1),
        ("end", "%out", sizes.outputs),
    )  # fmt: skip
    return "\n".join(
        [
            *(place(name, "double", base, index) for name, base, index in places),
            *(load(name, "ptr", "%work", BESIDE + i) for i, name in enumerate(("beside", "next_state", "room"))),
            load("h", "double", "%dt", 0),
        ]
    )


def _settled() -> str:
    """%settled: whether nothing is left to be found, or what is left is rounding."""
    return f"""  %small = fcmp ole double %e, {scalar_literal(DONE)}
  %ratio = fdiv double %e, %before
  %square = fmul double %ratio, %ratio
  %following = fmul double %square, %e
  %expected = fcmp ole double %following, {scalar_literal(DONE)}
  %falls = fcmp ole double %ratio, 0.25
  %stalls = xor i1 %falls, true
  %low = fcmp ole double %e, {scalar_literal(ROUNDING)}
  %rounded = and i1 %stalls, %low
  %found = or i1 %small, %expected
  %settled = or i1 %found, %rounded"""


def _asked(sizes: Sizes) -> str:
    """Forces for where the middle now is."""
    return "  call void @rd.ask(ptr %work, double %half)\n" if sizes.asked else ""
