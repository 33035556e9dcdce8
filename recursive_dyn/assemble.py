"""From bodies as a scene states them to the model: merge what does not move, number coordinates, check everything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.expression import Graph, Scalar, array, is_constant, reachable, substitute
from recursive_dyn.joint import BALL, FREE, JointProgram
from recursive_dyn.joint_check import check_joint, check_placement, coordinate_labels
from recursive_dyn.model import WORLD, Body, Coordinate, Link, Model
from recursive_dyn.reframe import canonical_frames, mass_moments, snap
from recursive_dyn.spatial import mirrored


@dataclass(frozen=True)
class Coupling:
    """A joint's one coordinate follows another body's: q = multiplier * q_leader + offset."""

    leader: str
    multiplier: float
    offset: float


@dataclass(frozen=True, eq=False)
class BodySpec:
    """What a scene says of one body. ``parent`` is an index or WORLD; mass, center (3,) and inertia (3, 3) about the
    centre of mass in body axes, and the placement (4, 4), are scalars over the model graph's parameter inputs."""

    name: str
    parent: int
    placement: np.ndarray
    joint: JointProgram
    coordinates: tuple[Coordinate, ...]
    mass: Scalar
    center: np.ndarray
    inertia: np.ndarray
    coupling: Coupling | None = None


def build_model(
    graph: Graph,
    specs: Sequence[BodySpec],
    gravity: Sequence[float] | np.ndarray,
    parameters: Sequence[tuple[str, float]],
) -> Model:
    """The model of bodies given parents first; ModelError names the body, joint or coordinate that is wrong."""
    assembly = _Assembly(graph, dict(parameters))
    for spec in specs:
        assembly.add(spec)
    links = [_lump(link, parts) for link, parts in zip(assembly.links, assembly.parts, strict=True)]
    _check_masses(links)
    links, bodies = canonical_frames(links, assembly.bodies)
    links = [replace(link, moments=moments) for link, moments in zip(links, mass_moments(links), strict=True)]
    return Model(
        graph=graph,
        links=tuple(links),
        bodies=tuple(bodies),
        coordinates=tuple(assembly.coordinates),
        coordinate_names=tuple(assembly.names),
        gravity=(float(gravity[0]), float(gravity[1]), float(gravity[2])),
        parameters=tuple(parameters),
        nq=len(assembly.names),
        nv=len(assembly.coordinates),
        quaternions=tuple(assembly.quaternions),
    )


class _Assembly:
    """Links, bodies and coordinate slots as bodies are added; ``parts``: (spec, pose in the link) of each link."""

    def __init__(self, graph: Graph, parameters: dict[str, float]) -> None:
        self.graph, self.parameters = graph, parameters
        self.links: list[Link] = []
        self.bodies: list[Body] = []
        self.parts: list[list[tuple[BodySpec, np.ndarray]]] = []
        self.coordinates: list[Coordinate] = []
        self.names: list[str] = []
        self.quaternions: list[int] = []

    def add(self, spec: BodySpec) -> None:
        """One more body: a link of its own, or a part of the link it is fixed to."""
        check_joint(spec.joint, spec.name, spec.coordinates, self.parameters)
        check_placement(spec.placement, spec.name, self.parameters)
        carrier = self.bodies[spec.parent] if spec.parent != WORLD else None
        parent = carrier.link if carrier else WORLD
        leading, core, trailing = spec.joint.split()
        start = [spec.placement] if carrier is None else [carrier.pose, spec.placement]
        placement = self._product([*start, *leading])
        if not core.factors:
            self.bodies.append(Body(spec.name, spec.parent, parent, placement, spec.center, jointed=False))
            if parent != WORLD:
                self.parts[parent].append((spec, placement))
            return
        pose = self._product(trailing)
        self.links.append(self._link(spec, parent, placement, core))
        self.parts.append([(spec, pose)])
        self.bodies.append(Body(spec.name, spec.parent, len(self.links) - 1, pose, spec.center, jointed=True))

    def _link(self, spec: BodySpec, parent: int, placement: np.ndarray, core: JointProgram) -> Link:
        nothing = array(np.zeros((3, 3)))
        link = Link(
            spec.name, parent, placement, core, len(self.names), len(self.coordinates), 0.0, nothing[0], nothing
        )
        if spec.coupling is not None:
            leader = self._leader(spec, spec.coupling, core)
            lead = self.links[leader]
            coupling = (leader, spec.coupling.multiplier)
            slot = lead.first_v
            self.coordinates[slot] = _with_follower(self.coordinates[slot], spec.coordinates[0], spec.coupling)
            return replace(
                link, first_q=lead.first_q, first_v=lead.first_v, coupling=coupling, offset=spec.coupling.offset
            )
        self.quaternions += [len(self.names) + f.first_q + f.nq - 4 for f in core.factors if f.kind in (BALL, FREE)]
        self.names += coordinate_labels(core, spec.coordinates, spec.name)
        self.coordinates += [replace(c, name=f"{spec.name}.{c.name}") for c in spec.coordinates]
        return link

    def _leader(self, spec: BodySpec, coupling: Coupling, core: JointProgram) -> int:
        for i, link in enumerate(self.links):
            if link.name == coupling.leader:
                if link.joint.nv != 1 or core.nv != 1 or link.coupling is not None:
                    raise ModelError(
                        f"joint of '{spec.name}' follows '{link.name}': both need exactly one own coordinate"
                    )
                return i
        raise ModelError(
            f"joint of '{spec.name}' follows '{coupling.leader}', which is not a moving body attached before it"
        )

    def _product(self, poses: Sequence[np.ndarray]) -> np.ndarray:
        total = array(np.eye(4))
        for pose in poses:
            names = {n.args[0] for n in reachable(pose.flat) if n.op == "input"}
            inputs = {name: self.graph.input(name) for name in names}
            total = total @ (array(substitute(list(pose.flat), inputs)).reshape(4, 4) if names else pose)
        return snap(total)


