"""Pieces of IR text that the loops of steps are made of.

Every loop is i64 ENTRY_run(in, out, scratch, work, count, ...): the kernel's input holds the state, which is advanced
in place and left at the last good one. It returns steps done * 2^CODE_BITS + the code of why it ended, see ``drivers``.

A loop with ``LIMITED`` arguments also ends, with the code AT_LIMIT, before a step whose end is beyond a limit. limits:
lows (limited,), then highs, of the first numbers of the configuration; infinite where there are none. limited is a
multiple of 8, or 0 to take any step. With large = 0 it ends, with the code LARGE, before a step with large results.

Sizes are operands: literals, or names of what the machine code reads when it is called (see ``emitting.sizes``).
"""

from __future__ import annotations

from recursive_dyn.codegen.emitting.drivers import (
    AT_LIMIT,
    BAD_INPUT,
    BAD_OUTPUT,
    CODE_BITS,
    LARGE,
    OK,
    counted_loop,
    no_lane,
)
from recursive_dyn.codegen.emitting.ir_text import copy, load, place, scalar_literal
from recursive_dyn.codegen.emitting.sizes import Operand
from recursive_dyn.integrators.compiled_loop import ASKED, HEAD, SWEPT, TALLY

LIMITED = ", ptr %limits, i64 %limited, i64 %large"  # more arguments, of loops that end before such steps

_EIGHT = f"""{load("x", "<8 x double>", "%q", "%i", "double")}
{load("l", "<8 x double>", "%limits", "%i", "double")}
{load("h", "<8 x double>", "%high", "%i", "double")}
  %under = fcmp olt <8 x double> %x, %l
  %over = fcmp ogt <8 x double> %x, %h
  %either = or <8 x i1> %under, %over
  %found = or <8 x i1> %before, %either"""
WITHIN = no_lane("within", "ptr %q, ptr %limits", _EIGHT, place("high", "double", "%limits", "%n"))


SWEPT_SO_FAR = "\n  %swept = phi i64 [ 0, %entry ], [ %total, %accept ]"  # see ``swept_step``


def opening(entry: str, inputs: Operand, arguments: str = "", carried: str = "", first: str = "") -> str:
    """The loop's head: %done of %count steps are taken; ``step`` and ``accept``, which makes %next, are to follow.

    carried: more values (phi) that the head takes over from ``accept``; first: what makes the names of sizes.
    """
    return f"""define i64 @{entry}_run(ptr %in, ptr %out, ptr %scratch, ptr %work, i64 %count{arguments}) {{
entry:
{first}
  %fine = call i1 @rd.finite(ptr %in, i64 {inputs})
  br i1 %fine, label %head, label %refuse
refuse:
  ret i64 {BAD_INPUT}
head:
  %done = phi i64 [ 0, %entry ], [ %next, %accept ]{carried}
  %more = icmp slt i64 %done, %count
  br i1 %more, label %step, label %finish
{leaving("finish", OK)}
{leaving("fail", BAD_OUTPUT)}"""


def leaving(label: str, code: int, first: str = "") -> str:
    """A block that ends the loop after %done steps; first: IR of what it does before."""
    return f"""{label}:
{first}  %{label}.done = shl i64 %done, {CODE_BITS}
  %{label}.told = or i64 %{label}.done, {code}
  ret i64 %{label}.told"""


def limit_check(q: str, beyond: str = "stop", onward: str = "accept", back: str = "") -> str:
    """Go on to ``onward`` if the configuration at q is within the limits, else to the label ``beyond``; back: IR of
    what is done before the loop is left."""
    return f"""  %inside = call i1 @within(ptr {q}, ptr %limits, i64 %limited)
  br i1 %inside, label %{onward}, label %{beyond}
{leaving("stop", AT_LIMIT, back)}"""


def size_check(result: str, size: Operand, fail: str = "fail", beyond: str = "doubt", back: str = "") -> str:
    """Go on to ``check`` if a step's numbers are moderate or %large is 1, else to ``beyond``; ``fail``: not finite;
    back: IR of what is done before the loop is left."""
    return f"""  %moderate = call i1 @rd.moderate(ptr {result}, i64 {size})
  br i1 %moderate, label %check, label %look
look:
  %finite = call i1 @rd.finite(ptr {result}, i64 {size})
  br i1 %finite, label %weigh, label %{fail}
weigh:
  %taken.large = icmp ne i64 %large, 0
  br i1 %taken.large, label %check, label %{beyond}
{leaving("doubt", LARGE, back)}"""


