"""Outward kinematics: displacement, S, S-dot q-dot and joint twist of every link; poses, velocities and Jacobians."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from recursive_dyn.graph.expression import Graph, Scalar, array, is_constant
from recursive_dyn.graph.traversal import substitute
from recursive_dyn.joint.charted_program import CHART
from recursive_dyn.joint.coordinate import CLOCK
from recursive_dyn.model.model import WORLD, BodyFrame, Link, MassMoments, Model
from recursive_dyn.spatial.algebra import cross, dot
from recursive_dyn.spatial.displacement import Displacement


@dataclass(frozen=True, eq=False)
class LinkKinematics:
    """One link against its parent: where it is, S (6, d), the joint's twist S q-dot, its bias S-dot q-dot, q-dot."""

    link: Link
    displacement: Displacement
    S: np.ndarray
    twist: np.ndarray
    bias: np.ndarray
    rate: np.ndarray
    mass: Scalar
    center: np.ndarray
    inertia: np.ndarray
    moments: MassMoments

    @property
    def columns(self) -> list[tuple[int, np.ndarray]]:
        """(velocity slot, column of S) of each coordinate."""
        return [(slot, self.S[:, j]) for j, slot in enumerate(self.link.slots)]


class Tree:
    """A model over the inputs ("q", i), ("v", i) and ("parameters", k) of one graph, parents before children.

    ``q`` and ``v`` may be given as other scalars (zeros for a velocity-free quantity, numbers for a check). pushes
    (nb, PUSH): what pushes its bodies from outside (see ``forces.pushed_bodies``), None for nothing.
    """

    def __init__(self, model: Model, graph: Graph, q: np.ndarray | None = None, v: np.ndarray | None = None) -> None:
        self.model = model
        self.graph = graph
        self.pushes: np.ndarray | None = None
        self.pushed: list[Scalar] | None = None  # tau (nv,) of these, once it has been asked for
        self.load: np.ndarray | None = None  # (nv,): inertia that forces add to M (see ``integrators.driven``)
        self.lead: np.ndarray | None = None  # (nv,): accelerations at which they add nothing
        self.q = graph.inputs("q", model.nq) if q is None else q
        self.v = graph.inputs("v", model.nv) if v is None else v
        self.parameters = {
            ("parameter", name): graph.input(("parameters", k)) for k, (name, _) in enumerate(model.parameters)
        }
        self.leads = False  # whether these are what motors give to lead it (see ``integrators.driven.led``)
        # rates and accelerations (nv,) of what is prescribed, zeros elsewhere
        self.pace: np.ndarray | None = None
        self.given: np.ndarray | None = None
        if model.prescribed:
            own = self.v
            self.q, self.v, self.pace, self.given = self._prescribed(self.q, self.v)
            still = [slot for slot in model.prescribed if is_constant(own[slot])]
            self.v[still] = own[still]  # as all of a tree at rest
        self.links = [self._link(link) for link in model.links]

    def _prescribed(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]:
        """q and v with what is prescribed as it is at the time in q; its rates and accelerations."""
        model = self.model
        assert model.clock is not None
        q, v, pace, given = q.copy(), v.copy(), zeros(model.nv), zeros(model.nv)
        place, slot = model.clock
        inputs = {**self.parameters, ("parameter", CLOCK): q[place]}
        pace[slot] = v[slot] = 1.0
        for motion in model.motions:
            q[motion.place], pace[motion.slot], given[motion.slot] = motion.at(inputs)
            v[motion.slot] = pace[motion.slot]
        return q, v, pace, given if model.motions else None

    def under(self, pushes: np.ndarray | None) -> Tree:
        """The same tree, pushed like this."""
        result = copy.copy(self)
        result.pushes, result.pushed = pushes, None
        return result

    def loaded(self, load: np.ndarray, lead: np.ndarray, leads: bool = False) -> Tree:
        """The same tree under forces that change by -load (a - lead) as its accelerations do."""
        result = copy.copy(self)
        result.load, result.lead, result.leads = load, lead, leads
        return result

    def at(self, q: np.ndarray, v: np.ndarray) -> Tree:
        """The same tree at another state."""
        return Tree(self.model, self.graph, q=q, v=v).under(self.pushes)

    def in_time(self, q: list[Scalar], v: list[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
        """A state with what is prescribed as it is at the time in q."""
        if not self.model.prescribed:
            return q, v
        q_then, v_then, _, _ = self._prescribed(array(q), array(v))
        return list(q_then), list(v_then)

    def paced(self, v: np.ndarray) -> np.ndarray:
        """Velocities (nv,) with the rates of what is prescribed."""
        if self.pace is None:
            return v
        slots = sorted(self.model.prescribed)
        v = v.copy()
        v[slots] = self.pace[slots]
        return v

    def accelerated(self, a: list[Scalar]) -> list[Scalar]:
        """Accelerations (nv,) with those that are prescribed."""
        return a if self.given is None else [x + y for x, y in zip(a, self.given, strict=True)]

    def scalars(self, values: np.ndarray) -> np.ndarray:
        """Model scalars (over parameter inputs) in this graph, same shape."""
        if all(is_constant(x) for x in values.flat):
            return values
        return array(substitute(list(values.flat), self.parameters)).reshape(values.shape)

    def _link(self, link: Link) -> LinkKinematics:
        q = [self.q[place] for place in link.places]
        v = array([self.v[slot] for slot in link.slots])
        inputs = self._inputs(q, v)
        driven = link.drive.instantiate(inputs) if link.drive else None
        if driven is not None:
            q, v = list(driven.values), driven.phi @ v
        if not is_constant(link.offset) or link.offset:
            q = [q[0] + self.scalar(link.offset)]
        inputs = self._inputs(q, v)
        if link.chart is not None:
            inputs[CHART] = self.parameters["parameter", link.chart]
        joint = link.joint.kinematics().instantiate(inputs)
        displacement = Displacement.product([self.scalars(link.placement), *joint.transforms])
        twist = array([dot(row, v) for row in joint.subspace])
        S, bias = joint.subspace, joint.bias
        if driven is not None:
            S, bias = S @ driven.phi, bias + S @ driven.bias
        return LinkKinematics(
            link,
            displacement,
            S,
            twist,
            bias,
            joint.rate,
            self.scalar(link.mass),
            self.scalars(link.center),
            self.scalars(link.inertia),
            self._moments(link),
        )

    def _inputs(self, q: Sequence[Scalar], v: Sequence[Scalar] | np.ndarray) -> dict[Any, Scalar]:
        own = {("q", i): x for i, x in enumerate(q)} | {("v", i): x for i, x in enumerate(v)}
        return {**own, **self.parameters}

    def _moments(self, link: Link) -> MassMoments:
        assert link.moments is not None
        own = link.moments
        return MassMoments(self.scalar(own.mass), self.scalars(own.first), self.scalars(own.second))

    def scalar(self, value: Scalar) -> Scalar:
        """One model scalar in this graph."""
        return value if is_constant(value) else substitute([value], self.parameters)[0]

    @cached_property
    def gravity(self) -> np.ndarray:
        """Acceleration of gravity (3,), world axes."""
        return self.scalars(array(self.model.gravity))

    @cached_property
    def rotations(self) -> list[np.ndarray]:
        """World from link rotation (3, 3) of each link."""
        result: list[np.ndarray] = []
        for k in self.links:
            R = k.displacement.matrix
            result.append(R if k.link.parent == WORLD else result[k.link.parent] @ R)
        return result

    @cached_property
    def positions(self) -> list[np.ndarray]:
        """Origin (3,) of each link in world axes."""
        result: list[np.ndarray] = []
        for k in self.links:
            parent = k.link.parent
            p = k.displacement.p
            result.append(p if parent == WORLD else result[parent] + self.rotations[parent] @ p)
        return result

    @cached_property
    def twists(self) -> list[np.ndarray]:
        """Spatial velocity (6,) of each link in its own axes at its origin (eq. 8)."""
        result: list[np.ndarray] = []
        for k in self.links:
            twist = k.twist
            if k.link.parent != WORLD:
                carried = result[k.link.parent]
                omega, v = carried[:3], carried[3:]
                out = k.displacement.outward
                twist = np.concatenate([out(omega), out(v + cross(omega, k.displacement.p))]) + twist
            result.append(twist)
        return result

    def body_pose(self, body: BodyFrame) -> tuple[np.ndarray, np.ndarray]:
        """World rotation (3, 3) and origin (3,) of a body."""
        local = self.scalars(body.pose)
        if body.link == WORLD:
            return local[:3, :3], local[:3, 3]
        R, p = self.rotations[body.link], self.positions[body.link]
        return R @ local[:3, :3], p + R @ local[:3, 3]

    def body_center(self, body: BodyFrame) -> np.ndarray:
        """World position (3,) of a body's own centre of mass."""
        R, p = self.body_pose(body)
        return p + R @ self.scalars(body.center)


def poses(tree: Tree) -> list[Scalar]:
    """X_WB of every body, row-major 4 x 4 after one another."""
    flat: list[Scalar] = []
    for body in tree.model.bodies:
        R, p = tree.body_pose(body)
        for i in range(3):
            flat += [*R[i], p[i]]
        flat += [0.0, 0.0, 0.0, 1.0]
    return flat


def velocities(tree: Tree) -> list[Scalar]:
    """Twist [omega; v] of every body at its origin, world axes."""
    flat: list[Scalar] = []
    for body in tree.model.bodies:
        if body.link == WORLD:
            flat += [0.0] * 6
            continue
        twist, R = tree.twists[body.link], tree.rotations[body.link]
        omega, v = twist[:3], twist[3:]
        offset = tree.scalars(body.pose)[:3, 3]
        flat += [*(R @ omega), *(R @ (v + cross(omega, offset)))]
    return flat


def screws(tree: Tree) -> list[Scalar]:
    """World-axes twist at the world origin of every link's column of S, column after column: the raw Jacobian."""
    flat: list[Scalar] = []
    for i, k in enumerate(tree.links):
        R, p = tree.rotations[i], tree.positions[i]
        for _, s in k.columns:
            omega = R @ s[:3]
            flat += [*omega, *(R @ s[3:] + cross(p, omega))]
    return flat


def rates(tree: Tree) -> list[Scalar]:
    """q-dot = N(q) v."""
    result: list[Scalar] = [0.0] * tree.model.nq
    for place, slot in tree.model.plain_slots:
        result[place] = tree.v[slot]
    for i, factor, place, _ in tree.model.owners:
        own = tree.links[i].rate[factor.first_q : factor.first_q + factor.nq]
        result[place : place + factor.nq] = list(own)
    return result


def zeros(size: int) -> np.ndarray:
    """A scalar vector of zeros."""
    return array(np.zeros(size))
