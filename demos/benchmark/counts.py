"""Operation counts of six-joint chains, in the classes of Guenter & Lee (2009), table 1."""

from __future__ import annotations

import numpy as np

import recursive_dyn as rd
from demos.benchmark.cases import GRAVITY
from recursive_dyn.graph.program import OperationCount
from scene import Body, Scene, joints

# Additions and multiplications: inverse dynamics, forward dynamics. What a plain graph with constant folding needs,
# and for the general chain the hand-derived algorithm of Balafoutis & Patel that Guenter & Lee compare with.
PLAIN = {
    "parallel axes": ((70, 92), (182, 229)),
    "alternating +-90 degrees": ((153, 205), (342, 404)),
    "PUMA-like": ((187, 235), (354, 409)),
    "general DH": ((400, 483), (837, 1000)),
    "random axes": ((487, 589), (1016, 1186)),
}
PUBLISHED = {
    "symbolic Lagrangian, best": ((328, 365), (818, 943)),
    "symbolic Lagrangian, worst": ((509, 971), (1875, 2389)),
    "Balafoutis & Patel": ((386, 450), (790, 956)),
}

_DH = {  # a, alpha, d of each joint
    "parallel axes": [(0.4, 0.0, 0.0)] * 6,
    "alternating +-90 degrees": [(0.3, (np.pi / 2) * (-1) ** i, 0.0) for i in range(6)],
    "PUMA-like": [
        (0.0, 0.0, 0.0),
        (0.0, -np.pi / 2, 0.0),
        (0.4318, 0.0, 0.1501),
        (0.0203, -np.pi / 2, 0.4318),
        (0.0, np.pi / 2, 0.0),
        (0.0, -np.pi / 2, 0.0),
    ],
    "general DH": [(0.3 + 0.05 * i, 0.4 + 0.2 * i, 0.1 + 0.03 * i) for i in range(6)],
}


SLENDER = frozenset(("parallel axes", "alternating +-90 degrees", "PUMA-like"))  # else full inertias, any centre


def six_revolute(kind: str) -> Scene:
    """Six hinges; slender links have their centre of mass on the link's x axis and a diagonal inertia."""
    rng = np.random.default_rng(2009)
    scene = Scene(gravity=GRAVITY)
    node = scene.world
    for i in range(6):
        root = rng.normal(size=(3, 3)) * 0.05
        inertia, center = np.diag([0.05, 0.06, 0.07]) + root @ root.T, rng.uniform(-0.2, 0.2, 3)
        if kind in SLENDER:
            inertia, center = np.diag(np.diag(inertia)), center * (1, 0, 0)
        if kind == "random axes":
            pose = rd.pose(rng.uniform(-0.3, 0.3, 3), rng.uniform(-1, 1, 3))
            axis = rng.normal(size=3)
        else:
            a, alpha, d = _DH[kind][i]
            pose = rd.pose((a, -np.sin(alpha) * d, np.cos(alpha) * d), (alpha, 0.0, 0.0))
            axis = "z"
        node = node.attach(Body(f"link{i}", mass=1.0 + 0.1 * i, center_of_mass=center, inertia=inertia),
                           joints.revolute(axis), at=pose)  # fmt: skip
    return scene


def measured(kind: str) -> dict[str, OperationCount]:
    """Counts of one chain's programs, the ones that run: "inverse", "lagrangian" and "recursive" forward dynamics, and
    both functions in the trace form, "inverse, trace" and "trace"."""
    model = six_revolute(kind).model()
    programs = {
        "inverse": ("auto", "inverse_dynamics"),
        "lagrangian": ("lagrangian", "forward_dynamics"),
        "recursive": ("recursive", "forward_dynamics"),
        "inverse, trace": ("trace", "inverse_dynamics"),
        "trace": ("trace", "forward_dynamics"),
    }
    return {label: rd.Dynamics(model, method).operation_count(name) for label, (method, name) in programs.items()}


def rows() -> list[list[str]]:
    """One row a chain: inverse dynamics, forward dynamics by both methods, what a plain graph needs, and both functions
    in the trace form of the paper."""
    table = []
    for kind, (inverse, forward) in PLAIN.items():
        cells = {label: f"{count.add}+ {count.mul}*" for label, count in measured(kind).items()}
        table.append(
            [
                kind, cells["inverse"], f"{inverse[0]}+ {inverse[1]}*",
                cells["lagrangian"], cells["recursive"], f"{forward[0]}+ {forward[1]}*",
                cells["inverse, trace"], cells["trace"],
            ]
        )  # fmt: skip
    return table
