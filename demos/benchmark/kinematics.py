"""Inverse kinematics: ours beside the closed-loop algorithm that Pinocchio's documentation gives, in Python on its C++.

Targets are met to 1e-8 in every row. Warm: from 0.01 rad off, as from frame to frame; cold: from the neutral
configuration to poses of random configurations, ours with up to four starts and within the limits, CLIK without limits
as the documentation has it (steps of a tenth, 1000 iterations).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from demos.benchmark.cases import Case, hinge_chain, robots
from demos.benchmark.ours import Ours, scene_of
from demos.benchmark.peers.pinocchio_peer import PinocchioPeer
from demos.benchmark.report import print_table
from demos.benchmark.timing import Run, interleaved
from recursive_dyn import control
from recursive_dyn.control.inverse_kinematics import search_of
from recursive_dyn.dynamics.dynamics import Dynamics
from scene import Body, Scene, joints

OFF, STATES, TRIES = 0.01, 16, 200
TOLERANCE = 1e-8
POSE, PLACE, CENTER = "pose", "place", "centre of mass"
Rows = tuple[tuple[str, int], ...]  # what of which hinge


@dataclass(frozen=True)
class Row:
    """Targets on a case of the benchmark, whose hinges Pinocchio knows too, or on a scene that it cannot express."""

    rows: Rows
    case: Case | None = None
    scene: Scene | None = None


def table_rows() -> dict[str, Row]:
    """Every row of the table."""
    several = ((POSE, -1), (PLACE, 19), (CENTER, 0))
    return {
        "kuka, a pose": Row(((POSE, -1),), robots()["kuka"]),
        "30 hinges, a pose": Row(((POSE, -1),), hinge_chain(30, "random")),
        "30 hinges, a pose, a place, the centre of mass": Row(several, hinge_chain(30, "random")),
        "10 beads on curves and surfaces, a pose": Row(((POSE, -1),), scene=invented()),
    }


def invented() -> Scene:
    """Ten bodies on helices, spheres and each other's tori: 25 coordinates that no list of joints has."""
    import sympy as sp

    s = sp.Symbol("s", real=True)
    helix = joints.curve([0.2 * sp.cos(s), 0.2 * sp.sin(s), s / 10], s, limits=[(-3, 3)])
    dome = joints.surface(joints.surfaces.ellipsoid(0.3, 0.25, 0.2), limits=[(-3, 3), (-1.2, 1.2)])
    torus = joints.surfaces.torus(0.2, 0.05)
    scene = Scene()
    node: Any = scene.world
    kinds = (helix, dome, joints.surface_on_surface(torus, torus))
    for k in range(10):
        node = node.attach(Body(f"b{k}", mass=1.0, inertia=0.01 * np.eye(3)), kinds[k % 3])
    return scene


def targets(dynamics: Dynamics, rows: Rows, q: np.ndarray) -> list[control.Task]:
    """What this configuration meets."""
    X = dynamics.poses(q)
    made = {
        POSE: lambda k: control.Pose(dynamics.bodies[k], X[k]),
        PLACE: lambda k: control.Position(dynamics.bodies[k], X[k, :3, 3]),
        CENTER: lambda k: control.CenterOfMass(dynamics.center_of_mass(q)),
    }
    return [made[kind](k) for kind, k in rows]


