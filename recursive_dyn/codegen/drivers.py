"""Compiled loops around a kernel, as LLVM IR text: one checked call, a batch of scenes, a run of sub-steps.

Buffers are padded to a multiple of 8 doubles with zeros, so that the check for NaN and infinity reads whole registers:
the sum of x * 0 over a buffer is 0 exactly when every x is finite.
"""

from __future__ import annotations

from recursive_dyn.codegen.llvm import attributes, scalar_literal
from recursive_dyn.codegen.sizes import Operand
from recursive_dyn.codegen.transposing import shuffle_block

PAD = 8
BATCH_ARGUMENTS = "ptr %sources, ptr %strides, ptr %targets, i64 %first, i64 %count, ptr %in, ptr %out, ptr %scratch"
OK, BAD_INPUT, BAD_OUTPUT, NOT_CONVERGED, AT_LIMIT, LARGE = range(6)  # why a call, or a loop of steps, ended
MODERATE = 1e6  # results beyond it are right, or what rounding leaves of a singular system: worth a second look
CODE_BITS = 3


def _all_lanes(name: str, term: str, verdict: str) -> str:
    """i1 NAME(x, n): whether ``verdict`` holds in all lanes of %acc, the sum of %v ``term``; %v: the registers of x."""
    return f"""
define internal i1 @{name}(ptr %x, i64 %n){attributes(8)} {{
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %acc = phi <8 x double> [ zeroinitializer, %entry ], [ %sum, %body ]
  %more = icmp ult i64 %i, %n
  br i1 %more, label %body, label %done
body:
  %p = getelementptr double, ptr %x, i64 %i
  %v = load <8 x double>, ptr %p, align 8
  %term = fmul <8 x double> %v, {term}
  %sum = fadd <8 x double> %acc, %term
  %next = add i64 %i, 8
  br label %head
done:
  %good = fcmp {verdict}
  %all = call i1 @llvm.vector.reduce.and.v8i1(<8 x i1> %good)
  ret i1 %all
}}"""


_MODERATE = f"ole <8 x double> %acc, splat (double {scalar_literal(MODERATE**2)})"
_FINITE = f"""{_all_lanes("rd.finite", "zeroinitializer", "oeq <8 x double> %acc, zeroinitializer")}
{_all_lanes("rd.moderate", "%v", _MODERATE)}
declare i1 @llvm.vector.reduce.and.v8i1(<8 x i1>)
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
  br label %head
head:
  %row = phi i64 [ %first, %entry ], [ %next, %advance ]
  %more = icmp slt i64 %row, %stop
  br i1 %more, label %body, label %done
body:
{_reads(segments, width)}
  %a = call i1 @rd.finite(ptr %in, i64 {sum(segments) * width})
  br i1 %a, label %run, label %badin
badin:
  %ri = shl i64 %row, 1
  %ci = add i64 %ri, 1
  ret i64 %ci
run:
  call void @{entry}(ptr %in, ptr %out, ptr %scratch)
  %b = call i1 @rd.finite(ptr %out, i64 {sum(outputs) * width})
  br i1 %b, label %advance, label %badout
badout:
  %ro = shl i64 %row, 1
  %co = add i64 %ro, 2
  ret i64 %co
advance:
{_writes(outputs, width)}
  %next = add i64 %row, {width}
  br label %head
done:
  ret i64 0
}}
"""
    )


def _reads(segments: list[int], width: int) -> str:
    """Every source's rows into the kernel's input."""
    return "\n".join(
        f"  %s{k}p = getelementptr ptr, ptr %sources, i64 {k}\n  %s{k} = load ptr, ptr %s{k}p\n"
        f"  %t{k}p = getelementptr i64, ptr %strides, i64 {k}\n  %t{k} = load i64, ptr %t{k}p\n"
        f"  %d{k} = getelementptr double, ptr %in, i64 {sum(segments[:k]) * width}\n"
        f"  call void @read{k}(ptr %s{k}, i64 %t{k}, i64 %row, i64 %last, ptr %d{k})"
        for k, size in enumerate(segments)
        if size
    )


def _writes(outputs: list[int], width: int) -> str:
    """The kernel's output into every target's rows."""
    return "\n".join(
        f"  %o{k}p = getelementptr ptr, ptr %targets, i64 {k}\n  %o{k} = load ptr, ptr %o{k}p\n"
        f"  %e{k} = getelementptr double, ptr %out, i64 {sum(outputs[:k]) * width}\n"
        f"  call void @write{k}(ptr %o{k}, i64 %row, i64 %last, ptr %e{k})"
        for k, size in enumerate(outputs)
        if size
    )