def _with_follower(leader: Coordinate, own: Coordinate, coupling: Coupling) -> Coordinate:
    """The leading coordinate with a follower's damping, spring and rotor, which act through q = m q_l + offset."""
    m = coupling.multiplier
    stiffness = leader.stiffness + m * m * own.stiffness
    pull = leader.stiffness * leader.rest + m * own.stiffness * (own.rest - coupling.offset)
    return replace(
        leader,
        damping=leader.damping + m * m * own.damping,
        armature=leader.armature + m * m * own.armature,
        stiffness=stiffness,
        rest=pull / stiffness if stiffness else leader.rest,
    )


def _lump(link: Link, parts: Sequence[tuple[BodySpec, np.ndarray]]) -> Link:
    """The link with its parts' summed inertia, by the parallel axis theorem."""
    placed = []
    for spec, pose in parts:
        if _is_zero(spec.mass) and all(map(_is_zero, spec.inertia.flat)):
            continue
        R, p = pose[:3, :3], pose[:3, 3]
        still = all(is_constant(R[i, j]) and R[i, j] == (i == j) for i in range(3) for j in range(3))
        inertia = spec.inertia if still else R @ spec.inertia @ R.T
        placed.append((spec.mass, p + (spec.center if still else R @ spec.center), inertia))
    if not placed:
        return link
    mass, center, inertia = placed[0]
    if len(placed) > 1:
        mass = sum(m for m, _, _ in placed)
        # robot files give an inertia to frames without mass
        center = center if _is_zero(mass) else sum(m * c for m, c, _ in placed) * (1.0 / mass)
        inertia = array(np.zeros((3, 3)))
        for m, c, I in placed:
            d = c - center
            inertia = inertia + I + m * ((d @ d) * np.eye(3) - np.outer(d, d))
    return replace(link, mass=mass, center=array(center), inertia=mirrored(array(inertia)))


def _is_zero(value: Scalar) -> bool:
    return is_constant(value) and bool(value == 0.0)


def _check_masses(links: Sequence[Link]) -> None:
    heavy = [not all(map(_is_zero, (link.mass, *link.inertia.flat))) for link in links]
    for i in reversed(range(len(links))):
        if heavy[i] and links[i].parent != WORLD:
            heavy[links[i].parent] = True
    for i, link in enumerate(links):
        if not heavy[i]:
            raise ModelError(
                f"body '{link.name}' moves but has no mass, nor has anything attached to it;"
                " give it a mass, a density with shapes, or a fixed joint"
            )
