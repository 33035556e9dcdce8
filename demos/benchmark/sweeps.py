"""How both midpoint rules find a step: sweeps a step, and its time by that of forward dynamics.

Chains of slender links, let go as in ``integrators``, for the first seconds of their motion. Forward dynamics take a
quarter of a step of ``rk4``, which is four of them.
"""

from __future__ import annotations

from time import process_time

import numpy as np

import recursive_dyn as rd
from demos.benchmark.integrators import SLENDER, Start, links
from demos.benchmark.report import print_table
from recursive_dyn.codegen.making.progress import each
from recursive_dyn.simulation.report import Report

RULES, RATES = ("implicit_midpoint", "variational_midpoint"), (60, 240, 1000)
SECONDS, REPEATS = 2.0, 5  # of a motion; of which the fastest counts


def found(start: Start, rule: str, rate: int) -> tuple[Report, float]:
    """Report of a motion by a rule at a rate of steps, Hz, and the CPU time of a step, s."""
    times, simulation = [], rd.Simulation(start.dynamics, 1 / rate, rule)
    simulation.warm_up(optimized=True)
    for _ in range(REPEATS):
        simulation = rd.Simulation(start.dynamics, 1 / rate, rule)
        simulation.q = start.q
        begin = process_time()
        simulation.step(round(SECONDS * rate))
        times.append(process_time() - begin)
    return simulation.report, min(times) / round(SECONDS * rate)


def table() -> None:
    """Of each chain and rate: sweeps a step, halves where there are some, and time by forward dynamics."""
    rows = []
    chains = [(count, ball) for count in (5, 30) for ball in (False, True)]
    for count, ball in each(chains, "sweeps"):
        start = links(SLENDER, ball, count)
        for rate in RATES:
            dynamics = found(start, "rk4", rate)[1] / 4
            cells = []
            for rule in RULES:
                report, time = found(start, rule, rate)
                halved = f", {report.halvings} halved" if report.halvings else ""
                cells += [f"{report.sweeps / round(SECONDS * rate):.1f}{halved}", f"{time / dynamics:.0f}"]
            rows.append([f"{count} {'balls' if ball else 'hinges'}, {rate} Hz", *cells])
    heads = ["", *np.ravel([(f"{rule}: sweeps a step", "forward dynamics") for rule in RULES])]
    print_table("How midpoint rules find a step", heads, rows)
