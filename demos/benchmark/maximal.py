"""Maximal coordinates against the number of bodies: a step of whole scenes, and the sparse solve by itself.

Times are CPU time of this process, all threads together, so that they mean the same on a machine that others use;
steps a second are by the clock.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from importlib.util import find_spec
from time import perf_counter, process_time
from typing import NamedTuple

import numpy as np

import recursive_dyn as rd
from demos.benchmark.report import print_table
from recursive_dyn.codegen.making import optimizing
from recursive_dyn.codegen.making.progress import each
from recursive_dyn.maximal.sparse.block_ldlt import JointEquations
from scene import Body, Scene, joints

SIZES, LONG = (10, 100, 1000, 10_000), 100_000
REDUCED = 300  # links of one tree up to which it is compiled in joint coordinates too
RATE, STEPS = 240, 60  # Hz; steps from the start at most, before undamped chains whirl
ROD = {"mass": 1.0, "center_of_mass": (0.2, 0.0, 0.0), "inertia": np.diag([0.001, 0.02, 0.02])}

Ends = tuple[np.ndarray, np.ndarray]


def _rods(n: int, parent: Callable[[int], int]) -> Scene:
    """Rods on hinges, each at the end of its parent, -1 for the world."""
    scene, rods = Scene(), list[Body]()
    for i in range(n):
        at = parent(i)
        node = scene.world if at < 0 else rods[at]
        place = rd.pose((0.4 if at >= 0 else 0.01 * (i % 100), 0.0, 0.0 if at >= 0 else 0.01 * (i // 100)))
        rods.append(node.attach(Body(f"rod{i}", **ROD), joints.revolute("yz"[i % 2]), at=place))
    return scene


SCENES: dict[str, Callable[[int], Scene]] = {
    "chain": lambda n: _rods(n, lambda i: i - 1),
    "binary tree": lambda n: _rods(n, lambda i: (i + 1) // 2 - 1),
    "pairs": lambda n: _rods(n, lambda i: i - 1 if i % 2 else -1),
}


class Cost(NamedTuple):
    """Of a step: CPU time, s, and steps a second by the clock."""

    step: float
    rate: float


def _cost(simulation: rd.Simulation) -> Cost:
    """The best of a few runs, each from the start."""
    simulation.warm_up(optimized=True)
    beginning, count, best = simulation.snapshot(), 1, Cost(np.inf, 0.0)
    for _ in range(6):
        simulation.restore(beginning)
        simulation.step()
        optimizing.finish()
        begin, clock = process_time(), perf_counter()
        simulation.step(count)
        spent, passed = process_time() - begin, perf_counter() - clock
        best = Cost(min(best.step, spent / count), max(best.rate, count / passed))
        count = max(2, min(STEPS, round(0.1 * best.rate)))
    return best


def steps(sizes: tuple[int, ...]) -> None:
    """A step of scenes of each size, beside joint coordinates, and MuJoCo for the chain."""
    rows = []
    for name, make in SCENES.items():
        for n in each(sizes, f"maximal: {name}"):
            begin = process_time()
            scene = make(n)
            written = process_time() - begin
            begin = process_time()
            simulation = rd.Simulation(scene.compile("velocity_constraints"), 1 / RATE)
            ready = process_time() - begin
            cost = _cost(simulation)
            joint = _cost(rd.Simulation(scene.compile("recursive"), 1 / RATE)).step if _small(name, n) else np.nan
            mujoco = _mujoco(n) if name == "chain" and n <= 1000 else np.nan
            rows.append(
                [f"{name}, {n}", _shown(1e3 * cost.step), f"{1e6 * cost.step / n:.2f}", f"{cost.rate:.3g}",
                 _shown(1e3 * joint), _shown(1e3 * mujoco), f"{written:.2g}", f"{ready:.2g}"]
            )  # fmt: skip
            del simulation, scene
            gc.collect()
    head = ["", "a step, ms", "a body, us", "steps/s", "joint coordinates, ms", "MuJoCo, ms", "scene, s", "compile, s"]
    print_table("Velocity constraints in maximal coordinates, CPU time", head, rows)


def _small(name: str, n: int) -> bool:
    return n <= REDUCED or (name == "pairs" and n <= 10_000)


def _shown(x: float) -> str:
    return "-" if np.isnan(x) else f"{x:.3g}"


def _mujoco(n: int) -> float:
    """CPU time of a step of MuJoCo's, in joint coordinates, of the same chain."""
    if find_spec("mujoco") is None:
        return np.nan
    import mujoco

    spec = mujoco.MjSpec()
    spec.option.timestep, spec.option.integrator = 1 / RATE, mujoco.mjtIntegrator.mjINT_EULER
    body = spec.worldbody
    for i in range(n):
        body = body.add_body(pos=[0.4 if i else 0.0, 0.0, 0.0], mass=1.0, ipos=[0.2, 0.0, 0.0], explicitinertial=True)
        body.inertia = np.diag(ROD["inertia"])
        body.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 1, 0] if i % 2 == 0 else [0, 0, 1])
    model = spec.compile()
    data, count = mujoco.MjData(model), min(STEPS, max(2, 20_000 // n))
    best = np.inf
    for _ in range(5):
        mujoco.mj_resetData(model, data)
        begin = process_time()
        for _ in range(count):
            mujoco.mj_step(model, data)
        best = min(best, (process_time() - begin) / count)
    return best


def _chain_ends(n: int) -> Ends:
    return np.arange(-1, n - 1), np.arange(n)


def _tree_ends(n: int) -> Ends:
    return (np.arange(n) + 1) // 2 - 1, np.arange(n)


def _four_bars(n: int) -> Ends:
    """Three moving bars each, closed to the world."""
    first = 3 * np.arange(n // 3)[:, None]
    a = np.where(np.arange(4) == 0, -1, first + np.arange(4) - 1)
    b = np.where(np.arange(4) == 3, -1, first + np.arange(4))
    return a.ravel(), b.ravel()


def _ring_of_rings(n: int) -> Ends:
    """Rings of ten links, hung in one another at opposite links, like a ladder chain."""
    k, ring = np.arange(n), np.arange(n) // 10 * 10
    after = ring + (k + 1) % 10
    hung = np.arange(10, n, 10)
    return np.concatenate([k, hung - 5, [-1]]), np.concatenate([after, hung, [0]])


def _net(n: int) -> Ends:
    """A square net of links, hung at a corner."""
    side = round(n**0.5)
    k = np.arange(side * side).reshape(side, side)
    a = np.concatenate([k[:-1].ravel(), k[:, :-1].ravel(), [-1]])
    return a, np.concatenate([k[1:].ravel(), k[:, 1:].ravel(), [0]])


GRAPHS: dict[str, tuple[Callable[[int], Ends], int, int]] = {  # joints, rows of each, largest size
    "chain": (_chain_ends, 5, LONG),
    "binary tree": (_tree_ends, 5, LONG),
    "four-bars": (_four_bars, 4, LONG),
    "rings in rings": (_ring_of_rings, 3, LONG),
    "net": (_net, 2, 10_000),
}


def solves(sizes: tuple[int, ...]) -> None:
    """The order of elimination, factors and a solve of random rows between links that hang together so."""
    rows = []
    for name, (make, height, most) in GRAPHS.items():
        for n in sizes:
            if n <= most:
                rows.append([f"{name}, {n}", *_solve_cost(n, make(n), height)])
    print_table("Sparse factors and a solve", ["", "loops", "order, s", "factors, ms", "solve, ms", "a link, us"], rows)


def _solve_cost(n: int, ends: Ends, height: int) -> list[str]:
    a, b = ends
    links, rng = int(max(a.max(), b.max())) + 1, np.random.default_rng(0)
    X = rng.normal(size=(links, 6, 6))
    M, (Ja, Jb) = X @ X.swapaxes(1, 2) + 0.5 * np.eye(6), rng.normal(size=(2, len(a), 6, 6))
    begin = process_time()
    equations = JointEquations(links, a, b, np.full(len(a), height))
    order = process_time() - begin
    f, c = rng.normal(size=(links, 6)), np.zeros((len(a), 6))
    equations.factor(M, Ja, Jb)
    equations.solve(f, c)
    optimizing.finish()
    factors, solve = (_best(run) for run in (lambda: equations.factor(M, Ja, Jb), lambda: equations.solve(f, c)))
    joints_left = len(equations.order.loops.joint)
    return [str(joints_left), f"{order:.2g}", _shown(1e3 * factors), _shown(1e3 * solve),
            f"{1e6 * (factors + solve) / links:.2f}"]  # fmt: skip


def _best(run: Callable[[], object]) -> float:
    spent = []
    for _ in range(5):
        begin = process_time()
        run()
        spent.append(process_time() - begin)
    return min(spent)


def all_of_them(long: bool) -> None:
    """Both tables; long: up to 10^5 bodies, which takes minutes to write down and to compile."""
    solves((*SIZES, LONG))
    steps((*SIZES, LONG) if long else SIZES)
