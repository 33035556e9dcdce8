"""Memory and machine code of rows of joints and loops: what ``row_arrays`` works on."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from recursive_dyn.codegen.addresses import address
from recursive_dyn.codegen.kernel import Kernel
from recursive_dyn.codegen.making import jit
from recursive_dyn.dynamics.program_calls import kernel_call
from recursive_dyn.maximal.joint_rows.joint_rows import Joints
from recursive_dyn.maximal.kinds.joint_evaluator import evaluator_of
from recursive_dyn.maximal.kinds.joint_kinds import FAR, JointKind
from recursive_dyn.maximal.kinds.kind_calls import KindCalls
from recursive_dyn.maximal.kinds.loop_functions import ROWS as LOOPS
from recursive_dyn.maximal.kinds.measured import Measures
from recursive_dyn.maximal.kinds.row_arrays import NONE, NOTHING, TIME, LoopCall, MeasuringCall, RowArrays, found_at
from recursive_dyn.maximal.kinds.row_functions import ROWS, RowFunctions
from recursive_dyn.maximal.shared.found_together import FOUND, FoundTogether
from recursive_dyn.model.model import WORLD

Array = np.ndarray
_SEGMENTS, _RESULTS = 8, 7


class RowsFound(NamedTuple):
    """C and rates (N, 6) of all rows; coordinates (reduced.nq,) and their rates (reduced.nv,)."""

    errors: Array
    rates: Array
    q: Array
    v: Array


class RowMemory:
    """All joints' rows, one kind after the other, then those of loops.

    order (N,): which joint of ``dynamics.joints`` each one is; arrays, kinds, loops: for machine code.
    """

    def __init__(self, joints: Joints) -> None:
        self._joints = joints
        n, count, kinds = joints.links, len(joints), joints.kinds
        leading = np.concatenate([kind.numbers for kind in kinds]) if n else np.zeros(0, dtype=np.int64)
        self.order = np.concatenate([leading, np.arange(n, count)])
        self._firsts = (
            np.cumsum([0, *(kind.places.size for kind in kinds)]),
            np.cumsum([0, *(kind.slots.size for kind in kinds)]),
        )
        parents, children = joints.parents[self.order], joints.children[self.order]
        nv = int(self._firsts[1][-1])
        together = joints.loops.together.places if joints.loops and joints.loops.together else leading[:0]
        self.place_of_q = np.concatenate([*(kind.places.reshape(-1) for kind in kinds), together])
        poses, room = np.zeros((n + 1, 7)), np.zeros((n, 7))
        poses[n, 6] = 1.0
        (parent, child), (errors, rates, drift) = np.zeros((2, count, 6, 6)), np.zeros((3, count, 6))
        offsets = np.concatenate([*(kind.offsets.reshape(-1) for kind in kinds), np.zeros(len(together))])
        nq = len(offsets)
        self.arrays = RowArrays(
            np.zeros(1), np.where(parents == WORLD, n, parents), children.copy(), poses, np.zeros((n + 1, 6)),
            np.zeros(nq), np.zeros(nq), np.zeros(nv), offsets, room, room.copy(), np.zeros((n, 6)), np.zeros((n, 6)),
            parent, child, errors, rates, drift, np.zeros((count, 6)), self._of_time(kinds), self._timed(kinds),
            np.searchsorted(joints.more.rows, np.arange(count + 1)), joints.more.links.copy(),
            np.zeros((len(joints.more.links), 6)),
        )  # fmt: skip
        self._frames, self._at = np.zeros((2, n, 12)), b"none yet"
        self._values = np.zeros((1, max(1, len(joints.reduced.parameters.values_array))))
        self.kinds, self._kept = self.calls()
        self.loops = self._loop_call()

    def _of_time(self, kinds: list[JointKind]) -> Array:
        """Which of the coordinates, kind by kind, are time."""
        own = [first + kind.joint.nq * np.arange(len(kind.numbers)) + kind.time
               for first, kind in zip(self._firsts[0].tolist(), kinds, strict=False) if kind.time >= 0]  # fmt: skip
        return np.concatenate([np.zeros(0, dtype=np.int64), *own])

    def _timed(self, kinds: list[JointKind]) -> Array:
        """Which of the joints here time moves."""
        moved = [number for kind in kinds if kind.time >= 0 for number in kind.numbers.tolist()]
        return np.flatnonzero(np.isin(self.order, moved) & (self.order < self._joints.links))

    def calls(self) -> tuple[KindCalls, list[Any]]:
        """Programs of all kinds, and what holds their memory, in which one thread works at a time."""
        kinds = self._joints.kinds
        it, names = self.arrays, [name for name, _ in self._joints.reduced.model.parameters]
        numbers, kept = np.zeros((len(kinds), 11), dtype=np.int64), list[Any]()
        sources, strides = np.zeros((2, len(kinds), _SEGMENTS), dtype=np.int64)
        targets, still = np.zeros((len(kinds), _RESULTS), dtype=np.int64), np.zeros(len(kinds))
        first = 0
        for k, kind in enumerate(kinds):
            functions, m = RowFunctions(kind.joint, names, kind.time, kind.chart), len(kind.numbers)
            kernel: Kernel = evaluator_of(functions, kind.evaluator.parameters).kernel(ROWS, jit.batch_width())
            at = slice(first, first + m)
            q, v = (slice(ends[k], ends[k + 1]) for ends in self._firsts)
            given = [it.q[q], it.parent_poses[at], it.child_poses[at], it.parent_twists[at],
                     it.child_twists[at], self._frames[0, at], self._frames[1, at], self._values]  # fmt: skip
            found = [x[at] for x in (it.parent, it.child, it.errors, it.rates, it.drift)]
            found += [it.found[q], it.left[v]]
            sizes = [size for _, size in functions.inputs]
            memory, batch = kernel.memory(), kernel.native.address(f"{kernel.entry}_batch")
            numbers[k] = batch, m, *map(address, memory), q.start, q.stop, v.start, v.stop, 0, first
            sources[k], strides[k, : len(sizes)] = [address(x) for x in given], sizes
            targets[k], still[k] = [address(x) for x in found], functions.still
            kept += [kernel, memory]
            first += m
        return KindCalls(numbers, sources, strides, targets, still), kept

    def measuring(self, kernel: Kernel, measured: Measures) -> MeasuringCall:
        """A program over what is measured; its frames are still to be written."""
        links, n = measured.links, self._joints.links
        at_place = {int(place): k for k, place in enumerate(self.place_of_q)}
        joint, row = self.row_of_slot
        clock = self._joints.reduced.model.clock
        if clock is not None:
            at_place[clock[0]] = TIME
        coordinates = [(NONE if place is None else at_place[place], joint[slot], row[slot])
                       for place, slot in measured.coordinates]  # fmt: skip
        bodies = np.where(links == WORLD, n, links)
        return MeasuringCall(kernel_call(kernel), bodies, np.zeros(12 * len(links)), _table(coordinates, 3))

    @cached_property
    def row_of_slot(self) -> tuple[Array, Array]:
        """Joint, as they are in order here, and row of each velocity coordinate of the reduced model."""
        joint, row = self._joints.row_of_slot
        return np.argsort(self.order)[joint], row

    def _loop_call(self) -> LoopCall:
        """The program of the scene's constraints."""
        joints, none = self._joints, np.zeros(0, dtype=np.int64)
        loops = joints.loops
        if loops is None:
            return LoopCall(NOTHING, _table([], 5), none, _table([], 5), none, NOTHING, none, np.zeros(0))
        f, n = loops.functions, joints.links
        self._loop_kernel = kernel = loops.evaluator.kernel(LOOPS, 1)
        where, row = self.row_of_slot
        ends = np.stack([loops.ends.first, loops.ends.second], axis=1)
        shares = []
        for k, slot in zip(loops.share_rows.tolist(), loops.share_slots.tolist(), strict=True):
            i = joints.row_of_slot[0][slot]
            on = [*ends[k].tolist(), *np.where(loops.ends.more.rows == k, loops.ends.more.links, WORLD).tolist()]
            sides = [on.index(link) if link != WORLD else -1 for link in (joints.children[i], joints.parents[i])]
            shares.append((k, where[slot], row[slot], *sides))
        return LoopCall(
            self.measuring(kernel, f.measured),
            np.concatenate([loops.places, np.where(ends == WORLD, n, ends)], axis=1),
            loops.more_places, _table(shares, 5), np.array([f.starts[-1]]), *self._finding_call(loops.together),
        )  # fmt: skip

    def _finding_call(self, together: FoundTogether | None) -> tuple[MeasuringCall, Array, Array]:
        """The program of coordinates that joints show together, where these are among those found, and how still."""
        if together is None:
            return NOTHING, np.zeros(0, dtype=np.int64), np.zeros(0)
        self._finding_kernel = kernel = together.evaluator.kernel(FOUND, 1)
        sought = len(self.place_of_q) - len(together.places) + np.arange(len(together.places))
        return self.measuring(kernel, together.functions.measured), sought, np.array([together.functions.still])

    def parametrize(self) -> None:
        """Frames at the present values of the parameters."""
        joints = self._joints
        values = joints.reduced.parameters.values_array
        self._values[0, : len(values)] = values
        now = joints.version
        if self._at != now:
            for rows, frames in zip(self._frames, joints.frames(), strict=True):
                rows[:] = frames[self.order[: len(rows)], :3].reshape(len(rows), 12)
            if joints.loops is not None:
                self.loops.measuring.frames[:] = joints.loops.functions.measured.body_frames(joints.free).reshape(-1)
            self._at = now

    def restart(self, coordinates: Array) -> None:
        """Follow joints from these coordinates (reduced.nq,) on."""
        self.arrays.q[:] = coordinates[self.place_of_q] + self.arrays.offsets

    def coordinates(self) -> Array:
        """Where joints were followed from last, (reduced.nq,)."""
        q = np.zeros(self._joints.reduced.nq)
        if (clock := self._joints.reduced.model.clock) is not None:
            q[clock[0]] = self.arrays.time[0]
        q[self.place_of_q] = self.arrays.q - self.arrays.offsets
        return q

    def found(self, q: Array, v: Array, near: Array) -> RowsFound | None:
        """The rows at one state of the bodies, from joint coordinates (reduced.nq,) on; None where these do not lead
        there."""
        self.parametrize()
        self.restart(near)
        it, values = self.arrays, self._joints.reduced.parameters.values_array
        if not found_at(self.kinds, self.loops, it, q, v, values) or not np.abs(it.errors).max(initial=0.0) < FAR:
            return None
        rates = self.in_order(it.rates)
        (joint, row), own = self._joints.row_of_slot, self._joints.own_slots
        speeds = np.ones(self._joints.reduced.nv)  # that of time
        speeds[own] = rates[joint[own], row[own]]
        return RowsFound(self.in_order(it.errors), rates, self.coordinates(), speeds)

    def in_order(self, values: Array) -> Array:
        """Values (N, ...) as joints and loops are numbered in ``Joints``."""
        return np.asarray(values[np.argsort(self.order)])


def _table(rows: list[Any], width: int) -> Array:
    return np.array(rows, dtype=np.int64).reshape(-1, width)
