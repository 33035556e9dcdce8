"""Tasks of one model, on top of each other: their rows at a state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from recursive_dyn.control.tasks.formulas import LOOK as LOOK_FORMULA
from recursive_dyn.control.tasks.formulas import POINT as POINT_FORMULA
from recursive_dyn.control.tasks.formulas import TURN as TURN_FORMULA
from recursive_dyn.control.tasks.task import CENTER, LOOK, POINT, POSTURE, SPIN, TURN, Task, TaskPart
from recursive_dyn.control.tasks.task_rows import TaskArrays, TaskPrograms, task_rows
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.dynamics.functions import columns
from recursive_dyn.dynamics.program_calls import NO_PROGRAM, ProgramCall, kernel_call, program_call
from recursive_dyn.errors import StateError

Array = np.ndarray
_WHOLE = (CENTER, SPIN)
_FORMULAS = {POINT: POINT_FORMULA, TURN: TURN_FORMULA, LOOK: LOOK_FORMULA}


class TaskStack:
    """Rows of tasks: e, rate, drift (k,), J (k, nv), as ``look`` left them; e' = goal's part - J v, e'' = drift - J a.

    spans: the rows of each task; names: of each, with a number where several are called the same; groups (k,): rows
    of one number are of one unit. Copies and pickles look with memory of their own. ModelError for a body or a
    coordinate that the model has not.
    """

    def __init__(self, dynamics: Dynamics, tasks: Iterable[Task]) -> None:
        self.tasks = tuple(tasks)
        for task in self.tasks:
            if not isinstance(task, Task):
                raise StateError(f"a task is a Position, Pose, CenterOfMass, ..., not {task!r}")
        self._dynamics = dynamics
        self.names = _numbered([task.name for task in self.tasks])
        parts = [task.parts(dynamics) for task in self.tasks]
        self._parts = [part for own in parts for part in own]
        alone = [size for p in self._parts for size in ([1] * p.size if p.sort == POSTURE else [p.size])]
        self.groups = np.repeat(np.arange(len(alone)), alone)
        widths = _starts([_given(dynamics, part) for part in self._parts]).tolist()
        begins = iter([start + len(part.constants) for start, part in zip(widths, self._parts, strict=False)])
        self._starts = [[next(begins) for _ in own] for own in parts]
        ends = np.cumsum([task.rows for task in self.tasks], dtype=int)
        self.spans = [slice(int(end) - task.rows, int(end)) for task, end in zip(self.tasks, ends, strict=True)]
        self.rows = int(ends[-1]) if len(ends) else 0
        self._made: TaskArrays | None = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_made": None, "_look": None, "_still": None}

    @property
    def arrays(self) -> TaskArrays:
        """What compiled loops read and write."""
        if self._made is None:
            self._made = _arrays(self._dynamics, self._parts, self.rows)
            self._versions = [-1] * len(self.tasks)
            self._look, self._still = task_rows.bind(self._made, True), task_rows.bind(self._made, False)
        return self._made

    @property
    def e(self) -> Array:
        """What is left to go (k,)."""
        return self.arrays.e

    @property
    def rate(self) -> Array:
        """e' (k,)."""
        return self.arrays.rate

    @property
    def drift(self) -> Array:
        """e'' (k,) at zero acceleration of the coordinates."""
        return self.arrays.drift

    @property
    def J(self) -> Array:
        """The tasks' Jacobian (k, nv)."""
        return self.arrays.J.reshape(self.rows, self._dynamics.nv)

    @property
    def errors(self) -> dict[str, Array]:
        """e by the name of the task, as it was last looked at."""
        return {name: self.e[span].copy() for name, span in zip(self.names, self.spans, strict=True)}

    @property
    def weights(self) -> Array:
        """(k,)."""
        return np.concatenate([task.weight for task in self.tasks]) if self.tasks else np.zeros(0)

    @property
    def moving_slots(self) -> Array:
        """Places in v of the coordinates on which e depends."""
        if any(part.sort in _WHOLE for part in self._parts):
            return np.arange(self._dynamics.nv)
        arrays = self.arrays
        return np.unique(np.concatenate([arrays.column_slots[arrays.columns], arrays.slots]))

    def retarget(self, tasks: Iterable[Task]) -> None:
        """Have other tasks of the same parts and weights."""
        self.tasks = tuple(tasks)
        self._versions = [-1] * len(self.tasks)

    def aim(self, time: float) -> None:
        """Take the goals at a time, of those that move or were changed."""
        given, versions = self.arrays.given, self._versions
        for k, task in enumerate(self.tasks):
            if task.goal.moving or task.goal.version != versions[k]:
                for start, goal in zip(self._starts[k], task.goals(time), strict=True):
                    given[start : start + len(goal)] = goal
                versions[k] = task.goal.version

    def look(self, q: Array, v: Array | None, time: float) -> TaskStack:
        """Write the rows at a state, of numbers that are finite; with v None e and J only.

        StateError names the task whose rows are not finite, as where a body looks for what is in its eye.
        """
        arrays = self.arrays
        arrays.q[:] = q
        arrays.v[:] = 0.0 if v is None else v
        self.aim(time)
        if not (self._still() if v is None else self._look()):
            raise StateError(self.why())
        return self

    def why(self) -> str:
        """What is not finite in the rows."""
        rows = np.column_stack([self.e, self.rate, self.drift, self.J])
        for name, span in zip(self.names, self.spans, strict=True):
            if not np.isfinite(rows[span]).all():
                return f"the {name} has no finite error at this state; move its target, or start elsewhere"
        return "tasks have no finite rows at this state, where a joint is singular"


