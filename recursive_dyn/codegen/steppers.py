"""Compiled runs of sub-steps, as LLVM IR text, one driver an integrator.

Each is i64 ENTRY_run(in, out, scratch, work, count): the kernel's input starts with the state [q, v], which is advanced
in place and left at the last good state. Returns 4 * (steps done) + code, the code as in ``drivers``.
"""

from __future__ import annotations

from collections.abc import Sequence

from recursive_dyn.codegen.drivers import BAD_INPUT, BAD_OUTPUT, NOT_CONVERGED, counted_loop
from recursive_dyn.codegen.llvm import scalar_literal

_TOLERANCE = 1e-24  # squared relative change of the midpoint velocity at which its iteration has converged
_ITERATIONS = 100


def _open(entry: str, inputs: int, more: str = "") -> str:
    return f"""define i64 @{entry}_run(ptr %in, ptr %out, ptr %scratch, ptr %work, i64 %count{more}) {{
entry:
  %fine = call i1 @rd.finite(ptr %in, i64 {inputs})
  br i1 %fine, label %head, label %refuse
refuse:
  ret i64 {BAD_INPUT}
head:
  %done = phi i64 [ 0, %entry ], [ %next, %accept ]
  %more = icmp slt i64 %done, %count
  br i1 %more, label %step, label %finish
finish:
  %all = shl i64 %done, 2
  ret i64 %all
fail:
  %some = shl i64 %done, 2
  %bad = or i64 %some, {BAD_OUTPUT}
  ret i64 %bad
"""


def _copy(target: str, source: str, size: int) -> str:
    return f"  call void @llvm.memcpy.p0.p0.i64(ptr {target}, ptr {source}, i64 {8 * size}, i1 0)"


def euler(entry: str, inputs: int, outputs: int, state: int) -> str:
    """The kernel maps the state to the next one."""
    return f"""{_open(entry, inputs)}
step:
  call void @{entry}(ptr %in, ptr %out, ptr %scratch)
  %good = call i1 @rd.finite(ptr %out, i64 {outputs})
  br i1 %good, label %accept, label %fail
accept:
{_copy("%in", "%out", state)}
  %next = add i64 %done, 1
  br label %head
}}
"""


def midpoint(entry: str, inputs: int, outputs: int, nq: int, nv: int) -> str:
    """The kernel [q, v, tau, dt, v_middle] -> [q, v, v_middle, error] is iterated until v_middle stands still.

    An iteration that runs away to infinity has not converged either.
    """
    guess, error = nq + 2 * nv + 1, nq + 2 * nv
    return f"""{_open(entry, inputs)}
step:
  %v = getelementptr double, ptr %in, i64 {nq}
  %m = getelementptr double, ptr %in, i64 {guess}
{_copy("%m", "%v", nv)}
  br label %sweep
sweep:
  %k = phi i64 [ 0, %step ], [ %k1, %again ]
  call void @{entry}(ptr %in, ptr %out, ptr %scratch)
  %good = call i1 @rd.finite(ptr %out, i64 {outputs})
  br i1 %good, label %measure, label %lost
measure:
  %ep = getelementptr double, ptr %out, i64 {error}
  %e = load double, ptr %ep
  %settled = fcmp ole double %e, {scalar_literal(_TOLERANCE)}
  br i1 %settled, label %accept, label %again
again:
  %better = getelementptr double, ptr %out, i64 {nq + nv}
{_copy("%m", "%better", nv)}
  %k1 = add i64 %k, 1
  %tired = icmp sge i64 %k1, {_ITERATIONS}
  br i1 %tired, label %lost, label %sweep
lost:
  %here = shl i64 %done, 2
  %why = or i64 %here, {NOT_CONVERGED}
  ret i64 %why
accept:
{_copy("%in", "%out", nq + nv)}
  %next = add i64 %done, 1
  br label %head
}}
"""


def runge_kutta(entry: str, inputs: int, state: int, quaternions: Sequence[int]) -> str:
    """Classical RK4 over the kernel's rates; quaternions are normed once a step. work = [h, x0, sum of slopes]."""
    norms = "\n".join(f"  call void @unit(ptr %in, i64 {first})" for first in quaternions)
    return f"""{_vector_helpers(state)}
{_open(entry, inputs)}
{_classical_stages(entry, state)}
{norms}
  %end = call i1 @rd.finite(ptr %in, i64 {inputs})
  br i1 %end, label %accept, label %back
accept:
  %next = add i64 %done, 1
  br label %head
}}
"""


