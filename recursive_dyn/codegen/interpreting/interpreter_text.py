"""The interpreter of programs as LLVM IR text; what it does is told in ``interpreting.interpreter``."""

from __future__ import annotations

from recursive_dyn.codegen.emitting.fusing import ARITY, CODES
from recursive_dyn.codegen.emitting.ir_text import attributes, copy, counted, load, place
from recursive_dyn.codegen.emitting.llvm import operations_module
from recursive_dyn.codegen.emitting.table_driver import SEGMENTS, STATE, addresses, in_bytes, read
from recursive_dyn.graph.columns import OPCODES

LAYOUT = (
    "run",
    *STATE,
    *SEGMENTS,
    "constants",
    "constant_table",
    "stretches",
    "stretch_table",
    "code",
    "results",
)  # entries of the table
CALLS = tuple(name for name in OPCODES if name not in ("add", "sub", "mul", "neg", "table"))
_OPERATION = "rd.operation"
_SIGN = -(2**31)


def interpreter_module(name: str, width: int) -> str:
    """Text of void NAME(in, out, values, table): a program, ``width`` scenes at once, as the table has it."""
    kind = "double" if width == 1 else f"<{width} x double>"
    operations = operations_module({name: int(ARITY[CODES[name]]) for name in CALLS}, width, _OPERATION)
    functions = ", ".join(f"ptr @{_OPERATION}.{name}" for name in CALLS)
    stretch = f"""{load("length", "i64", "%stretch_table.at", "%k")}
{counted("i", "%length", _arithmetic(kind, width), after="k.body", carried=_following("i", "%k.row", "%k.value"))}
{_other(kind)}
{place("k.row.next", "[4 x i32]", "%i.row", 1)}
{place("k.value.next", kind, "%i.value", 1)}"""
    results = f"""{_word("j", "%results.at", "%j")}
{place("j.from", kind, "%values", "%j.number")}
  %j.x = load {kind}, ptr %j.from, align 8
{place("j.to", kind, "%out", "%j")}
  store {kind} %j.x, ptr %j.to, align 8"""
    return f"""{operations}
@rd.operations = private unnamed_addr constant [{len(CALLS)} x ptr] [{functions}]
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
define void @{name}(ptr %in, ptr %out, ptr %values, ptr %table) nounwind{attributes(width)} {{
entry:
{read(LAYOUT, "%table", "inputs outputs constants constant_table stretches stretch_table code results")}
{addresses("constant_table stretch_table code results")}
  %given = alloca [3 x {kind}], align 64
  %own = mul i64 %constants, {width}
  %from = mul i64 %inputs, {width}
{in_bytes("own from")}
{place("first", "double", "%values", "%from")}
{place("value", "double", "%first", "%own")}
{copy("%values", "%in", "%from")}
{copy("%first", "%constant_table.at", "%own")}
{counted("k", "%stretches", stretch, carried=_following("k", "%code.at", "%value", "%k.row.next", "%k.value.next"))}
{counted("j", "%outputs", results, after="k.done")}
  ret void
}}
"""


def _following(
    loop: str, row: str, value: str, next_row: str = "%row.next", next_value: str = "%value.next"
) -> tuple[tuple[str, str, str, str], ...]:
    """The row of words and the value that a turn of a loop is at."""
    return (f"{loop}.row", "ptr", row, next_row), (f"{loop}.value", "ptr", value, next_value)


def _word(name: str, base: str, index: str | int) -> str:
    """%NAME.word: one of the words at ``base``; %NAME.number: the value number in it; %NAME.sign: its sign."""
    return f"""{place(f"{name}.p", "i32", base, index)}
  %{name}.word = load i32, ptr %{name}.p, align 4
  %{name}.plain = and i32 %{name}.word, {2**31 - 1}
  %{name}.number = zext i32 %{name}.plain to i64"""


def _signed(name: str, kind: str, width: int, index: int) -> str:
    """%NAME: a value of a row's, its sign turned if its number says so."""
    bits = "i64" if width == 1 else f"<{width} x i64>"
    turned = f"  %{name}.turn = shl i64 %{name}.high, 32"
    if width > 1:
        turned += f"""
  %{name}.one = insertelement {bits} poison, i64 %{name}.turn, i64 0
  %{name}.all = shufflevector {bits} %{name}.one, {bits} poison, <{width} x i32> zeroinitializer"""
    return f"""{_word(name, "%i.row", index)}
{place(f"{name}.at", kind, "%values", f"%{name}.number")}
  %{name}.bits = load {bits}, ptr %{name}.at, align 8
  %{name}.sign = and i32 %{name}.word, {_SIGN}
  %{name}.high = zext i32 %{name}.sign to i64
{turned}
  %{name}.other = xor {bits} %{name}.bits, %{name}.{"turn" if width == 1 else "all"}
  %{name} = bitcast {bits} %{name}.other to {kind}"""


def _arithmetic(kind: str, width: int) -> str:
    """One sum or product."""
    suffix = "f64" if width == 1 else f"v{width}f64"
    return f"""{_signed("a", kind, width, 0)}
{_word("b", "%i.row", 1)}
{place("b.at", kind, "%values", "%b.number")}
  %b = load {kind}, ptr %b.at, align 8
{_signed("c", kind, width, 2)}
  %x = call {kind} @llvm.fma.{suffix}({kind} %a, {kind} %b, {kind} %c)
  store {kind} %x, ptr %i.value, align 8
{place("row.next", "[4 x i32]", "%i.row", 1)}
{place("value.next", kind, "%i.value", 1)}"""


def _other(kind: str) -> str:
    """The operation that ends a stretch, called by its number."""
    lines = [_word("s", "%i.row", 0), load("operation", "ptr", "@rd.operations", "%s.number")]
    for k in range(3):
        lines += [
            _word(f"s{k}", "%i.row", 1 + k),
            place(f"s{k}.at", kind, "%values", f"%s{k}.number"),
            f"  %s{k} = load {kind}, ptr %s{k}.at, align 8",
            place(f"s{k}.to", kind, "%given", k),
            f"  store {kind} %s{k}, ptr %s{k}.to, align 8",
        ]
    return "\n".join([*lines, "  call void %operation(ptr %given, ptr %i.value, ptr null)"])