class Clik:
    """q += J^T (J J^T + damping)^-1 e, with the logarithm's Jacobian; whole steps for warm starts."""

    def __init__(self, peer: PinocchioPeer, case: Case, rows: Rows) -> None:
        self.pin, self.model, self.data = peer.pin, peer.model, peer.data
        ids = [self.model.getJointId(name) for name in case.hinges]
        self.rows = [(kind, ids[k]) for kind, k in rows]

    def aims(self, q: np.ndarray) -> list[Any]:
        """What a configuration reaches."""
        pin = self.pin
        pin.forwardKinematics(self.model, self.data, q)
        center = pin.centerOfMass(self.model, self.data, q).copy()
        found = {POSE: lambda j: self.data.oMi[j].copy(), PLACE: lambda j: self.data.oMi[j].translation.copy()}
        return [center if kind == CENTER else found[kind](joint) for kind, joint in self.rows]

    def solve(self, aims: list[Any], q: np.ndarray, step: float = 1.0, most: int = 100) -> tuple[np.ndarray, int]:
        """(q, iterations), most + 1 where it does not converge."""
        pin = self.pin
        for k in range(most + 1):
            pin.computeJointJacobians(self.model, self.data, q)
            parts = [self._row(kind, joint, aim, q) for (kind, joint), aim in zip(self.rows, aims, strict=True)]
            e = np.concatenate([part[0] for part in parts])
            if np.abs(e).max() < TOLERANCE:
                return q, k
            J = np.vstack([part[1] for part in parts])
            q = pin.integrate(self.model, q, step * J.T @ np.linalg.solve(J @ J.T + 1e-12 * np.eye(len(e)), e))
        return q, most + 1

    def _row(self, kind: str, joint: int, aim: Any, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        pin = self.pin
        if kind == CENTER:
            J = pin.jacobianCenterOfMass(self.model, self.data, q)
            return aim - self.data.com[0], J
        if kind == PLACE:
            frame = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
            J = pin.getJointJacobian(self.model, self.data, joint, frame)[:3]
            return aim - self.data.oMi[joint].translation, J
        way = self.data.oMi[joint].actInv(aim)
        J = pin.getJointJacobian(self.model, self.data, joint, pin.ReferenceFrame.LOCAL)
        return pin.log6(way).vector, pin.Jlog6(way.inverse()) @ J


def table(seconds: float) -> None:
    """Print what a solve takes."""
    rows = []
    for name, task in table_rows().items():
        dynamics = (task.scene or scene_of(task.case)).compile() if task.case is None else _ours(task.case)
        rows.append([name, str(dynamics.nv), *_warm(dynamics, task, seconds), *_cold(dynamics, task)])
    head = ["targets", "coordinates", "compiled, us", "from Python, us", "iterations", "CLIK, us (ratio)",
            "iterations", "found, cold", "CLIK"]  # fmt: skip
    print_table("inverse kinematics", head, rows)


def _ours(case: Case) -> Dynamics:
    n = len(case.hinges)
    return Ours(case, np.zeros(n), np.zeros(n), np.zeros(n)).dynamics


def peer(case: Case | None, rows: Rows) -> Clik | None:
    """Pinocchio's; None where it is not installed or cannot express the scene."""
    if case is None or not PinocchioPeer.available():
        return None
    n = len(case.hinges)
    return Clik(PinocchioPeer(case, np.zeros(n), np.zeros(n), np.zeros(n)), case, rows)


def middle(dynamics: Dynamics, rng: np.random.Generator) -> np.ndarray:
    """A configuration away from limits and from where coordinates of surfaces have poles."""
    return dynamics.integrate(dynamics.neutral(), rng.uniform(-0.8, 0.8, dynamics.nv), 1.0)


def _warm(dynamics: Dynamics, task: Row, seconds: float) -> list[str]:
    rng = np.random.default_rng(0)
    q = middle(dynamics, rng)
    starts = [dynamics.integrate(q, OFF * rng.normal(size=dynamics.nv), 1.0) for _ in range(STATES)]
    aims, clik = targets(dynamics, task.rows, q), peer(task.case, task.rows)
    search = search_of(dynamics, aims, None)
    found = [control.inverse_kinematics(dynamics, aims, start, tolerance=TOLERANCE) for start in starts]
    assert all(each.converged for each in found)

    def compiled(k: int) -> None:
        search.it.q[:] = starts[k]
        search.run()

    runs = {"compiled": compiled, "python": lambda k: control.inverse_kinematics(dynamics, aims, starts[k])}
    steps = [f"{np.mean([each.iterations for each in found]):.1f}"]
    if clik is not None:
        reached = clik.aims(q)
        runs["clik"] = lambda k: clik.solve(reached, starts[k])
        steps.append(f"{np.mean([clik.solve(reached, start)[1] for start in starts]):.1f}")
    times = {label: 1e6 * t.best for label, t in interleaved({k: over(f) for k, f in runs.items()}, seconds).items()}
    own = [f"{times['compiled']:.1f}", f"{times['python']:.0f}", steps[0]]
    if clik is None:
        return [*own, "-", "-"]
    return [*own, f"{times['clik']:.0f} ({times['clik'] / times['python']:.1f})", steps[1]]


def over(solve: Callable[[int], object]) -> Run:
    """Of the states, one after the other."""

    def run(count: int) -> None:
        for k in range(count):
            solve(k % STATES)

    return run


def _cold(dynamics: Dynamics, task: Row) -> list[str]:
    rng, start = np.random.default_rng(1), dynamics.neutral()
    goals = [dynamics.random(rng) if task.case is not None else middle(dynamics, rng) for _ in range(TRIES)]
    ours = [control.inverse_kinematics(dynamics, targets(dynamics, task.rows, q), start).converged for q in goals]
    clik = peer(task.case, task.rows)
    if clik is None:
        return [f"{np.mean(ours):.0%}", "-"]
    theirs = [clik.solve(clik.aims(q), start, 0.1, 1000)[1] <= 1000 for q in goals]
    return [f"{np.mean(ours):.0%}", f"{np.mean(theirs):.0%}"]
