"""How both midpoint rules find a step: sweeps a step, and its time by that of forward dynamics.

Chains of slender links, let go as in ``integrators``, for the first seconds of their motion. Forward dynamics take a
quarter of a step of ``rk4``, which is four of them. Of the variational rule also by length, let go and whipping.
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
LENGTHS, SPEEDS = (10, 30, 100, 300), (0.0, 0.3, 2.0)  # links; rad/s of every hinge, a normal distribution's
RUNS, LEAD = 20, 20  # so often each of both rules in turn, after so many steps; of all their times the medians count


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


def of_length(count: int, speed: float) -> list[str]:
    """Sweeps a step and halvings of a chain of slender hinges at 1 kHz, and time by forward dynamics."""
    start, times = links(SLENDER, False, count), np.empty((2, RUNS))
    simulations = [rd.Simulation(start.dynamics, 1e-3, rule) for rule in (RULES[1], "rk4")]
    for simulation in simulations:
        simulation.warm_up(optimized=True)
        simulation.q = start.q
    simulations[0].v = speed * np.random.default_rng(0).normal(size=count)
    for simulation in simulations:
        simulation.step(LEAD)
    steps, before = max(10, 2000 // count), simulations[0].report
    for k in range(RUNS):
        for own, simulation in zip(times, simulations, strict=True):
            begin = process_time()
            simulation.step(steps)
            own[k] = process_time() - begin
    ours, dynamics = np.median(times, axis=1) / steps
    now, taken = simulations[0].report, RUNS * steps
    halved = f", {now.halvings - before.halvings} halved" if now.halvings > before.halvings else ""
    return [f"{(now.sweeps - before.sweeps) / taken:.2f}{halved}", f"{4.0 * ours / dynamics:.1f}"]


def by_length() -> None:
    """Of chains that are longer and longer."""
    rows = []
    for count in each(LENGTHS, "lengths"):
        cells = [of_length(count, speed) for speed in SPEEDS]
        rows.append([f"{count} hinges", *np.ravel(cells)])
    heads = ["", *np.ravel([(f"{speed:g} rad/s: sweeps a step", "forward dynamics") for speed in SPEEDS])]
    print_table("How the variational rule finds a step of 1 ms", heads, rows)


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
    by_length()