def counted_loop(name: str, arguments: str, size: Operand, body: str) -> str:
    """A function with a loop over i = 0 .. size - 1."""
    return f"""define internal void @{name}({arguments}) nounwind{attributes(8)} {{
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %n, %body ]
  %m = icmp ult i64 %i, {size}
  br i1 %m, label %body, label %done
body:
{body}
  %n = add i64 %i, 1
  br label %head
done:
  ret void
}}
"""


def _read_block(k: int, size: int, width: int) -> str:
    """Rows row .. row + width - 1 (not past last) of a source, transposed into the kernel's input."""
    arguments = "ptr %s, i64 %stride, i64 %row, i64 %last, ptr %d"
    if width == 1:
        return f"""define internal void @read{k}({arguments}) nounwind {{
  %offset = mul i64 %row, %stride
  %p = getelementptr double, ptr %s, i64 %offset
  call void @llvm.memcpy.p0.p0.i64(ptr %d, ptr %p, i64 {8 * size}, i1 0)
  ret void
}}
"""
    lanes = "\n".join(
        f"""  %r{l} = add i64 %row, {l}
  %c{l} = icmp slt i64 %r{l}, %last
  %w{l} = select i1 %c{l}, i64 %r{l}, i64 %last
  %f{l} = mul i64 %w{l}, %stride
  %b{l} = getelementptr double, ptr %s, i64 %f{l}"""
        for l in range(width)
    )
    return _transposing(f"read{k}", arguments, size, width, lanes, reading=True)


def _write_block(k: int, size: int, width: int) -> str:
    """The kernel's output, transposed back into rows row .. row + width - 1 (not past last) of a target."""
    arguments = "ptr %s, i64 %row, i64 %last, ptr %d"
    if width == 1:
        return f"""define internal void @write{k}({arguments}) nounwind {{
  %offset = mul i64 %row, {size}
  %p = getelementptr double, ptr %s, i64 %offset
  call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %d, i64 {8 * size}, i1 0)
  ret void
}}
"""
    # Lanes past the last row are sent to the last row BEFORE its own lane writes it: lanes are stored in falling order.
    lanes = "\n".join(
        f"""  %r{l} = add i64 %row, {l}
  %c{l} = icmp slt i64 %r{l}, %last
  %w{l} = select i1 %c{l}, i64 %r{l}, i64 %last
  %f{l} = mul i64 %w{l}, {size}
  %b{l} = getelementptr double, ptr %s, i64 %f{l}"""
        for l in range(width)
    )
    return _transposing(f"write{k}", arguments, size, width, lanes, reading=False)


def _transposing(name: str, arguments: str, size: int, width: int, lanes: str, reading: bool) -> str:
    """Blocks of width x width through a shuffle network; what is left over element by element."""
    whole = size // width * width
    block = shuffle_block(width, reading)
    single = []
    for l in reversed(range(width)):
        row = f"  %p{l} = getelementptr double, ptr %b{l}, i64 %i\n"
        packed = (
            f"  %x{l} = mul i64 %i, {width}\n  %y{l} = add i64 %x{l}, {l}\n"
            f"  %z{l} = getelementptr double, ptr %d, i64 %y{l}\n"
        )
        source, target = (f"%p{l}", f"%z{l}") if reading else (f"%z{l}", f"%p{l}")
        single.append(row + packed + f"  %v{l} = load double, ptr {source}\n  store double %v{l}, ptr {target}")
    rest = "\n".join(single)
    return f"""define internal void @{name}({arguments}) nounwind{attributes(width)} {{
entry:
{lanes}
  br label %bhead
bhead:
  %j = phi i64 [ 0, %entry ], [ %jn, %bbody ]
  %jm = icmp ult i64 %j, {whole}
  br i1 %jm, label %bbody, label %head
bbody:
{block}
  %jn = add i64 %j, {width}
  br label %bhead
head:
  %i = phi i64 [ {whole}, %bhead ], [ %n, %body ]
  %m = icmp ult i64 %i, {size}
  br i1 %m, label %body, label %done
body:
{rest}
  %n = add i64 %i, 1
  br label %head
done:
  ret void
}}
"""