def swept_step(end: str, state: Operand, usual: int) -> str:
    """From ``accept`` to the end of a loop with ``SWEPT_SO_FAR``: a step that took %k1 sweeps ends at ``end``; usual:
    of them a step."""
    return f"""accept:
{copy("%in", end, state)}
  %next = add i64 %done, 1
  %total = add i64 %swept, %k1
{swept("%k1")}
{pausing(usual)}
}}
"""


def swept(sweeps: str) -> str:
    """So many sweeps are counted."""
    return f"""{load("all", "double", "%work", TALLY + SWEPT)}
  %own = uitofp i64 {sweeps} to double
  %sum = fadd double %all, %own
  store double %sum, ptr %all.p"""


def pausing(usual: int) -> str:
    """On to the next step; a run that needs more than so many sweeps a step, which is usual, ends early, so that a
    caller may look up as often as it wants to."""
    return f"""  %allowed = mul i64 %count, {usual}
  %long = icmp sgt i64 %total, %allowed
  br i1 %long, label %pause, label %head
pause:
  %taken = shl i64 %next, {CODE_BITS}
  ret i64 %taken"""


ASK = f"""define internal void @rd.ask(ptr %work, double %when) {{
entry:
{load("who", "ptr", "%work", ASKED)}
  %nobody = icmp eq ptr %who, null
  br i1 %nobody, label %return, label %call
call:
  call void %who(double %when)
  br label %return
return:
  ret void
}}
"""  # who is asked writes forces into the kernel's input; when: time since the step's start


def evaluation(entry: str, asked: bool, when: str) -> str:
    """The kernel called at a stage of a step, after whoever is to be asked for forces there."""
    ask = f"  call void @rd.ask(ptr %work, double {when})\n" if asked else ""
    return f"{ask}  call void @{entry}(ptr %in, ptr %out, ptr %scratch)"


def classical_stages(entry: str, state: Operand, asked: bool = False) -> str:
    """One step of the first ``state`` inputs along the kernel's rates by the classical Runge-Kutta method.

    work = [h, ..., x0, sum of slopes]; the block ``back`` restores x0 and fails.
    """
    stages = []
    for stage, (weight, reach) in enumerate(((1.0, 0.5), (2.0, 0.5), (2.0, 1.0), (1.0, 0.0))):
        stages.append(f"""{evaluation(entry, asked, f"%reach{stage - 1}" if stage else "0.0")}
  %good{stage} = call i1 @rd.finite(ptr %out, i64 {state})
  br i1 %good{stage}, label %stage{stage}, label %back
stage{stage}:
  call void @accumulate(ptr %sum, ptr %out, double {scalar_literal(weight)}, i64 {0 if stage == 0 else 1},\
 i64 {state})""")
        if reach:
            stages.append(f"""  %reach{stage} = fmul double %h, {scalar_literal(reach)}
  call void @advance(ptr %in, ptr %x0, double %reach{stage}, ptr %out, i64 {state})""")
    return f"""back:
{copy("%in", "%x0", state)}
  br label %fail
step:
{load("h", "double", "%work", 0)}
{place("x0", "double", "%work", HEAD)}
{place("sum", "double", "%x0", state)}
{copy("%x0", "%in", state)}
{chr(10).join(stages)}
  %sixth = fmul double %h, {scalar_literal(1.0 / 6.0)}
  call void @advance(ptr %in, ptr %x0, double %sixth, ptr %sum, i64 {state})"""


def advancing() -> str:
    """y = x0 + s * x, of ``size`` doubles."""
    advance = f"""{load("a", "double", "%x0", "%i")}
{load("v", "double", "%x", "%i")}
  %p = fmul double %v, %s
  %r = fadd double %a, %p
{place("target", "double", "%y", "%i")}
  store double %r, ptr %target"""
    return counted_loop("advance", "ptr %y, ptr %x0, double %s, ptr %x, i64 %size", "%size", advance)


def stage_helpers() -> str:
    """sum = keep * sum + w * x, of ``size`` doubles, and ``advancing``."""
    accumulate = f"""{load("s", "double", "%sum", "%i")}
{load("v", "double", "%x", "%i")}
  %old = icmp eq i64 %keep, 0
  %base = select i1 %old, double 0.0, double %s
  %p = fmul double %v, %w
  %r = fadd double %base, %p
  store double %r, ptr %s.p"""
    arguments = "ptr %sum, ptr %x, double %w, i64 %keep, i64 %size"
    return counted_loop("accumulate", arguments, "%size", accumulate) + advancing()
