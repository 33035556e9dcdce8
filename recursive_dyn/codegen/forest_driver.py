"""Equal systems side by side in vector lanes: IR text of a kernel that gathers their inputs and scatters their outputs.

One text serves every forest: what is where is data, tables of i64, whose address stands at the beginning of a call's
scratch. Behind it lie the sums over systems, and the memory of the lanes, ``jit.vector_width()`` doubles an element.
Positions come as runs, stretches of numbers that are neighbours in the whole and in the lanes alike: pairs (first
element in the lanes, length), rising, and for every block of systems where each run begins in the whole, lane after
lane; lanes behind the last system repeat it.
"""

from __future__ import annotations

from recursive_dyn.codegen.drivers import BATCH_ARGUMENTS, PAD, call_driver, module
from recursive_dyn.codegen.sizes import Sizes
from recursive_dyn.codegen.transposing import exchange

ENTRY = "rd_forest"
FOREST = (
    "inputs", "outputs", "nq", "nv", "unit_count", "unit_table", "cleared", "group_count", "groups", "lane_in",
    "lane_out", "lane_scratch", "sum_count", "sum_place", "total", "input_segments", "input_sizes", "output_segments",
    "output_sizes",
)  # fmt: skip  # entries of the table; lane_...: doubles from the beginning of the scratch
GROUP = (
    "kernel", "systems", "input_runs", "input_table", "input_starts", "output_runs", "output_table", "output_starts",
    "sums", "first_sum", "constants", "first_constant", "constant_table",
)  # fmt: skip  # entries of a group of equal systems; constants: how many numbers of their own its systems have
SUMS = PAD  # doubles before the sums in scratch


def _read(layout: tuple[str, ...], table: str, wanted: str) -> str:
    """IR that reads entries of a table of i64 into names."""
    lines = []
    for name in wanted.split():
        lines.append(f"  %{name}.at = getelementptr i64, ptr {table}, i64 {layout.index(name)}")
        lines.append(f"  %{name} = load i64, ptr %{name}.at")
    return "\n".join(lines)


def _addresses(names: str) -> str:
    return "\n".join(f"  %{name}.p = inttoptr i64 %{name} to ptr" for name in names.split())


def _bytes(names: str) -> str:
    return "\n".join(f"  %{name}.bytes = shl i64 %{name}, 3" for name in names.split())


_FIRST = f"""  %table = load ptr, ptr %scratch
{_read(FOREST, "%table", "inputs outputs nq nv unit_count unit_table")}
{_addresses("unit_table")}
  %state = add i64 %nq, %nv
{_bytes("state nv")}"""
SIZES = Sizes("%inputs", "%outputs", "%nq", "%nv", "%state", "%unit_count", "%unit_table.p", _FIRST)


def forest_module(width: int, loop: str) -> str:
    """The whole module; loop: IR text of one more loop around the kernel, written with ``SIZES``."""
    return module(
        "", exchange("gather", width, True), exchange("scatter", width, False), _folding(width), _group(width),
        _ENTRY, call_driver(ENTRY, "%inputs", "%outputs", _FIRST), _BATCH, _DECLARATIONS, loop,
    )  # fmt: skip


_DECLARATIONS = """declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare i64 @llvm.umin.i64(i64, i64)
"""


def _folding(width: int) -> str:
    """Add the first lanes of some elements to sums, in the order of the systems."""
    return f"""define internal void @rd.fold(ptr %lanes, ptr %sums, i64 %count, i64 %valid) nounwind {{
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %store ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %begin, label %leave
leave:
  ret void
begin:
  %wide = mul i64 %i, {width}
  %element = getelementptr double, ptr %lanes, i64 %wide
  %sp = getelementptr double, ptr %sums, i64 %i
  %old = load double, ptr %sp
  br label %lane
lane:
  %l = phi i64 [ 0, %begin ], [ %l1, %lane ]
  %sum = phi double [ %old, %begin ], [ %new, %lane ]
  %xp = getelementptr double, ptr %element, i64 %l
  %x = load double, ptr %xp
  %new = fadd double %sum, %x
  %l1 = add i64 %l, 1
  %on = icmp ult i64 %l1, %valid
  br i1 %on, label %lane, label %store
store:
  store double %new, ptr %sp
  %next = add i64 %i, 1
  br label %head
}}
"""


def _group(width: int) -> str:
    """All systems of one group, a block of lanes at a time."""
    every = " ".join(GROUP)
    return f"""define internal void @rd.group(
  ptr %group, ptr %in, ptr %out, ptr %lane_in, ptr %lane_out, ptr %lane_scratch, ptr %sum
) nounwind {{
entry:
{_read(GROUP, "%group", every)}
{_addresses("kernel input_table input_starts output_table output_starts constant_table")}
  %own = mul i64 %constants, {width}
{_bytes("own")}
  %own.place = mul i64 %first_constant, {width}
  %own.p = getelementptr double, ptr %lane_in, i64 %own.place
  %sums.place = mul i64 %first_sum, {width}
  %sums.p = getelementptr double, ptr %lane_out, i64 %sums.place
  %in.step = mul i64 %input_runs, {width}
  %out.step = mul i64 %output_runs, {width}
  br label %head
head:
  %row = phi i64 [ 0, %entry ], [ %next, %body ]
  %ip = phi ptr [ %input_starts.p, %entry ], [ %in.next, %body ]
  %op = phi ptr [ %output_starts.p, %entry ], [ %out.next, %body ]
  %cp = phi ptr [ %constant_table.p, %entry ], [ %constant.next, %body ]
  %more = icmp slt i64 %row, %systems
  br i1 %more, label %body, label %leave
leave:
  ret void
body:
  call void @rd.gather(ptr %in, i64 %input_runs, ptr %input_table.p, ptr %ip, ptr %lane_in)
  call void @llvm.memcpy.p0.p0.i64(ptr %own.p, ptr %cp, i64 %own.bytes, i1 0)
  call void %kernel.p(ptr %lane_in, ptr %lane_out, ptr %lane_scratch)
  call void @rd.scatter(ptr %out, i64 %output_runs, ptr %output_table.p, ptr %op, ptr %lane_out)
  %left = sub i64 %systems, %row
  %valid = call i64 @llvm.umin.i64(i64 %left, i64 {width})
  call void @rd.fold(ptr %sums.p, ptr %sum, i64 %sums, i64 %valid)
  %next = add i64 %row, {width}
  %in.next = getelementptr i64, ptr %ip, i64 %in.step
  %out.next = getelementptr i64, ptr %op, i64 %out.step
  %constant.next = getelementptr double, ptr %cp, i64 %own
  br label %head
}}
"""


