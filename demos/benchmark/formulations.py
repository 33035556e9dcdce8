"""The same scene in all formulations: what joints miss, what energy drifts, which steps are stable, what one costs.

Systems and formulations are those of the demo ``three_ways``, let go undamped; "C" is the most by which a joint, or the
constraint that closes a loop, was not met, m or rad, "energy" the most by which it was off, share of that in play.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import process_time
from typing import NamedTuple

from demos.benchmark.report import print_table
from demos.three_ways import GREEN, SYSTEMS, WAYS, Run, Way
from recursive_dyn.codegen.making.progress import each

STEPS = (1 / 30, 1 / 60, 1 / 240, 1 / 1000)
REDUCED = tuple(
    Way(f"{method}, {rule}", method, rule, GREEN)
    for method, rule in (
        ("recursive", "semi_implicit_euler"), ("recursive", "linearly_implicit_rk4"), ("lagrangian", "rk4"),
        ("trace", "rk4"),
    )
)  # fmt: skip
MAXIMAL = tuple(Way(f"{way.method}, {way.integrator}", *way[1:]) for way in WAYS if way.method != "recursive")
COUNT, LOOKS = 100_000, 2000  # steps, and how often they are looked at
WILD = 2.0  # times the energy in play: what is off by so much is of no use


class Result(NamedTuple):
    """Of a run: steps taken, whether it came to its end, the most of C and of energy, s of CPU a step."""

    steps: int
    whole: bool
    opening: float
    drift: float
    cost: float

    def text(self) -> str:
        """A cell."""
        if not self.whole and self.drift > WILD:
            return f"lost after {self.steps}"
        return f"{self.opening:.0e}, {100 * self.drift:.1g} %{'' if self.whole else f' ({self.steps})'}"


def run(name: str, way: Way, h: float, seconds: float) -> Result:
    """A system by a formulation in steps of h, as far as ``seconds`` of CPU go."""
    it = Run.of(SYSTEMS[name](), way, h)
    it.simulation.warm_up(optimized=True)
    it.step()
    opening, drift, steps, spent = it.opening(), it.drift(), 1, 0.0
    while steps < COUNT and spent < seconds:
        start = process_time()
        for _ in range(COUNT // LOOKS):
            it.step()
        spent += process_time() - start
        steps += COUNT // LOOKS
        drift = max(drift, it.drift())
        if it.lost or not drift < WILD:
            return Result(steps, False, opening, float("inf"), spent / steps)
        opening = max(opening, it.opening())
    return Result(steps, steps >= COUNT, opening, drift, spent / steps)


def table(seconds: float) -> None:
    """A table a system; seconds: of CPU a run."""
    head = ["formulation", *(f"C, energy at 1/{round(1 / h)} s" for h in STEPS), "largest step", "us a step"]
    for name in SYSTEMS:
        rows: list[Sequence[str]] = []
        for way in each((*MAXIMAL, *REDUCED), f"formulations of the {name}"):
            found = [run(name, way, h, seconds) for h in STEPS]
            stable = [h for h, result in zip(STEPS, found, strict=True) if result.drift < WILD]
            largest = f"1/{round(1 / stable[0])}" if stable else "none"
            rows.append([way.name, *(result.text() for result in found), largest, f"{1e6 * found[-1].cost:.0f}"])
        print_table(f"{name}: most of C and of energy over {COUNT} steps, or those in brackets", head, rows)
