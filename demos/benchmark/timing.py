"""Timing that survives a noisy machine: minima over repeats, contenders taken in turn."""

from collections.abc import Callable, Mapping
from statistics import median
from time import perf_counter
from typing import NamedTuple

from recursive_dyn.codegen.making import optimizing

Run = Callable[[int], object]  # run(count) evaluates count times


class Timing(NamedTuple):
    """Seconds per evaluation over the repeats."""

    best: float
    median: float


def best_of(run: Run, seconds: float = 0.3, repeats: int = 5) -> float:
    """Seconds per evaluation of `run(count)`: the least of `repeats` that take about `seconds` together."""
    return interleaved({"": run}, seconds, repeats)[""].best


def interleaved(runs: Mapping[str, Run], seconds: float = 0.3, repeats: int = 5) -> dict[str, Timing]:
    """Seconds per evaluation of each contender; every round times all of them once, so that drift hits all alike.

    seconds: about what each contender takes in all, its warm-up and calibration aside.
    """
    counts = {label: _count(run, seconds / repeats) for label, run in runs.items()}
    samples: dict[str, list[float]] = {label: [] for label in runs}
    for _ in range(repeats):
        for label, run in runs.items():
            samples[label].append(_elapsed(run, counts[label]) / counts[label])
    return {label: Timing(min(taken), median(taken)) for label, taken in samples.items()}


def _count(run: Run, seconds: float) -> int:
    """How many evaluations fill `seconds`; doubling up to a tenth of them also warms the caches.

    What the first one asked for in the background is waited for.
    """
    run(1)
    optimizing.finish()
    count = 1
    while (elapsed := _elapsed(run, count)) < seconds / 10:
        count *= 2
    return max(1, round(count * seconds / elapsed))


def _elapsed(run: Run, count: int) -> float:
    start = perf_counter()
    run(count)
    return perf_counter() - start