_ENTRY = f"""define void @{ENTRY}(ptr %in, ptr %out, ptr %scratch) nounwind {{
entry:
  %table = load ptr, ptr %scratch
{_read(FOREST, "%table", "cleared group_count groups lane_in lane_out lane_scratch sum_count sum_place total")}
{_addresses("groups total")}
  %lane_in.p = getelementptr double, ptr %scratch, i64 %lane_in
  %lane_out.p = getelementptr double, ptr %scratch, i64 %lane_out
  %lane_scratch.p = getelementptr double, ptr %scratch, i64 %lane_scratch
  %sums = getelementptr double, ptr %scratch, i64 {SUMS}
{_bytes("cleared sum_count")}
  call void @llvm.memset.p0.i64(ptr %out, i8 0, i64 %cleared.bytes, i1 0)
  call void @llvm.memset.p0.i64(ptr %sums, i8 0, i64 %sum_count.bytes, i1 0)
  br label %head
head:
  %k = phi i64 [ 0, %entry ], [ %next, %body ]
  %more = icmp slt i64 %k, %group_count
  br i1 %more, label %body, label %finish
body:
  %place = mul i64 %k, {len(GROUP)}
  %group = getelementptr i64, ptr %groups.p, i64 %place
  call void @rd.group(
    ptr %group, ptr %in, ptr %out, ptr %lane_in.p, ptr %lane_out.p, ptr %lane_scratch.p, ptr %sums
  )
  %next = add i64 %k, 1
  br label %head
finish:
  %tail = getelementptr double, ptr %out, i64 %sum_place
  %plain = icmp eq i64 %total, 0
  br i1 %plain, label %copy, label %reduce
copy:
  call void @llvm.memcpy.p0.p0.i64(ptr %tail, ptr %sums, i64 %sum_count.bytes, i1 0)
  ret void
reduce:
  call void %total.p(ptr %sums, ptr %tail, ptr %lane_scratch.p)
  ret void
}}
"""


def _segments(name: str, reading: bool) -> str:
    """A row of every segment from its array into one buffer, or back."""
    source, target = ("%place", "%at") if reading else ("%at", "%place")
    return f"""define internal void @rd.{name}(
  ptr %arrays, ptr %strides, ptr %sizes, i64 %count, i64 %row, ptr %packed
) nounwind {{
entry:
  br label %head
head:
  %k = phi i64 [ 0, %entry ], [ %next, %body ]
  %at = phi ptr [ %packed, %entry ], [ %after, %body ]
  %more = icmp ult i64 %k, %count
  br i1 %more, label %body, label %leave
leave:
  ret void
body:
  %ap = getelementptr ptr, ptr %arrays, i64 %k
  %array = load ptr, ptr %ap
  %tp = getelementptr i64, ptr %strides, i64 %k
  %stride = load i64, ptr %tp
  %sp = getelementptr i64, ptr %sizes, i64 %k
  %size = load i64, ptr %sp
  %first = mul i64 %row, %stride
  %place = getelementptr double, ptr %array, i64 %first
{_bytes("size")}
  call void @llvm.memcpy.p0.p0.i64(ptr {target}, ptr {source}, i64 %size.bytes, i1 0)
  %after = getelementptr double, ptr %at, i64 %size
  %next = add i64 %k, 1
  br label %head
}}
"""


_BATCH = f"""{_segments("collect", True)}
{_segments("deliver", False)}
define i64 @{ENTRY}_batch({BATCH_ARGUMENTS}) {{
entry:
{_FIRST}
{_read(FOREST, "%table", "input_segments input_sizes output_segments output_sizes")}
{_addresses("input_sizes output_sizes")}
  %stop = add i64 %first, %count
  br label %head
head:
  %row = phi i64 [ %first, %entry ], [ %next, %advance ]
  %more = icmp slt i64 %row, %stop
  br i1 %more, label %body, label %done
done:
  ret i64 0
body:
  call void @rd.collect(
    ptr %sources, ptr %strides, ptr %input_sizes.p, i64 %input_segments, i64 %row, ptr %in
  )
  %a = call i1 @rd.finite(ptr %in, i64 %inputs)
  br i1 %a, label %run, label %badin
badin:
  %ri = shl i64 %row, 1
  %ci = add i64 %ri, 1
  ret i64 %ci
run:
  call void @{ENTRY}(ptr %in, ptr %out, ptr %scratch)
  %b = call i1 @rd.finite(ptr %out, i64 %outputs)
  br i1 %b, label %advance, label %badout
badout:
  %ro = shl i64 %row, 1
  %co = add i64 %ro, 2
  ret i64 %co
advance:
  call void @rd.deliver(
    ptr %targets, ptr %output_sizes.p, ptr %output_sizes.p, i64 %output_segments, i64 %row, ptr %out
  )
  %next = add i64 %row, 1
  br label %head
}}
"""
