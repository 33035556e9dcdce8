"""What a step costs: frame times of a standing robot and their parts, and the time against the number of contacts."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

import numpy as np

from demos.benchmark.contact.description import Task
from demos.benchmark.contact.engines import ENGINES, Engine
from demos.benchmark.contact.engines.engine import Unable

REST = "sync and the rest"
WARM_UP = 480  # steps, in which the scene comes to rest and everything is compiled


def settled(task: Task, label: str) -> Engine | None:
    """An engine with the task at rest; None where it cannot express it."""
    try:
        engine = ENGINES[label](task)
    except Unable:
        return None
    for _ in range(WARM_UP):
        engine.advance()
    return engine


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
