"""What the integrators make of energy that nothing takes: a minute of undamped chains, and what a step costs.

"slender": links of the inertia of a rod, about whose axis they spin fast; "fat": of a ball. Rings are let go level, or
from where each touches the next one's outside. Closed chains hang at both ends, by a constraint.
"""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import NamedTuple

import numpy as np

import recursive_dyn as rd
from demos import bezier_chain, torus_chain
from demos.benchmark import resting
from demos.benchmark.report import print_table
from recursive_dyn.codegen.making.progress import each
from scene import Body, Scene, joints

RULES = ("semi_implicit_euler", "rk4", "linearly_implicit_rk4", "implicit_midpoint", "variational_midpoint")
SLENDER, FAT = np.diag([0.02, 0.021, 0.001]), 0.05 * np.eye(3)
SECONDS, CHECKED = 60.0, 5  # length of a run; steps between looks at its energy
TIMED, REPEATS = 60, 20  # steps from the start, of which the CPU time is taken
BLOWN = 10.0  # times the energy above rest: what is off by so much is of no use


class Start(NamedTuple):
    """Dynamics, q (nq,) where all is let go, and q (nq,) of least energy."""

    dynamics: rd.Dynamics
    q: np.ndarray
    rest: np.ndarray


def links(inertia: np.ndarray, ball: bool, count: int = 5) -> Start:
    """A chain of links of 1 kg and 0.5 m, on balls or on hinges about x, y, z in turn, let go well off the plumb."""
    scene = Scene()
    node: Body | object = scene.world
    for i in range(count):
        body = Body(f"link{i}", mass=1.0, center_of_mass=(0, 0, -0.25), inertia=inertia)
        joint = joints.ball() if ball else joints.revolute("xyz"[i % 3])
        node = node.attach(body, joint, at=rd.pose((0, 0, -0.5 if i else 0.0)))
    dynamics = scene.compile()
    q = dynamics.neutral()
    lean = (0.5, 0.2, 0.0, 0.84) if ball else (0.8, 0.3, 0.2, 0.4, -0.3)[:count]
    q[: len(lean)] = lean
    if ball:
        q[:4] /= np.linalg.norm(q[:4])
    return Start(dynamics, q, dynamics.neutral())


def closed(inertia: np.ndarray, ball: bool) -> Start:
    """Six links of 1 kg and 0.5 m whose two ends are pinned to one place, let go as a regular hexagon upon a corner."""
    scene, count = Scene(), 6
    node: Body | object = scene.world
    for i in range(count):
        body = Body(f"link{i}", mass=1.0, center_of_mass=(0, 0, -0.25), inertia=inertia)
        joint = joints.ball() if ball else joints.revolute("y")
        node = node.attach(body, joint, at=rd.pose((0, 0, -0.5 if i else 0.0)))
    scene.pin(node, scene.world, point_a=(0, 0, -0.5), point_b=(0, 0, 0), axis=None if ball else (0, 1, 0))
    angles = np.array([(-np.pi / 3, *(count - 1) * [np.pi / 3]), (0.0, 0.0, 0.0, np.pi, 0.0, 0.0)])
    if ball:
        angles = np.stack([0 * angles, np.sin(angles / 2), 0 * angles, np.cos(angles / 2)], axis=-1).reshape(2, -1)
    return Start(scene.compile(), *angles)


def rings(outside: bool) -> Start:
    """Five rings in one another."""
    dynamics, hanging = torus_chain.chain(5).compile(), torus_chain.at_rest(5)
    q = hanging.copy()
    q[0] = np.pi / 2
    if outside:
        q[:2] = 0.8, 0.3
        q[[3, 7, 11, 15]], q[[5, 9, 13, 17]] = 0.3, 0.2
    return Start(dynamics, q, hanging)


def rings_along_a_curve() -> Start:
    """The gallery's chain along a Bezier curve, without its dampers."""
    q, lowest = bezier_chain.start(), bezier_chain.start()
    lowest[0] = 0.5
    return Start(bezier_chain.chain().compile(), q, lowest)


CHAINS: dict[str, Callable[[], Start]] = {
    "slender hinge": lambda: links(SLENDER, False),
    "fat hinge": lambda: links(FAT, False),
    "slender ball": lambda: links(SLENDER, True),
    "fat ball": lambda: links(FAT, True),
}
RINGS: dict[str, Callable[[], Start]] = {
    "rings": lambda: rings(False),
    "rings from outside": lambda: rings(True),
    "bezier chain": rings_along_a_curve,
}


LOOPS: dict[str, Callable[[], Start]] = {
    "closed slender hinges": lambda: closed(SLENDER, False),
    "closed fat balls": lambda: closed(FAT, True),
}


class Run(NamedTuple):
    """error: the largest of energy over that above rest; the simulation where that ended."""

    error: float
    simulation: rd.Simulation


def energy(simulation: rd.Simulation) -> float:
    """All of it, J."""
    d, q, v = simulation.dynamics, simulation.q, simulation.v
    return float(d.kinetic_energy(q, v) + d.potential_energy(q) + d.elastic_energy(q))


def run(start: Start, rule: str, rate: int, seconds: float = SECONDS) -> Run:
    """A motion by a rule at a rate of steps, Hz, until it ends or fails."""
    simulation = _let_go(start, rule, rate)
    first = energy(simulation)
    above = first - float(start.dynamics.potential_energy(start.rest))
    worst = 0.0
    while simulation.time < seconds - 0.5 / rate and worst < BLOWN:
        try:
            simulation.step(CHECKED)
        except rd.StateError:
            worst = np.inf
        worst = max(worst, abs(energy(simulation) - first) / above)
    return Run(worst, simulation)


def cost(start: Start, rule: str, rate: int) -> float:
    """CPU time of a step, s, from the start on."""
    simulation, times = _let_go(start, rule, rate), []
    simulation.warm_up(optimized=True)
    beginning = simulation.snapshot()
    for _ in range(REPEATS):
        simulation.restore(beginning)
        begin = process_time()
        simulation.step(TIMED)
        times.append(process_time() - begin)
    return min(times) / TIMED


def _let_go(start: Start, rule: str, rate: int) -> rd.Simulation:
    simulation = rd.Simulation(start.dynamics, 1 / rate, rule)
    simulation.q = start.q
    return simulation


def table() -> None:
    """Errors of energy, and what a step costs."""
    errors, costs = [], []
    for name, make in each({**CHAINS, **RINGS, **LOOPS}.items(), "integrators"):
        start = make()
        for rate in (240, 60):
            runs = [run(start, rule, rate) for rule in RULES]
            halvings = runs[RULES.index("linearly_implicit_rk4")].simulation.report.halvings
            tries = 1.0 + 2.0 * halvings / (SECONDS * rate)
            errors.append([f"{name}, {rate} Hz", *map(_error, runs), f"{tries:.2f}"])
        first, *others = (cost(start, rule, 240) for rule in RULES)
        costs.append([name, f"{1e6 * first:.2f}", *(f"{other / first:.1f}" for other in others)])
    print_table("Largest error of energy over 60 s, % of that above rest", ["", *RULES, "tries a step"], errors)
    print_table("CPU time of a step at 240 Hz: us, then times as much", ["", *RULES], costs)
    resting.table()


def _error(of: Run) -> str:
    if of.error >= BLOWN:
        return f"lost at {of.simulation.time:.0f} s"
    return f"{100 * of.error:.2g}"
