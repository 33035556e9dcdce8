"""Equations of motion on manifolds: time to derive them, to compile them, and of a step."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import TypeVar

import numpy as np

from demos.benchmark.report import print_table
from demos.benchmark.timing import best_of
from demos.manifolds.gallery import SYSTEMS, system
from demos.manifolds.system import System
from recursive_dyn.codegen.making.progress import each
from recursive_dyn.manifold.motion.manifold_dynamics import ManifoldDynamics
from recursive_dyn.manifold.motion.motion import Motion

Result = TypeVar("Result")
CHAINS = range(1, 13)
TIMESTEP = 1e-4
REPEATS = 7
NUMBERS = {"g": 9.81, "k": 0.4, "r": 0.5, "w": 2.0} | {
    name: axis for names, axis in zip((("e1", "a1"), ("a2",), ("e3", "a3")), np.eye(3), strict=True) for name in names
}
NOTE = """
Derivation: from the Lagrangian to all rows, with nothing remembered of products met before; again: the same with what
is remembered; printing: all rows as compact text; each the least of several runs, with symbols declared anew.
Compilation: lowering to first step, machine code not in the cache. Operations and time are those of one step of the
Runge-Kutta-Munthe-Kaas method of order 4 (accelerations four times and a landing), in the compiled loop."""


def all_of_them(seconds: float = 0.3) -> None:
    """The table of systems and that of chains."""
    systems(seconds)
    chains(seconds)


def systems(seconds: float) -> None:
    """Every system of the gallery."""
    rows = []
    for name in each([n for n in SYSTEMS if n != "chain"], "systems"):
        found = system(name)
        rows.append([found.name, found.manifold, *_row(SYSTEMS[name], seconds)])
    print_table("Equations of motion on manifolds", ["system", "manifold", *_HEAD], rows)
    print(NOTE)


def chains(seconds: float) -> None:
    """Chains of 1 to 12 pendulums on a cart, and how their cost grows."""
    rows, times = [], []
    for n in each(CHAINS, "chains"):
        cells = _row(lambda n=n: system("chain", n), seconds)
        times.append((float(cells[0]), float(cells[-1])))
        rows.append([str(n), *cells])
    print_table("Chains of n spherical pendulums on a cart, R x (S^2)^n", ["n", *_HEAD], rows)
    derivation, step = np.transpose(times)
    print(f"\nGrowth from n = 4 on: derivation n^{growth(CHAINS, derivation):.2f}, step n^{growth(CHAINS, step):.2f}")


_HEAD = [
    "derivation ms",
    "again ms",
    "printing ms",
    "steps",
    "rows",
    "compilation ms",
    "operations a step",
    "us a step",
]


def _row(build: Callable[[], System], seconds: float) -> list[str]:
    equations = build().derive()
    compiling, motion = compiled(equations.compile)
    own = [motion.dynamics.operation_count(part).total for part in ("slope", "landing")]
    step = best_of(motion.step, seconds)
    times = (f"{time * 1e3:.2f}" for time in derivation_times(build))
    return [
        *times, str(len(equations.steps) + 1), str(len(equations.rows)),
        f"{compiling * 1e3:.0f}", str(4 * own[0] + own[1]), f"{step * 1e6:.2f}",
    ]  # fmt: skip


def derivation_times(build: Callable[[], System]) -> tuple[float, float, float]:
    """Seconds to derive a system's equations, to derive them again, and to print them; the least of several runs."""
    times = []
    for _ in range(REPEATS):
        forget()
        first, _ = _timed(build().derive)
        again, equations = _timed(build().derive)
        printing, _ = _timed(equations.__str__)
        times.append((first, again, printing))
    first, again, printing = np.min(times, axis=0)
    return first, again, printing


def _timed(call: Callable[[], Result]) -> tuple[float, Result]:
    start = perf_counter()
    result = call()
    return perf_counter() - start, result


def forget() -> None:
    """Empty what the symbolic part remembers of products of atoms."""
    modules = [module for name, module in sys.modules.items() if name.startswith("recursive_dyn.manifold.")]
    for function in {id(f): f for module in modules for f in vars(module).values()}.values():
        if callable(getattr(function, "cache_clear", None)):
            function.cache_clear()


def compiled(build: Callable[[], ManifoldDynamics]) -> tuple[float, Motion]:
    """(seconds to lower, compile and take the first step, the motion); machine code is made, not read."""
    with _empty_cache():
        start = perf_counter()
        dynamics = build()
        motion = moving(dynamics)
        motion.step()
        return perf_counter() - start, motion


def moving(dynamics: ManifoldDynamics, seed: int = 0) -> Motion:
    """A motion from a random state, with numbers for all parameters."""
    rng = np.random.default_rng(seed)
    for name in dynamics.parameters:
        dynamics.parameters[name] = _number(name, dynamics.parameters.symbol(name).shape)
    motion = Motion(dynamics, TIMESTEP)
    for place in dynamics.variables:
        symbol = place.symbol
        if symbol.base.is_unit:
            q = _unit(rng, 3)
            motion.place(symbol, q, np.cross(rng.normal(size=3), q))
        elif symbol.base.is_rotation:
            motion.place(symbol, _unit(rng, 4), rng.normal(size=3))
        else:
            motion.place(symbol, 1 + rng.random(symbol.shape), rng.normal(size=symbol.shape))
    if dynamics.constrained:
        motion.admit()
    return motion


def _number(name: str, shape: tuple[int, ...]) -> object:
    return NUMBERS.get(name, {(): 1.0, (3,): [0.02, 0.03, -0.05], (3, 3): np.diag([1.0, 1.2, 0.8])}[shape])


def _unit(rng: np.random.Generator, size: int) -> np.ndarray:
    x = rng.normal(size=size)
    return x / np.linalg.norm(x)


def growth(sizes: range, times: np.ndarray, least: int = 4) -> float:
    """Exponent of the power law that fits best, in logarithms, from a size on."""
    n = np.array(sizes, dtype=float)
    large = n >= least
    return float(np.polyfit(np.log(n[large]), np.log(times[large]), 1)[0])


@contextmanager
def _empty_cache() -> Iterator[None]:
    before = os.environ.get("RECURSIVE_DYN_CACHE")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["RECURSIVE_DYN_CACHE"] = folder
        try:
            yield
        finally:
            if before is None:
                del os.environ["RECURSIVE_DYN_CACHE"]
            else:
                os.environ["RECURSIVE_DYN_CACHE"] = before
