"""Robots that are held at points by constraints: derivatives of their forward dynamics, beside Pinocchio's."""

from __future__ import annotations

import numpy as np
import sympy as sp

from demos.benchmark import report
from demos.benchmark.cases import UrdfCase, random_state, robots
from demos.benchmark.ours import Compiled, Ours, optimized, scene_of
from demos.benchmark.peers.pinocchio_held import PinocchioHeld, Points
from demos.benchmark.peers.pinocchio_peer import PinocchioPeer
from demos.benchmark.timing import interleaved

HELD: dict[str, Points] = {
    "kuka": [("lbr_iiwa_link_7", (0.0, 0.0, 0.05))],
    "laikago": [(f"{leg}_lower_leg", (0.0, -0.25, -0.02)) for leg in ("FR", "FL", "RR", "RL")],
}
REPEATS = 2000


class OursHeld(Compiled):
    """A robot whose points may not move from where they are."""

    def __init__(self, case: UrdfCase, points: Points) -> None:
        free, scene = Ours(case, *random_state(case)), scene_of(case)
        X = dict(zip(free.dynamics.bodies, free.dynamics.poses(free.q), strict=True))
        for body, point in points:
            place = X[body][:3, :3] @ np.array(point) + X[body][:3, 3]
            scene.constrain(scene[body].point(point) - sp.Matrix(place), name=f"{body} held")
        super().__init__(scene.compile(), free.q, free.v, free.tau)


def table(names: list[str], seconds: float) -> None:
    """Our compiled loop and our call, which find accelerations too, beside Pinocchio's two calls."""
    rows = []
    for name, points in HELD.items():
        if names and name not in names:
            continue
        case = robots()[name]
        ours, peer = OursHeld(case, points), PinocchioHeld(PinocchioPeer(case, *random_state(case)), points)
        runs = {"loop": optimized(ours, "forward_dynamics"), "call": ours.derivatives("forward_dynamics")}
        runs |= {"dynamics": peer.dynamics(), "derivatives": peer.derivatives()}
        best = {label: 1e6 * timing.best for label, timing in interleaved(runs, seconds, REPEATS).items()}
        ratio = (best["dynamics"] + best["derivatives"]) / best["call"]
        count = f"{ours.dynamics.nv}, {3 * len(points)}"
        rows.append([name, count, *(f"{x:.3g}" for x in best.values()), f"{ratio:.2f}"])
    head = ["held", "nv, rows", "loop", "call", "Pinocchio, dynamics", "and derivatives", "both over our call"]
    report.print_table("derivatives of constrained forward dynamics, us", head, rows)
