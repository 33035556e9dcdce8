"""Drivers that read a kernel's sizes when they are called: IR text that serves many kernels.

The address of a table of i64 stands at the beginning of a call's scratch. What its entries are is a layout, of which
``STATE`` and ``SEGMENTS`` are some.
"""

from __future__ import annotations

from recursive_dyn.codegen.emitting.drivers import BATCH_ARGUMENTS, every_row, module
from recursive_dyn.codegen.emitting.ir_text import copy, counted, load, place
from recursive_dyn.codegen.emitting.sizes import Sizes
from recursive_dyn.codegen.making import jit

STATE = ("inputs", "outputs", "nq", "nv", "unit_count", "unit_table")
SEGMENTS = ("input_segments", "input_sizes", "output_segments", "output_sizes")


def read(layout: tuple[str, ...], table: str, wanted: str) -> str:
    """IR that reads entries of a table of i64 into names."""
    return "\n".join(load(name, "i64", table, layout.index(name)) for name in wanted.split())


def addresses(names: str) -> str:
    """IR that makes pointers NAME.at of addresses."""
    return "\n".join(f"  %{name}.at = inttoptr i64 %{name} to ptr" for name in names.split())


def in_bytes(names: str) -> str:
    """IR that makes NAME.bytes of numbers of doubles."""
    return "\n".join(f"  %{name}.bytes = shl i64 %{name}, 3" for name in names.split())


def sizes(layout: tuple[str, ...]) -> Sizes:
    """The sizes that loops of steps read from a table of this layout."""
    first = f"""  %table = load ptr, ptr %scratch
{read(layout, "%table", " ".join(STATE))}
{addresses("unit_table")}
  %state = add i64 %nq, %nv
{in_bytes("state nv")}"""
    return Sizes("%inputs", "%outputs", "%nq", "%nv", "%state", "%unit_count", "%unit_table.at", first)


def batch(entry: str, layout: tuple[str, ...]) -> str:
    """``drivers.batch_driver`` of a kernel of width 1, whose segments a table of this layout has."""
    return f"""{_segments("collect", True)}
{_segments("deliver", False)}
define i64 @{entry}_batch({BATCH_ARGUMENTS}) {{
entry:
{sizes(layout).first}
{read(layout, "%table", " ".join(SEGMENTS))}
{addresses("input_sizes output_sizes")}
  %stop = add i64 %first, %count
{every_row(entry, _COLLECT, _DELIVER, "%inputs", "%outputs")}
"""


def linked(text: str, entry: str, loop: str) -> jit.Native:
    """Machine code of a module of ENTRY, and of one more loop around it, if there is one."""
    return jit.load_objects([jit.object_code(part) for part in (text, module(entry, loop))[: 2 if loop else 1]], {})


def _segments(name: str, reading: bool) -> str:
    """A row of every segment from its array into one buffer, or back."""
    source, target = ("%place", "%at") if reading else ("%at", "%place")
    segment = f"""{load("array", "ptr", "%arrays", "%k")}
{load("stride", "i64", "%strides", "%k")}
{load("size", "i64", "%sizes", "%k")}
  %first = mul i64 %row, %stride
{place("place", "double", "%array", "%first")}
{in_bytes("size")}
{copy(target, source, "%size")}
{place("after", "double", "%at", "%size")}"""
    return f"""define internal void @rd.{name}(
  ptr %arrays, ptr %strides, ptr %sizes, i64 %count, i64 %row, ptr %packed
) nounwind {{
entry:
{counted("k", "%count", segment, carried=(("at", "ptr", "%packed", "%after"),))}
  ret void
}}
"""


_COLLECT = """  call void @rd.collect(
    ptr %sources, ptr %strides, ptr %input_sizes.at, i64 %input_segments, i64 %row, ptr %in
  )"""
_DELIVER = """  call void @rd.deliver(
    ptr %targets, ptr %output_sizes.at, ptr %output_sizes.at, i64 %output_segments, i64 %row, ptr %out
  )"""
