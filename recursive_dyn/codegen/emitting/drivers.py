"""Compiled loops around a kernel, as LLVM IR text: one checked call, a batch of scenes, a run of sub-steps.

Buffers are padded to a multiple of 8 doubles with zeros, so that the check for NaN and infinity reads whole registers:
the sum of x * 0 over a buffer is 0 exactly when every x is finite.
"""

from __future__ import annotations

from recursive_dyn.codegen.emitting.ir_text import attributes, copy, counted, load, place, scalar_literal
from recursive_dyn.codegen.emitting.sizes import Operand
from recursive_dyn.codegen.emitting.transposing import shuffle_block

PAD = 8
BATCH_ARGUMENTS = "ptr %sources, ptr %strides, ptr %targets, i64 %first, i64 %count, ptr %in, ptr %out, ptr %scratch"
OK, BAD_INPUT, BAD_OUTPUT, NOT_CONVERGED, AT_LIMIT, LARGE, UNEXPLAINED = range(7)  # why a call, or a loop, ended
MODERATE = 1e6  # results beyond it are right, or what rounding leaves of a singular system: worth a second look
CODE_BITS = 3


def no_lane(name: str, arguments: str, body: str, first: str = "") -> str:
    """i1 NAME(arguments, n): whether no lane of n numbers is %found by ``body`` or was %before, eight at a time from %i
    on; first: what comes before them."""
    return f"""
define internal i1 @{name}({arguments}, i64 %n) nounwind{attributes(8)} {{
entry:
{first}
{counted("i", "%n", body, step=8, carried=(("before", "<8 x i1>", "zeroinitializer", "%found"),))}
  %any = call i1 @llvm.vector.reduce.or.v8i1(<8 x i1> %before)
  %good = xor i1 %any, true
  ret i1 %good
}}"""


_REGISTER = load("v", "<8 x double>", "%x", "%i", "double")
_SUMMED = f"""{_REGISTER}
  %term = fmul <8 x double> %v, zeroinitializer
  %sum = fadd <8 x double> %acc, %term"""
_COMPARED = f"""{_REGISTER}
  %size = call <8 x double> @llvm.fabs.v8f64(<8 x double> %v)
  %over = fcmp ugt <8 x double> %size, splat (double {scalar_literal(MODERATE)})
  %found = or <8 x i1> %before, %over"""
_FINITE = f"""
define internal i1 @rd.finite(ptr %x, i64 %n){attributes(8)} {{
entry:
{counted("i", "%n", _SUMMED, step=8, carried=(("acc", "<8 x double>", "zeroinitializer", "%sum"),))}
  %good = fcmp oeq <8 x double> %acc, zeroinitializer
  %all = call i1 @llvm.vector.reduce.and.v8i1(<8 x i1> %good)
  ret i1 %all
}}{no_lane("rd.moderate", "ptr %x", _COMPARED)}
declare <8 x double> @llvm.fabs.v8f64(<8 x double>)
declare i1 @llvm.vector.reduce.and.v8i1(<8 x i1>)
declare i1 @llvm.vector.reduce.or.v8i1(<8 x i1>)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
"""


