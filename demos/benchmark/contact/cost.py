"""What a step costs: frame times at rest and in motion, their parts, and the time against the number of contacts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from demos.benchmark.contact.description import Task
from demos.benchmark.contact.engines import ENGINES, Engine
from demos.benchmark.contact.engines.engine import Unable
from recursive_dyn.codegen.making import optimizing

REST = "sync and the rest"
WARM_UP = 480  # steps, in which the scene comes to rest and everything is compiled


def built(task: Task, label: str) -> Engine | None:
    """An engine with the task, ready to be timed; None where it cannot express it."""
    try:
        engine = ENGINES[label](task)
    except Unable:
        return None
    optimizing.finish()  # what our engine has compiled beside its steps
    return engine


def settled(task: Task, label: str, steps: int = WARM_UP) -> Engine | None:
    """The same after ``steps``, at rest."""
    engine = built(task, label)
    if engine is not None:
        for _ in range(steps):
            engine.advance()
        optimizing.finish()
    return engine


@dataclass(frozen=True)
class Motion:
    """Of the steps of one engine through a task, arrays (steps,): seconds in all, of detection and of the solve,
    contacts, sweeps, what the last sweep still changed in m/s, whether the solve converged, and the energy after it, J.
    """

    times: np.ndarray
    contacts: np.ndarray
    sweeps: np.ndarray
    detection: np.ndarray
    solving: np.ndarray
    residuals: np.ndarray
    converged: np.ndarray
    energies: np.ndarray

    @property
    def sweep_cost(self) -> float:
        """Seconds of solving a sweep and contact; nan where the engine tells no sweeps."""
        work = float((self.contacts * self.sweeps).sum())
        return float(self.solving.sum()) / work if work else float("nan")


def through(engines: dict[str, Engine], steps: int, block: int = 20) -> dict[str, Motion]:
    """Every engine through the same steps from the start, in turn in blocks; what is told is read between steps."""
    rows: dict[str, list[tuple[float, ...]]] = {label: [] for label in engines}
    for start in range(0, steps, block):
        for label, engine in engines.items():
            for _ in range(min(block, steps - start)):
                begin = perf_counter()
                engine.advance()
                spent = perf_counter() - begin
                parts = (engine.times().get(part, 0.0) for part in ("detection", "solve"))
                solution = (engine.residual(), engine.converged(), engine.whole_energy())
                rows[label].append((spent, engine.contacts(), engine.sweeps(), *parts, *solution))
    return {label: Motion(*np.array(told, dtype=float).T) for label, told in rows.items()}


def frames(engine: Engine, count: int) -> np.ndarray:
    """Seconds of each of ``count`` steps, as Python sees them."""
    times = np.empty(count)
    for k in range(count):
        start = perf_counter()
        engine.advance()
        times[k] = perf_counter() - start
    return times


def parts(engine: Engine, count: int) -> dict[str, float]:
    """Median seconds of each part of a step, as our simulation reports them in ``solution.times``, and of the rest."""
    noted: dict[str, list[float]] = {}
    for _ in range(count):
        start = perf_counter()
        engine.advance()
        whole, told = perf_counter() - start, engine.times()
        for part, seconds in (*told.items(), (REST, whole - sum(told.values()))):
            noted.setdefault(part, []).append(seconds)
    return {part: float(np.median(seconds)) for part, seconds in noted.items()}


def in_turn(engines: dict[str, Engine], rounds: int, count: int) -> dict[str, np.ndarray]:
    """Step times of several engines, measured in turn in blocks, so that a busy moment hits all of them."""
    blocks: dict[str, list[np.ndarray]] = {label: [] for label in engines}
    for _ in range(rounds):
        for label, engine in engines.items():
            blocks[label].append(frames(engine, count))
    return {label: np.concatenate(times) for label, times in blocks.items()}


def percentiles(times: np.ndarray, at: Sequence[float] = (50, 95, 99)) -> list[float]:
    """In microseconds."""
    return [float(1e6 * x) for x in np.percentile(times, at)]
