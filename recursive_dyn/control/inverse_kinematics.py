"""Inverse kinematics: the configuration, within limits, that brings tasks to their targets or nearest to them."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from recursive_dyn.control.bounded_step import bounded_arrays
from recursive_dyn.control.drives import named_coordinates
from recursive_dyn.control.least_squares_search import MET, NEAREST, SearchArrays, nearest
from recursive_dyn.control.led_coordinates import LedCoordinates, known_at
from recursive_dyn.control.tasks.task import SPIN, Task
from recursive_dyn.control.tasks.task_stack import TaskStack
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.dynamics.program_calls import NO_PROGRAM, program_call
from recursive_dyn.errors import ModelError, StateError
from recursive_dyn.graph.recent import Recent
from recursive_dyn.simulation.state import checked_time, numbers, whole

Array = np.ndarray
TOLERANCE, ITERATIONS, STARTS = 1e-8, 100, 4
_MOST_SEARCHES = 32  # kept for each model and thread
_PRESSED = 1e-9  # share of what could press that is rounding


@dataclass(frozen=True, eq=False)
class Reached:
    """What inverse kinematics found.

    q (nq,): the configuration. converged: whether every error is within the tolerance; otherwise q is where no way led
    nearer, or, if ``stuck`` is False, where iterations were used up. errors: what is left to go, by task; residual:
    their norm, weighted. binding: limits at which coordinates are held although the way goes on beyond them.
    """

    q: Array
    converged: bool
    residual: float
    errors: dict[str, Array]
    binding: tuple[str, ...]
    iterations: int
    stuck: bool

    @property
    def shortfall(self) -> str:
        """Which task is left with most to go, what is in the way, and what to do; empty where all targets are met."""
        if self.converged:
            return ""
        left = {name: float(np.linalg.norm(e)) for name, e in self.errors.items()}
        worst = max(left, key=lambda name: left[name], default="the constraints of the scene")
        said = f"the {worst} is left {left.get(worst, self.residual):.3g} (m, rad) from its target"
        if not self.stuck:
            return f"{said} after {self.iterations} iterations; allow more of them, or start nearer"
        if self.binding:
            return f"{said}, with the {', the '.join(self.binding)} in the way; widen them, or move the target"
        return f"{said}, and no way leads nearer; move the target, ask for fewer tasks, or give more starts"


def inverse_kinematics(
    dynamics: Dynamics, targets: Task | Iterable[Task], q0: Any, *, coordinates: Iterable[str] | None = None,
    time: float | None = None, tolerance: float = TOLERANCE, iterations: int = ITERATIONS, starts: int = STARTS,
) -> Reached:  # fmt: skip
    """The configuration within its limits at which the sum of (weight e)^2 over the targets' rows is least.

    targets: Position, Orientation, Pose, LookAt, CenterOfMass, Posture. time, s: of targets that move, and of what time
    or a prescription leads, which is where it is then, whatever q0 has there; None: that of q0, 0 where it has none.
    q0 (nq,): where to start, the last solution of a motion; of all that reach the targets the one found is near it, at
    most half a turn away in angles that go all the way round. coordinates: names of the velocity coordinates that may
    move, all if None. Limits are kept exactly, constraints of the scene to the tolerance (rad, m). Where targets are
    not met from q0, up to ``starts`` starts in all are made, the second nearby, as at a singular one, the rest from
    anywhere: the same ones every time. StateError for a q0, or targets, that are no numbers, and for a time beyond the
    present step where a Python function leads a coordinate; ModelError for a body or coordinate that is not there.
    """
    tasks = [targets] if isinstance(targets, Task) else list(targets)
    search = search_of(dynamics, tasks, coordinates)
    q = numbers(dynamics, "q0", search.led.overlooked(q0, True), dynamics.nq)
    time = search.led.time(q) if time is None else checked_time(time)
    if not 0.0 < tolerance < inf:
        raise StateError(f"tolerance must be a positive number, not {tolerance!r}")
    return search.solve(tasks, q, time, tolerance, whole(iterations), whole(starts))


class Search:
    """Compiled search for tasks of one structure, whatever their targets are."""

    def __init__(self, dynamics: Dynamics, tasks: Sequence[Task], coordinates: tuple[str, ...] | None) -> None:
        for task in tasks:
            if any(part.sort == SPIN for part in task.parts(dynamics)):
                raise ModelError(f"the {task.name} is no matter of configurations: leave that task to controllers")
        self.dynamics, self.stack, self.led = dynamics, TaskStack(dynamics, tasks), LedCoordinates(dynamics)
        model, nv = dynamics.model, dynamics.nv
        slots = self.stack.moving_slots if coordinates is None else _chosen(dynamics, coordinates)
        held = [i for i, row in enumerate(model.constraints) if row.holonomic]
        if held and coordinates is None:
            slots = np.arange(nv)
        slots = np.array([slot for slot in slots.tolist() if slot not in model.prescribed], dtype=np.int64)
        known = {slot: place for place, slot in model.plain_slots}
        places = np.array([known.get(slot, -1) for slot in slots.tolist()])
        n, k = len(slots), self.stack.rows + len(held)
        self.it = SearchArrays(
            self.stack.arrays, slots.astype(np.int64), bounded_arrays(places, dynamics.limits[slots]),
            self.stack.weights.copy(), np.array(held, dtype=np.int64), program_call(dynamics, "integrate"),
            program_call(dynamics, "constraint_positions") if held else NO_PROGRAM,
            program_call(dynamics, "constraint_jacobian") if held else NO_PROGRAM,
            np.zeros(dynamics.nq), np.zeros(dynamics.nq), np.zeros(dynamics.nq), np.zeros(k), np.zeros(k * n),
            np.zeros(k), np.zeros(k * n), np.zeros(n), np.zeros(nv), np.zeros(4, dtype=np.int64), np.zeros(1),
        )  # fmt: skip
        self._plain = np.flatnonzero(places >= 0)
        self.run = nearest.bind(self.it)

    def solve(self, tasks: Sequence[Task], q: Array, time: float, limit: float, most: int, starts: int) -> Reached:
        """From q, which must be finite where nothing leads it."""
        known_at(self.dynamics, time, "inverse kinematics")
        q, _ = self.led.at(time, q, np.zeros(self.dynamics.nv))
        it, stack = self.it, self.stack
        stack.retarget(tasks)
        stack.aim(time)
        it.weights[:] = stack.weights
        it.q[:], it.numbers[:2], it.tolerance[0] = q, (most, starts), limit
        code = self.run()
        r = it.r[: stack.rows]
        left = float(r @ r) ** 0.5
        if not isfinite(left):
            raise StateError(f"inverse kinematics: {stack.why()}")
        return Reached(
            it.q.copy(),
            code == MET,
            left,
            stack.errors,
            () if code == MET else self._binding(),
            int(it.numbers[2]),
            code == NEAREST,
        )

    def _binding(self) -> tuple[str, ...]:
        """Limits at which the sum of squares would fall beyond."""
        it, own, plain = self.it, self.it.bounded, self._plain
        x = it.q[own.places[plain]]
        low, high = x <= own.lows[plain], x >= own.highs[plain]
        if not (low.any() or high.any()):
            return ()
        rows = it.A.reshape(len(it.r), len(it.slots))
        pull = rows.T @ it.r
        least = _PRESSED * (np.abs(rows).T @ np.abs(it.r))
        below, beyond = low & (pull < -least)[plain], high & (pull > least)[plain]
        names = self.dynamics.velocity_coordinates
        return tuple(
            f"{'low' if below[k] else 'high'} limit of {names[it.slots[j]]}"
            for k, j in enumerate(plain.tolist())
            if below[k] or beyond[k]
        )


def _chosen(dynamics: Dynamics, coordinates: Iterable[str]) -> Array:
    return np.flatnonzero(named_coordinates(dynamics.velocity_coordinates, coordinates, "coordinates"))


class _Searches(threading.local):
    """Searches that were made, by model and structure: machine code is bound to memory that is one thread's."""

    def __init__(self) -> None:
        self.known: WeakKeyDictionary[Dynamics, Recent[Search]] = WeakKeyDictionary()


_SEARCHES = _Searches()


def search_of(dynamics: Dynamics, tasks: Sequence[Task], coordinates: Iterable[str] | None) -> Search:
    """The search for targets of this structure, compiled at the first call with such."""
    if not isinstance(dynamics, Dynamics):
        raise StateError(f"inverse kinematics is of compiled dynamics, scene.compile(), not {type(dynamics).__name__}")
    for task in tasks:
        if not isinstance(task, Task):
            raise StateError(f"a target is a Position, Pose, CenterOfMass, ..., not {task!r}")
    if not tasks:
        raise StateError("inverse kinematics needs at least one target")
    known = _SEARCHES.known.setdefault(dynamics, Recent(_MOST_SEARCHES))
    if isinstance(coordinates, str):
        raise ModelError(f"coordinates takes names in a list, not the text {coordinates!r}")
    names = None if coordinates is None else tuple(coordinates)
    key = tuple(task.structure for task in tasks), names
    return known.of(key, lambda: Search(dynamics, tasks, names))
