"""Between rows of doubles and vector lanes: IR text that transposes through a shuffle network."""

from __future__ import annotations

from recursive_dyn.codegen.emitting.ir_text import attributes, counted, load, place, several


def exchange(name: str, width: int, reading: bool) -> str:
    """void @rd.NAME(whole, count, runs, row, lanes): runs of the whole into the lanes of a block, or back.

    runs: as ``Runs.table`` has them, first elements in the lanes rising; row: the number of the first system of the
    block. What is written into the lanes may reach width - 1 elements beyond a run.
    """
    lanes = "\n".join(
        f"""{load(f"s{l}", "i64", "%sp", l)}
  %t{l} = mul i64 %s{l}, %factor
  %u{l} = add i64 %t{l}, %shift
{place(f"b{l}", "double", "%whole", f"%u{l}")}"""
        for l in range(width)
    )
    whole, places = f"<{width} x i64>", ", ".join(f"i64 {l}" for l in range(width))
    arguments = "ptr %whole, i64 %count, ptr %runs, i64 %row, ptr %lanes"
    kind, bits = f"<{width} x double>", f"<{width} x i1>"
    access = f"declare void @llvm.masked.store.v{width}f64.p0({kind}, ptr, i32, {bits})"
    if reading:
        access = f"declare {kind} @llvm.masked.load.v{width}f64.p0(ptr, i32, {bits}, {kind})"
    block = f"""  %left = sub i64 %length, %j
  %left0 = insertelement {whole} poison, i64 %left, i32 0
  %lefts = shufflevector {whole} %left0, {whole} poison, <{width} x i32> zeroinitializer
  %mask = icmp ugt {whole} %lefts, <{places}>
{shuffle_block(width, reading, masked=True)}"""
    run = f"""{several("offset length address factor shift", "%runs", "%r")}
  %wide = mul i64 %offset, {width}
{place("d", "double", "%lanes", "%wide")}
  %starts = inttoptr i64 %address to ptr
{place("sp", "i64", "%starts", "%row")}
{lanes}
  %lone = icmp eq i64 %length, 1
  br i1 %lone, label %single, label %longer
single:
{_single(width, reading)}
  br label %r.next
longer:
{counted("j", "%length", block, after="longer", step=width)}"""
    return f"""{access}
define internal void @rd.{name}({arguments}) nounwind{attributes(width)} {{
entry:
{counted("r", "%count", run)}
  ret void
}}
"""


def _single(width: int, reading: bool) -> str:
    """One number of each row at %b0.. to or from the lanes at %d: nothing is to be transposed."""
    lines = []
    for l in range(width):
        source, target = (f"%b{l}", f"%one{l}") if reading else (f"%one{l}", f"%b{l}")
        lines.append(f"""{place(f"one{l}", "double", "%d", l)}
  %number{l} = load double, ptr {source}
  store double %number{l}, ptr {target}""")
    return "\n".join(lines)


def shuffle_block(width: int, reading: bool, masked: bool = False) -> str:
    """Transpose width x width doubles between rows at %b0.. (column %j) and packed lanes at %d (element %j).

    masked: of the rows, only columns of the mask %mask are read or written.
    """
    kind = f"<{width} x double>"
    lines, rows = [], []
    for l in range(width):
        source = f"load {kind}, ptr {f'%bp{l}' if reading else f'%bq{l}'}, align 8"
        if masked and reading:
            part = f"i32 8, <{width} x i1> %mask, {kind} zeroinitializer"
            source = f"call {kind} @llvm.masked.load.v{width}f64.p0(ptr %bp{l}, {part})"
        lines.append(f"""{place(f"bp{l}", "double", f"%b{l}", "%j")}
  %bj{l} = add i64 %j, {l}
  %bk{l} = mul i64 %bj{l}, {width}
{place(f"bq{l}", "double", "%d", f"%bk{l}")}
  %bv{l} = {source}""")
        rows.append(f"%bv{l}")
    rows = _transposed(rows, width, lines)
    for l in reversed(range(width)):
        if masked and not reading:
            part = f"i32 8, <{width} x i1> %mask"
            lines.append(f"  call void @llvm.masked.store.v{width}f64.p0({kind} {rows[l]}, ptr %bp{l}, {part})")
        else:
            lines.append(f"  store {kind} {rows[l]}, ptr {f'%bq{l}' if reading else f'%bp{l}'}, align 8")
    return "\n".join(lines)


def _transposed(rows: list[str], width: int, lines: list[str]) -> list[str]:
    """Names of the columns of vectors, by shuffles added to ``lines``."""
    kind = f"<{width} x double>"
    distance, stage = 1, 0
    while distance < width:
        following = list(rows)
        for i in range(width):
            if i & distance:
                continue
            low = [(c if not c & distance else c - distance + width) for c in range(width)]
            high = [(c + distance if not c & distance else c + width) for c in range(width)]
            for target, mask in ((i, low), (i + distance, high)):
                name = f"%bs{stage}_{target}"
                indices = ", ".join(f"i32 {m}" for m in mask)
                pair = f"{kind} {rows[i]}, {kind} {rows[i + distance]}"
                lines.append(f"  {name} = shufflevector {pair}, <{width} x i32> <{indices}>")
                following[target] = name
        rows, distance, stage = following, distance * 2, stage + 1
    return rows
