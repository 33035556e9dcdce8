"""Equal systems side by side in vector lanes: IR text of a kernel that gathers their inputs and scatters their outputs.

One text serves every forest: what is where is data, tables of i64, whose address stands at the beginning of a call's
scratch. Behind it lie the sums over systems, and the memory of the lanes, ``jit.vector_width()`` doubles an element.
Positions come as runs, stretches of numbers that are neighbours in the whole and in the lanes alike, as ``Runs.table``
has them; lanes behind the last system repeat it.

Blocks in which all systems are still keep the outputs that they had, where a call asks for that (``ASKED`` in its
scratch) and one before it gave all of them (``KNOWN``), but for sums. At the address ``STILL`` is a table of i64: a 0,
and of every place of the first nq inputs, by which systems are known that begin with one of these, other than 0 where
its system is still.
"""

from __future__ import annotations

from recursive_dyn.codegen.emitting.drivers import PAD, call_driver, counted_loop, module
from recursive_dyn.codegen.emitting.ir_text import copy, counted, load, place, several
from recursive_dyn.codegen.emitting.table_driver import SEGMENTS, STATE, addresses, batch, in_bytes, read, sizes
from recursive_dyn.codegen.emitting.transposing import exchange

ENTRY = "rd_forest"
FOREST = (
    *STATE, "cleared", "group_count", "groups", "lane_in", "lane_out", "lane_scratch", "sum_count", "sum_place",
    "total", *SEGMENTS,
)  # fmt: skip  # entries of the table; lane_...: doubles from the beginning of the scratch
GROUP = (
    "kernel", "own_table", "systems", "input_runs", "input_table", "output_runs", "output_table", "sums", "first_sum",
    "constants", "first_constant", "constant_table",
)  # fmt: skip  # entries of a group of equal systems; constants: how many numbers of their own its systems have
STILL, ASKED, KNOWN = 1, 2, 3  # places in scratch, behind the address of the table
SUMS = PAD  # doubles before the sums in scratch
SIZES = sizes(FOREST)


def forest_module(width: int) -> str:
    """The whole module; one more loop around the kernel may be another one, written with ``SIZES``."""
    return module(
        "", exchange("gather", width, True), exchange("scatter", width, False), _folding(width), _resting(width),
        _group(width), _ENTRY, call_driver(ENTRY, "%inputs", "%outputs", SIZES.first), batch(ENTRY, FOREST),
        _DECLARATIONS,
    )  # fmt: skip


_DECLARATIONS = """declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare i64 @llvm.umin.i64(i64, i64)
"""


def _folding(width: int) -> str:
    """Add the first lanes of some elements to sums, in the order of the systems."""
    added = f"""{load("x", "double", "%element", "%l")}
  %new = fadd double %sum, %x"""
    element = f"""  %wide = mul i64 %i, {width}
{place("element", "double", "%lanes", "%wide")}
{load("old", "double", "%sums", "%i")}
{counted("l", "%valid", added, after="i.body", carried=(("sum", "double", "%old", "%new"),))}
  store double %sum, ptr %old.p"""
    return counted_loop("rd.fold", "ptr %lanes, ptr %sums, i64 %count, i64 %valid", "%count", element)


def _resting(width: int) -> str:
    """i1 @rd.resting(still, nq, runs, row): whether all systems of a block are still."""
    lanes = "\n".join(
        f"""{load(f"s{l}", "i64", "%sp", l)}
  %t{l} = mul i64 %s{l}, %factor
  %u{l} = add i64 %t{l}, %shift
  %known{l} = icmp ult i64 %u{l}, %nq
  %behind{l} = add i64 %u{l}, 1
  %at{l} = select i1 %known{l}, i64 %behind{l}, i64 0
{load(f"told{l}", "i64", "%still", f"%at{l}")}
  %rests{l} = icmp ne i64 %told{l}, 0
  %all{l} = and i1 %rests{l}, {f"%all{l - 1}" if l else "true"}"""
        for l in range(width)
    )
    return f"""define internal i1 @rd.resting(ptr %still, i64 %nq, ptr %runs, i64 %row) nounwind {{
entry:
{several("offset length address factor shift", "%runs", 0)}
  %starts = inttoptr i64 %address to ptr
{place("sp", "i64", "%starts", "%row")}
{lanes}
  ret i1 %all{width - 1}
}}
"""