def munthe_kaas(entry: str, inputs: int, state: int, nq: int) -> str:
    """Classical RK4 over the rates of a displacement u, of v and maybe of a clock, then a landing where u leads to.

    The kernel maps [u, v, clock, q, ...] to the rates of the first ``state`` of them, up to q. i64 ENTRY_run(...,
    count, land, place, notes) is given one more kernel of the same input, with its output and scratch: ``land`` makes
    [u = 0, v, clock, q] of the next step. work is that of ``runge_kutta``.
    """
    return f"""{_vector_helpers(state)}
{_open(entry, inputs, ", ptr %land, ptr %place, ptr %notes")}
{_classical_stages(entry, state)}
  call void %land(ptr %in, ptr %place, ptr %notes)
  %end = call i1 @rd.finite(ptr %place, i64 {state + nq})
  br i1 %end, label %accept, label %back
accept:
{_copy("%in", "%place", state + nq)}
  %next = add i64 %done, 1
  br label %head
}}
"""


def _classical_stages(entry: str, state: int) -> str:
    """One step of the first ``state`` inputs along the kernel's rates; they are left at its start where it fails."""
    stages = []
    for stage, (weight, reach) in enumerate(((1.0, 0.5), (2.0, 0.5), (2.0, 1.0), (1.0, 0.0))):
        stages.append(f"""  call void @{entry}(ptr %in, ptr %out, ptr %scratch)
  %good{stage} = call i1 @rd.finite(ptr %out, i64 {state})
  br i1 %good{stage}, label %stage{stage}, label %back
stage{stage}:
  call void @accumulate(ptr %sum, ptr %out, double {scalar_literal(weight)}, i64 {0 if stage == 0 else 1})""")
        if reach:
            stages.append(f"""  %reach{stage} = fmul double %h, {scalar_literal(reach)}
  call void @advance(ptr %in, ptr %x0, double %reach{stage}, ptr %out)""")
    return f"""back:
{_copy("%in", "%x0", state)}
  br label %fail
step:
  %h = load double, ptr %work
  %x0 = getelementptr double, ptr %work, i64 8
  %sum = getelementptr double, ptr %work, i64 {8 + state}
{_copy("%x0", "%in", state)}
{chr(10).join(stages)}
  %sixth = fmul double %h, {scalar_literal(1.0 / 6.0)}
  call void @advance(ptr %in, ptr %x0, double %sixth, ptr %sum)"""


def _vector_helpers(state: int) -> str:
    """sum = keep * sum + w * x; y = x0 + s * x; and x /= |x| of four."""
    accumulate = """  %sp = getelementptr double, ptr %sum, i64 %i
  %xp = getelementptr double, ptr %x, i64 %i
  %s = load double, ptr %sp
  %v = load double, ptr %xp
  %old = icmp eq i64 %keep, 0
  %base = select i1 %old, double 0.0, double %s
  %p = fmul double %v, %w
  %r = fadd double %base, %p
  store double %r, ptr %sp"""
    advance = """  %yp = getelementptr double, ptr %y, i64 %i
  %ap = getelementptr double, ptr %x0, i64 %i
  %xp = getelementptr double, ptr %x, i64 %i
  %a = load double, ptr %ap
  %v = load double, ptr %xp
  %p = fmul double %v, %s
  %r = fadd double %a, %p
  store double %r, ptr %yp"""
    unit = """define internal void @unit(ptr %x, i64 %first) {
  %p = getelementptr double, ptr %x, i64 %first
  %q = load <4 x double>, ptr %p, align 8
  %s = fmul <4 x double> %q, %q
  %n = call double @llvm.vector.reduce.fadd.v4f64(double 0.0, <4 x double> %s)
  %r = call double @llvm.sqrt.f64(double %n)
  %o = insertelement <4 x double> poison, double %r, i32 0
  %b = shufflevector <4 x double> %o, <4 x double> poison, <4 x i32> zeroinitializer
  %u = fdiv <4 x double> %q, %b
  store <4 x double> %u, ptr %p, align 8
  ret void
}
declare double @llvm.vector.reduce.fadd.v4f64(double, <4 x double>)
declare double @llvm.sqrt.f64(double)
"""
    return (
        counted_loop("accumulate", "ptr %sum, ptr %x, double %w, i64 %keep", state, accumulate)
        + counted_loop("advance", "ptr %y, ptr %x0, double %s, ptr %x", state, advance)
        + unit
    )
