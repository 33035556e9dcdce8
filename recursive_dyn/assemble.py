"""From bodies as a scene states them to the model: merge what does not move, number coordinates, check everything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.expression import Graph, Scalar, array, is_constant, reachable, substitute
from recursive_dyn.joint import BALL, FREE, PLAIN, JointProgram, check
from recursive_dyn.model import WORLD, Body, Coordinate, Link, Model
from recursive_dyn.reframe import canonical_frames, mass_moments, snap


@dataclass(frozen=True)
class Coupling:
    """A link's one coordinate follows another's: q = multiplier * q_leader + offset."""

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
    graph: Graph, specs: Sequence[BodySpec], gravity: Sequence[float], parameters: Sequence[tuple[str, float]]
) -> Model:
    """Merge bodies that do not move against each other, number the coordinates, check every joint and mass."""
    links: list[Link] = []
    bodies: list[Body] = []
    members: list[list[int]] = []
    coordinates: list[Coordinate] = []
    names: list[str] = []
    quaternions: list[int] = []
    nq = 0
    values = dict(parameters)
    for index, spec in enumerate(specs):
        carrier = bodies[spec.parent] if spec.parent != WORLD else None
        placement = (carrier.pose if carrier else array(np.eye(4))) @ spec.placement
        leading, core, trailing = spec.joint.split()
        for transform in leading:
            placement = placement @ _with_parameters(graph, transform)
        pose = array(np.eye(4))
        for transform in trailing:
            pose = pose @ _with_parameters(graph, transform)
        placement, pose = snap(placement), snap(pose)
        parent = carrier.link if carrier else WORLD
        if not core.factors:
            _check_constant(spec, values)
            bodies.append(Body(spec.name, spec.parent, parent, placement, spec.center, False))
            if parent != WORLD:
                members[parent].append(index)
            continue
        labels = _labels(spec)
        _check_joint(spec, labels, values)
        if spec.coupling is None:
            first_q, first_v, coupling, offset = nq, len(coordinates), None, 0.0
            quaternions += [nq + f.first_q + f.nq - 4 for f in core.factors if f.kind in (BALL, FREE)]
            nq += core.nq
            coordinates += [_named(spec, c) for c in spec.coordinates]
            names += labels
        else:
            leader = _leader(spec, links, core)
            first_q, first_v = links[leader].first_q, links[leader].first_v
            coupling, offset = (leader, spec.coupling.multiplier), spec.coupling.offset
        links.append(
            Link(
                spec.name,
                parent,
                placement,
                core,
                first_q,
                first_v,
                0.0,
                array(np.zeros(3)),
                array(np.zeros((3, 3))),
                coupling,
                offset,
            )
        )
        members.append([index])
        bodies.append(Body(spec.name, spec.parent, len(links) - 1, pose, spec.center, True))
    links = [_lump(link, [(specs[i], bodies[i].pose) for i in members[k]]) for k, link in enumerate(links)]
    _check_masses(links)
    links, bodies = canonical_frames(links, bodies)
    links = [replace(link, moments=moments) for link, moments in zip(links, mass_moments(links), strict=True)]
    return Model(
        graph,
        tuple(links),
        tuple(bodies),
        tuple(coordinates),
        tuple(names),
        tuple(map(float, gravity)),
        tuple(parameters),
        nq,
        len(coordinates),
        tuple(quaternions),
    )


def _with_parameters(graph: Graph, transform: np.ndarray) -> np.ndarray:
    """A constant factor's pose in the model's graph."""
    names = {n.args[0] for n in reachable(transform.flat) if n.op == "input"}
    if not names:
        return transform
    return array(substitute(list(transform.flat), {n: graph.input(n) for n in names})).reshape(4, 4)


def _named(spec: BodySpec, coordinate: Coordinate) -> Coordinate:
    return Coordinate(
        f"{spec.name}.{coordinate.name}",
        coordinate.limits,
        coordinate.damping,
        coordinate.stiffness,
        coordinate.rest,
        coordinate.armature,
    )


def _labels(spec: BodySpec) -> list[str]:
    labels: list[str] = []
    for f in spec.joint.factors:
        own = spec.coordinates[f.first_v : f.first_v + f.nv]
        if f.kind == PLAIN:
            labels += [f"{spec.name}.{c.name}" for c in own]
        elif f.kind in (BALL, FREE):
            names = ("qx", "qy", "qz", "qw") if f.kind == BALL else ("x", "y", "z", "qx", "qy", "qz", "qw")
            labels += [f"{spec.name}.{n}" for n in names]
    return labels


def _check_joint(spec: BodySpec, labels: list[str], values: dict[str, float]) -> None:
    unknown = sorted(spec.joint.parameters - values.keys())
    if unknown:
        raise ModelError(
            f"joint of '{spec.name}': its transform uses the symbol '{unknown[0]}', which is neither one of its"
            " coordinates nor a scene.parameter; list it in the coordinates or declare it with scene.parameter"
        )
    domain = np.tile([-2.0, 2.0], (spec.joint.nq, 1))
    for f in spec.joint.factors:
        if f.kind == PLAIN:
            for k in range(f.nv):
                low, high = spec.coordinates[f.first_v + k].limits
                if np.isfinite(low) and np.isfinite(high):
                    domain[f.first_q + k] = low, high
    check(spec.joint, spec.name, labels, values, domain)


def _check_constant(spec: BodySpec, values: dict[str, float]) -> None:
    unknown = sorted(spec.joint.parameters - values.keys())
    if unknown:
        raise ModelError(f"joint of '{spec.name}' uses the undeclared symbol '{unknown[0]}'; use scene.parameter")
    check(spec.joint, spec.name, [], values, np.zeros((0, 2)))


def _leader(spec: BodySpec, links: list[Link], core: JointProgram) -> int:
    assert spec.coupling is not None
    for i, link in enumerate(links):
        if link.name == spec.coupling.leader:
            if link.joint.nv != 1 or core.nv != 1 or link.coupling is not None:
                raise ModelError(f"joint of '{spec.name}' follows '{link.name}': both need exactly one own coordinate")
            return i
    raise ModelError(
        f"joint of '{spec.name}' follows '{spec.coupling.leader}', which is not a moving body attached before"
    )


def _lump(link: Link, parts: list[tuple[BodySpec, np.ndarray]]) -> Link:
    """Sum of the parts' inertias by the parallel axis theorem; ``pose`` of each part in the link frame."""
    placed = []
    for spec, pose in parts:
        if is_constant(spec.mass) and spec.mass == 0.0:
            continue
        R, p = pose[:3, :3], pose[:3, 3]
        if is_identity(R):
            placed.append((spec.mass, p + spec.center, spec.inertia))
        else:
            placed.append((spec.mass, p + R @ spec.center, R @ spec.inertia @ R.T))
    if not placed:
        return link
    if len(placed) == 1:
        mass, center, inertia = placed[0]
    else:
        mass = sum(m for m, _, _ in placed)
        center = sum(m * c for m, c, _ in placed) * (1.0 / mass)
        inertia = array(np.zeros((3, 3)))
        for m, c, I in placed:
            d = c - center
            inertia = inertia + I + m * ((d @ d) * np.eye(3) - np.outer(d, d))
    inertia = array(inertia)
    for i in range(3):
        for j in range(i):
            inertia[i, j] = inertia[j, i]
    return replace(link, mass=mass, center=array(center), inertia=inertia)


def is_identity(R: np.ndarray) -> bool:
    """True for a constant (3, 3) identity."""
    return all(is_constant(R[i, j]) and R[i, j] == (i == j) for i in range(3) for j in range(3))


def _check_masses(links: Sequence[Link]) -> None:
    heavy = [not (is_constant(link.mass) and link.mass == 0.0) for link in links]
    for i in reversed(range(len(links))):
        if heavy[i] and links[i].parent != WORLD:
            heavy[links[i].parent] = True
    for i, link in enumerate(links):
        if not heavy[i]:
            raise ModelError(
                f"body '{link.name}' moves but has no mass, nor has anything attached to it;"
                " give it a mass, a density with shapes, or a fixed joint"
            )