def _arrays(dynamics: Dynamics, parts: list[TaskPart], rows: int) -> TaskArrays:
    model, nv = dynamics.model, dynamics.nv
    owners = columns(model)
    chains = [set(model.chain(model.bodies[p.body].link)) if p.body >= 0 else set() for p in parts]
    own = [[k for k, (link, _) in enumerate(owners) if link in chain] for chain in chains]
    firsts, sizes = np.arange(nv), np.ones(nv, dtype=np.int64)
    for _, factor, _, slot in model.owners:
        firsts[slot : slot + factor.nv], sizes[slot : slot + factor.nv] = slot, factor.nv
    widths = [_given(dynamics, part) for part in parts]
    given = np.zeros(sum(widths))
    starts = _starts(widths)
    for part, start in zip(parts, starts, strict=False):
        given[start : start + len(part.constants)] = part.constants
    asks = [any(part.sort in about for part in parts) for about in (_FORMULAS, _WHOLE)]
    return TaskArrays(
        _whole(p.sort for p in parts), _whole(p.size for p in parts), _whole(p.body for p in parts),
        _starts([p.size for p in parts]), starts, given,
        _starts([len(c) for c in own]), _whole(k for c in own for k in c),
        _starts([len(p.slots) for p in parts]), _whole(s for p in parts for s in p.slots), _whole(asks),
        _whole(slot for _, slot in owners), firsts.astype(np.int64), sizes,
        np.zeros(dynamics.nq), np.zeros(nv), dynamics.parameters.values_array, np.zeros(0), np.zeros(nv),
        _programs(dynamics, {part.sort for part in parts}),
        np.zeros(rows), np.zeros(rows), np.zeros(rows), np.zeros(rows * nv),
    )  # fmt: skip


def _programs(dynamics: Dynamics, sorts: set[int]) -> TaskPrograms:
    def of_model(name: str, asked: bool) -> ProgramCall:
        return program_call(dynamics, name) if asked else NO_PROGRAM

    def of_body(sort: int) -> ProgramCall:
        return kernel_call(_FORMULAS[sort].kernel) if sort in sorts else NO_PROGRAM

    body = bool(sorts & set(_FORMULAS))
    return TaskPrograms(
        of_model("poses", body), of_model("screws", body), of_model("velocities", body),
        of_model("accelerations", body), of_model("centroidal", bool(sorts & set(_WHOLE))),
        of_model("tracking", POSTURE in sorts), of_body(POINT), of_body(TURN), of_body(LOOK),
    )  # fmt: skip


def _given(dynamics: Dynamics, part: TaskPart) -> int:
    """How many numbers a part is given: constants, goal, its velocity and acceleration."""
    if part.sort in _FORMULAS:
        return _FORMULAS[part.sort].given
    return dynamics.nq + 2 * dynamics.nv if part.sort == POSTURE else 9 if part.sort == CENTER else 6


def _numbered(names: list[str]) -> list[str]:
    """The names, those that come again with their number."""
    seen = Counter[str]()
    result = []
    for name in names:
        seen[name] += 1
        result.append(f"{name} ({seen[name]})" if seen[name] > 1 else name)
    return result


def _whole(values: Iterable[int]) -> Array:
    return np.array(list(values), dtype=np.int64)


def _starts(sizes: list[int]) -> Array:
    """Where each begins, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64)
