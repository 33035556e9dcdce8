"""What the inputs of a row are on a tree, and gradients by them as forces: of constraints and of force elements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from recursive_dyn.graph.expression import Scalar
from recursive_dyn.graph.traversal import reachable
from recursive_dyn.model.constraint import BIAS, COORDINATE, POSITION, RATE, ROTATION, SPIN, VELOCITY
from recursive_dyn.model.model import WORLD
from recursive_dyn.recursion.cartesian.cartesian_forces import forces_from_wrenches
from recursive_dyn.recursion.equations.inverse_dynamics import LinkMotion, motions
from recursive_dyn.recursion.kinematics import Tree, zeros
from recursive_dyn.spatial.algebra import cross

PLAIN = ("parameter", COORDINATE, RATE)  # inputs of rows that are none of bodies


def plain_value(tree: Tree, name: tuple[Any, ...]) -> Scalar:
    """What an input of a row is whose kind is PLAIN."""
    if name[0] == "parameter":
        return tree.parameters[name]
    return tree.q[name[1][0]] if name[0] == COORDINATE else tree.v[name[1][1]]


class Gradient:
    """Gradients by velocities of bodies, as wrenches on them (nb, 6), and by rates of coordinates (nv,)."""

    def __init__(self, tree: Tree) -> None:
        self.wrenches = np.zeros((len(tree.model.bodies), 6), dtype=object)
        self.wrenches[:] = 0.0
        self.rates: list[Scalar] = [0.0] * tree.model.nv

    def add(self, names: Iterable[Any], values: Iterable[Scalar]) -> None:
        """What belongs to these inputs."""
        for (kind, where, *component), value in zip(names, values, strict=True):
            if kind == RATE:
                self.rates[where[1]] = self.rates[where[1]] + value
            else:
                place = where, (component[0] if kind == SPIN else 3 + component[0])
                self.wrenches[place] = self.wrenches[place] + value


def along_velocities(tree: Tree, gradient: Gradient) -> list[Scalar]:
    """A gradient by body velocities is a wrench on that body: J^T wrench, plus what acts on rates directly (nv,)."""
    row = forces_from_wrenches(tree, gradient.wrenches, at_center=False)
    return [x + y for x, y in zip(row, gradient.rates, strict=True)]


class BodyQuantities:
    """What a row's inputs are on a tree, made when asked for."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.memory: dict[int, dict[str, np.ndarray]] = {}

    @cached_property
    def motions(self) -> list[LinkMotion]:
        """Every link's motion at zero acceleration of the coordinates."""
        return motions(self.tree, None, gravity=False)

    def inputs(self, outputs: Sequence[Scalar], known: Mapping[Any, Scalar] | None = None) -> dict[Any, Scalar]:
        """Values of the inputs below the outputs, of which some may be known."""
        given = known or {}
        names = [n.args[0] for n in reachable(outputs) if n.op == "input"]
        return {name: given[name] if name in given else self.value(name) for name in names}

    def value(self, name: tuple[Any, ...]) -> Scalar:
        kind, *where = name
        if kind in PLAIN:
            return plain_value(self.tree, name)
        if kind == BIAS:
            kind, *where = where
            return self._body(where[0])[f"{BIAS} {kind}"][where[1]]
        return self._body(where[0])[kind][tuple(where[1:])]

    def _body(self, index: int) -> dict[str, np.ndarray]:
        if index not in self.memory:
            self.memory[index] = self._made(index)
        return self.memory[index]

    def _made(self, index: int) -> dict[str, np.ndarray]:
        tree = self.tree
        body = tree.model.bodies[index]
        R, p = tree.body_pose(body)
        found = {POSITION: p, ROTATION: R}
        if body.link == WORLD:
            return {**found, **dict.fromkeys((VELOCITY, SPIN, f"{BIAS} {VELOCITY}", f"{BIAS} {SPIN}"), zeros(3))}
        world, twist = tree.rotations[body.link], tree.twists[body.link]
        r = tree.scalars(body.pose)[:3, 3]
        motion = self.motions[body.link]
        return {
            **found,
            SPIN: world @ twist[:3],
            VELOCITY: world @ (twist[3:] + cross(twist[:3], r)),
            f"{BIAS} {SPIN}": world @ motion.alpha,
            f"{BIAS} {VELOCITY}": world @ (motion.a + motion.W @ r),
        }