def padded(size: int) -> int:
    """Buffer length in doubles."""
    return -(-size // PAD) * PAD


def module(entry: str, *bodies: str) -> str:
    """One IR module of the drivers around a kernel, which is of another module; "" where it is one of the bodies."""
    kernel = [f"declare void @{entry}(ptr, ptr, ptr)"] if entry else []
    return "\n".join([_FINITE, *kernel, *bodies])


def call_driver(entry: str, inputs: Operand, outputs: Operand, first: str = "") -> str:
    """i64 ENTRY_call(in, out, scratch): run once; OK, BAD_INPUT, BAD_OUTPUT or, with a result to look at, LARGE.

    first: what makes the names of sizes.
    """
    return f"""define i64 @{entry}_call(ptr %in, ptr %out, ptr %scratch) {{
{first}
  %a = call i1 @rd.finite(ptr %in, i64 {inputs})
  br i1 %a, label %run, label %bad
bad:
  ret i64 {BAD_INPUT}
run:
  call void @{entry}(ptr %in, ptr %out, ptr %scratch)
  %b = call i1 @rd.moderate(ptr %out, i64 {outputs})
  br i1 %b, label %good, label %look
good:
  ret i64 {OK}
look:
  %c = call i1 @rd.finite(ptr %out, i64 {outputs})
  %code = select i1 %c, i64 {LARGE}, i64 {BAD_OUTPUT}
  ret i64 %code
}}
"""


def batch_driver(entry: str, segments: list[int], outputs: list[int], width: int) -> str:
    """i64 ENTRY_batch(sources, strides, targets, first, count, in, out, scratch).

    sources, targets: arrays of pointers, one a segment, to rows of doubles; strides: doubles between a source's rows (0
    repeats one row). Rows first .. first + count - 1 are computed, ``width`` at a time; the last block repeats its last
    row. Returns 0, or 2 * row + 1 / + 2 with row the first row of the first block with a bad input / output, plus 1.
    """
    blocks = [_read_block(k, size, width) for k, size in enumerate(segments) if size]
    blocks += [_write_block(k, size, width) for k, size in enumerate(outputs) if size]
    return (
        "\n".join(blocks)
        + f"""
define i64 @{entry}_batch({BATCH_ARGUMENTS}) {{
entry:
  %stop = add i64 %first, %count
  %last = sub i64 %stop, 1
{every_row(entry, _reads(segments, width), _writes(outputs, width), sum(segments) * width, sum(outputs) * width, width)}
"""
    )


def every_row(entry: str, reads: str, writes: str, inputs: Operand, outputs: Operand, width: int = 1) -> str:
    """The rest of a batch: rows %first .. %stop - 1 are read, computed and written, ``width`` at a time."""
    body = f"""{reads}
  %a = call i1 @rd.finite(ptr %in, i64 {inputs})
  br i1 %a, label %run, label %badin
badin:
  %ri = shl i64 %row, 1
  %ci = add i64 %ri, 1
  ret i64 %ci
run:
  call void @{entry}(ptr %in, ptr %out, ptr %scratch)
  %b = call i1 @rd.finite(ptr %out, i64 {outputs})
  br i1 %b, label %write, label %badout
badout:
  %ro = shl i64 %row, 1
  %co = add i64 %ro, 2
  ret i64 %co
write:
{writes}"""
    return f"""{counted("row", "%stop", body, first="%first", step=width)}
  ret i64 0
}}"""


def _reads(segments: list[int], width: int) -> str:
    """Every source's rows into the kernel's input."""
    return "\n".join(
        f"""{load(f"s{k}", "ptr", "%sources", k)}
{load(f"t{k}", "i64", "%strides", k)}
{place(f"d{k}", "double", "%in", sum(segments[:k]) * width)}
  call void @read{k}(ptr %s{k}, i64 %t{k}, i64 %row, i64 %last, ptr %d{k})"""
        for k, size in enumerate(segments)
        if size
    )


def _writes(outputs: list[int], width: int) -> str:
    """The kernel's output into every target's rows."""
    return "\n".join(
        f"""{load(f"o{k}", "ptr", "%targets", k)}
{place(f"e{k}", "double", "%out", sum(outputs[:k]) * width)}
  call void @write{k}(ptr %o{k}, i64 %row, i64 %last, ptr %e{k})"""
        for k, size in enumerate(outputs)
        if size
    )


def counted_loop(name: str, arguments: str, size: Operand, body: str, first: str = "") -> str:
    """A function with a loop over i = 0 .. size - 1; first: what comes before it."""
    return f"""define internal void @{name}({arguments}) nounwind{attributes(8)} {{
entry:
{first}
{counted("i", size, body)}
  ret void
}}
"""


def _read_block(k: int, size: int, width: int) -> str:
    """Rows row .. row + width - 1 (not past last) of a source, transposed into the kernel's input."""
    return _block(f"read{k}", ", i64 %stride", "%stride", size, width, reading=True)


def _write_block(k: int, size: int, width: int) -> str:
    """The kernel's output, transposed back into rows row .. row + width - 1 (not past last) of a target."""
    # Lanes past the last row are sent to the last row BEFORE its own lane writes it: lanes are stored in falling order.
    return _block(f"write{k}", "", size, size, width, reading=False)


def _block(name: str, more: str, stride: Operand, size: int, width: int, reading: bool) -> str:
    """void NAME(s, more, row, last, d): rows of s, ``stride`` apart, in the lanes of d, or back."""
    arguments = f"ptr %s{more}, i64 %row, i64 %last, ptr %d"
    if width == 1:
        return f"""define internal void @{name}({arguments}) nounwind {{
  %offset = mul i64 %row, {stride}
{place("p", "double", "%s", "%offset")}
{copy("%d", "%p", size) if reading else copy("%p", "%d", size)}
  ret void
}}
"""
    lanes = "\n".join(
        f"""  %r{l} = add i64 %row, {l}
  %c{l} = icmp slt i64 %r{l}, %last
  %w{l} = select i1 %c{l}, i64 %r{l}, i64 %last
  %f{l} = mul i64 %w{l}, {stride}
{place(f"b{l}", "double", "%s", f"%f{l}")}"""
        for l in range(width)
    )
    return _transposing(name, arguments, size, width, lanes, reading)


def _transposing(name: str, arguments: str, size: int, width: int, lanes: str, reading: bool) -> str:
    """Blocks of width x width through a shuffle network; what is left over element by element."""
    whole = size // width * width
    single = []
    for l in reversed(range(width)):
        source, target = (f"%p{l}", f"%z{l}") if reading else (f"%z{l}", f"%p{l}")
        single.append(f"""{place(f"p{l}", "double", f"%b{l}", "%i")}
  %x{l} = mul i64 %i, {width}
  %y{l} = add i64 %x{l}, {l}
{place(f"z{l}", "double", "%d", f"%y{l}")}
  %v{l} = load double, ptr {source}
  store double %v{l}, ptr {target}""")
    return f"""define internal void @{name}({arguments}) nounwind{attributes(width)} {{
entry:
{lanes}
{counted("j", whole, shuffle_block(width, reading), step=width)}
{counted("i", size, chr(10).join(single), after="j.done", first=whole)}
  ret void
}}
"""
