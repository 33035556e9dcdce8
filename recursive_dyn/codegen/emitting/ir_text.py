"""Pieces of LLVM IR text that drivers and loops of steps are made of: a loop that counts, numbers to and from memory.

A name x is that of the value %x; what it is computed by has names that begin with x and a point.
"""

from __future__ import annotations

import struct

from recursive_dyn.codegen.emitting.sizes import Operand, in_bytes

Carried = tuple[str, str, Operand, str]  # name, type, value before the first turn, operand of the next one's


def attributes(width: int) -> str:
    """Function attributes that let a CPU that prefers narrower registers use full ones."""
    return ' "min-legal-vector-width"="512" "prefer-vector-width"="512"' if width >= 8 else ""


def scalar_literal(value: float) -> str:
    """A double in hexadecimal: LLVM refuses inexact decimals."""
    return f"0x{struct.pack('>d', value).hex().upper()}"


def counted(
    i: str,
    end: Operand,
    body: str,
    after: str = "entry",
    first: Operand = 0,
    step: int = 1,
    carried: tuple[Carried, ...] = (),
) -> str:
    """``body`` for %i = first, first + step, ... below ``end``; what follows stands in the block i.done.

    after: the block that this ends; carried: more values that go from turn to turn, and are known behind the loop.
    """
    kept = "".join(
        f"\n  %{name} = phi {kind} [ {start}, %{after} ], [ {following}, %{i}.next ]"
        for name, kind, start, following in carried
    )
    return f"""  br label %{i}.head
{i}.head:
  %{i} = phi i64 [ {first}, %{after} ], [ %{i}.following, %{i}.next ]{kept}
  %{i}.more = icmp ult i64 %{i}, {end}
  br i1 %{i}.more, label %{i}.body, label %{i}.done
{i}.body:
{body}
  br label %{i}.next
{i}.next:
  %{i}.following = add i64 %{i}, {step}
  br label %{i}.head
{i}.done:"""


def place(name: str, kind: str, base: str, index: Operand) -> str:
    """%name: the address of one of the values of a kind at ``base``."""
    return f"  %{name} = getelementptr {kind}, ptr {base}, i64 {index}"


def load(name: str, kind: str, base: str, index: Operand, item: str = "") -> str:
    """%name: one of the values of a kind at ``base``, by number of items, which are of that kind too unless said."""
    return f"{place(f'{name}.p', item or kind, base, index)}\n  %{name} = load {kind}, ptr %{name}.p, align 8"


def several(names: str, table: str, index: Operand) -> str:
    """%names: one of the rows of a table of i64."""
    words = names.split()
    row = place(f"{words[0]}.row", f"[{len(words)} x i64]", table, index)
    return "\n".join([row, *(load(name, "i64", f"%{words[0]}.row", k) for k, name in enumerate(words))])


def copy(target: str, source: str, size: Operand) -> str:
    """Copy ``size`` doubles."""
    return f"  call void @llvm.memcpy.p0.p0.i64(ptr {target}, ptr {source}, i64 {in_bytes(size)}, i1 0)"
