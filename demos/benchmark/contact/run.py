"""Running a task on an engine, and many of them on all cores."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from time import perf_counter

import numpy as np

from demos.benchmark.contact import piles, simbench
from demos.benchmark.contact.description import Task
from demos.benchmark.contact.engines import ENGINES
from demos.benchmark.contact.engines.engine import Engine, Unable
from recursive_dyn.codegen.making.progress import each


@dataclass(frozen=True)
class Outcome:
    """error: the task's figure; step: mean time of a step, s; reason: why there is none.

    ending, drift: of piles, sinking at the end and the largest way sideways, mm;
    unsettled: steps whose contact solve did not converge, where the engine tells.
    """

    error: float = np.nan
    step: float = np.nan
    ending: float = np.nan
    drift: float = np.nan
    unsettled: int = 0
    reason: str = ""


def tasks() -> dict[str, Task]:
    """Every task with a figure, by name."""
    return simbench.tasks() | piles.tasks()


def trace(engine: Engine, steps: int) -> tuple[np.ndarray, np.ndarray, float, int]:
    """Times (k,), samples (k, ...) before each step, seconds spent in steps, steps that did not converge."""
    task, spent, unsettled = engine.task, 0.0, 0
    samples = [np.array(task.sample(engine))]
    for _ in range(steps):
        start = perf_counter()
        engine.step()
        spent += perf_counter() - start
        unsettled += not engine.converged()
        samples.append(np.array(task.sample(engine)))
    samples = samples if task.correction else samples[:-1]  # SimBenchmark looks before each step only
    return task.timestep * np.arange(len(samples)), np.array(samples), spent, unsettled


def measure(task: Task, label: str, steps: int | None = None) -> Outcome:
    """The task on the engine of that label, in this process."""
    engine = None
    try:
        engine = ENGINES[label](task)
        steps = task.steps if steps is None else steps
        times, samples, spent, unsettled = trace(engine, steps)
        pile = (piles.sinking(samples)[-1], piles.drift(samples)) if task.correction and samples.ndim == 3 else ()
        ending, drift = pile or (np.nan, np.nan)
        return Outcome(task.error(times, samples), spent / steps, ending, drift, unsettled)
    except Unable as reason:
        return Outcome(reason=str(reason))
    finally:
        if engine is not None:
            engine.close()


def _job(name: str, label: str, steps: int | None) -> Outcome:
    try:
        return measure(tasks()[name], label, steps)
    except Exception as error:  # one engine's failure is a line in the table, not the end of it
        return Outcome(reason=f"{type(error).__name__}: {error}")


def outcomes(
    names: Iterable[str], labels: Iterable[str], workers: int = 2, steps: int | None = None
) -> dict[tuple[str, str], Outcome]:
    """By task and engine, each in a process of a pool."""
    chosen = list(names)
    jobs = [(name, label) for label in labels for name in chosen]
    found: dict[tuple[str, str], Outcome] = {}
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        pending = {pool.submit(_job, *job, steps): job for job in jobs}
        for done in each(as_completed(pending), "contact tests", len(jobs)):
            found[pending[done]] = done.result()
    return found
