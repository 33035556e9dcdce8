"""Operations against coordinates, Guenter & Lee (2009), figures 6 and 7: chains of hinges and of interlocked tori."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

import recursive_dyn as rd
from demos import torus_chain
from demos.benchmark.cases import hinge_chain
from demos.benchmark.ours import chain_scene
from recursive_dyn.graph.expression import Graph
from recursive_dyn.graph.program import schedule
from recursive_dyn.model.model import Model
from recursive_dyn.recursion.equations.inverse_dynamics import inverse_dynamics
from recursive_dyn.recursion.equations.mass_matrix import mass_matrix
from recursive_dyn.recursion.kinematics import Tree
from scene import Scene

HINGES = (2, 4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 36, 40)
TORI = (1, 2, 3, 4, 5, 7, 9, 11, 13, 15, 17, 19)  # of four coordinates each
EQUATIONS = "M and c"  # what the paper counts as forward dynamics: its figure 7 leaves the linear solver out


def hinges(count: int) -> Scene:
    """A chain of ``count`` hinges."""
    return chain_scene(hinge_chain(count))


def tori(count: int) -> Scene:
    """``count`` tori below a fixed one, four coordinates each."""
    scene = Scene()
    node, joint = scene.world, torus_chain.ring_in_ring()
    for i in range(count):
        node = node.attach(torus_chain.ring(f"ring{i}", torus_chain.GOLD), joint)
    return scene


@dataclass(frozen=True)
class Fit:
    """A least-squares polynomial, highest power first, and its coefficient of determination."""

    coefficients: np.ndarray
    r2: float

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return np.polyval(self.coefficients, x)


def fit(coordinates: Sequence[int], operations: Sequence[int], degree: int) -> Fit:
    """The best polynomial of that degree through (coordinates, operations)."""
    y = np.array(operations, dtype=float)
    p = np.polyfit(coordinates, y, degree)
    residual = y - np.polyval(p, coordinates)
    return Fit(p, 1.0 - float(residual @ residual / ((y - y.mean()) @ (y - y.mean()))))


@dataclass(frozen=True)
class Growth:
    """Operations of one kind of chain for each number of coordinates."""

    label: str
    coordinates: list[int]
    inverse: list[int]
    recursive: list[int]
    equations: list[int]
    lagrangian: list[int]


def equations_of_motion(model: Model) -> int:
    """Operations of the lower half of M(q) and of c(q, v) together, without solving M a = tau - c."""
    graph = Graph()
    tree = Tree(model, graph)
    M = mass_matrix(tree)
    lower = [M[i, j] for i in range(model.nv) for j in range(i + 1)]
    sizes = [("q", model.nq), ("v", model.nv), ("parameters", len(model.parameters))]
    return schedule("equations", sizes, [("M", lower), ("c", inverse_dynamics(tree, None))]).operation_count().total


def growth(label: str, chain: Callable[[int], Scene], counts: Sequence[int]) -> Growth:
    """The counts of every function for chains of those lengths."""
    found = Growth(label, [], [], [], [], [])
    for count in counts:
        model = chain(count).model()
        recursive, lagrangian = rd.Dynamics(model, "recursive"), rd.Dynamics(model, "lagrangian")
        found.coordinates.append(model.nv)
        found.inverse.append(recursive.operation_count("inverse_dynamics").total)
        found.recursive.append(recursive.operation_count("forward_dynamics").total)
        found.equations.append(equations_of_motion(model))
        found.lagrangian.append(lagrangian.operation_count("forward_dynamics").total)
    return found