def _group(width: int) -> str:
    """All systems of one group, a block of lanes at a time, but for those that are still, if that is not null."""
    every = " ".join(GROUP)
    block = f"""{place("constant.next", "double", "%cp", "%own")}
  br i1 %some, label %ask, label %compute
ask:
  %rests = call i1 @rd.resting(ptr %still, i64 %nq, ptr %input_table.at, i64 %row)
  br i1 %rests, label %leave, label %compute
compute:
  call void @rd.gather(ptr %in, i64 %input_runs, ptr %input_table.at, i64 %row, ptr %lane_in)
{copy("%own.at", "%cp", "%own")}
  store i64 %own_table, ptr %lane_scratch
  call void %kernel.at(ptr %lane_in, ptr %lane_out, ptr %lane_scratch)
  call void @rd.scatter(ptr %out, i64 %output_runs, ptr %output_table.at, i64 %row, ptr %lane_out)
  %left = sub i64 %systems, %row
  %valid = call i64 @llvm.umin.i64(i64 %left, i64 {width})
  call void @rd.fold(ptr %sums.at, ptr %sum, i64 %sums, i64 %valid)
  br label %leave
leave:"""
    carried = (("cp", "ptr", "%constant_table.at", "%constant.next"),)
    return f"""define internal void @rd.group(
  ptr %group, ptr %in, ptr %out, ptr %lane_in, ptr %lane_out, ptr %lane_scratch, ptr %sum, ptr %still, i64 %nq
) nounwind {{
entry:
{read(GROUP, "%group", every)}
{addresses("kernel input_table output_table constant_table")}
  %own = mul i64 %constants, {width}
{in_bytes("own")}
  %own.place = mul i64 %first_constant, {width}
{place("own.at", "double", "%lane_in", "%own.place")}
  %sums.place = mul i64 %first_sum, {width}
{place("sums.at", "double", "%lane_out", "%sums.place")}
  %asked = icmp ne ptr %still, null
  %placed = icmp ne i64 %input_runs, 0
  %summed = icmp ne i64 %sums, 0
  %may = and i1 %asked, %placed
  %some = select i1 %summed, i1 false, i1 %may
{counted("row", "%systems", block, step=width, carried=carried)}
  ret void
}}
"""


_EVERY_GROUP = f"""  %place = mul i64 %k, {len(GROUP)}
{place("group", "i64", "%groups.at", "%place")}
  call void @rd.group(
    ptr %group, ptr %in, ptr %out, ptr %lane_in.at, ptr %lane_out.at, ptr %lane_scratch.at, ptr %sums,
    ptr %still, i64 %nq
  )"""
_ENTRY = f"""define void @{ENTRY}(ptr %in, ptr %out, ptr %scratch) nounwind {{
entry:
  %table = load ptr, ptr %scratch
{read(FOREST, "%table", "nq cleared group_count groups lane_in lane_out lane_scratch sum_count sum_place total")}
{addresses("groups total")}
{place("lane_in.at", "double", "%scratch", "%lane_in")}
{place("lane_out.at", "double", "%scratch", "%lane_out")}
{place("lane_scratch.at", "double", "%scratch", "%lane_scratch")}
{place("sums", "double", "%scratch", SUMS)}
{load("told", "ptr", "%scratch", STILL)}
{load("asked", "i64", "%scratch", ASKED)}
{load("known", "i64", "%scratch", KNOWN)}
  store i64 1, ptr %known.p
  %asks = icmp ne i64 %asked, 0
  %knows = icmp ne i64 %known, 0
  %partly = and i1 %asks, %knows
  %still = select i1 %partly, ptr %told, ptr null
  %whole = icmp eq ptr %still, null
  %unwritten = select i1 %whole, i64 %cleared, i64 0
{in_bytes("unwritten sum_count")}
  call void @llvm.memset.p0.i64(ptr %out, i8 0, i64 %unwritten.bytes, i1 0)
  call void @llvm.memset.p0.i64(ptr %sums, i8 0, i64 %sum_count.bytes, i1 0)
{counted("k", "%group_count", _EVERY_GROUP)}
{place("tail", "double", "%out", "%sum_place")}
  %plain = icmp eq i64 %total, 0
  br i1 %plain, label %copy, label %reduce
copy:
{copy("%tail", "%sums", "%sum_count")}
  ret void
reduce:
  call void %total.at(ptr %sums, ptr %tail, ptr %lane_scratch.at)
  ret void
}}
"""
