"""From bodies as a scene states them to the model: merge what does not move, number coordinates, check everything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from itertools import compress
from operator import attrgetter, not_
from typing import cast

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Graph, Scalar, array, is_constant
from recursive_dyn.graph.traversal import reachable, substitute
from recursive_dyn.joint.charted_program import chart_name
from recursive_dyn.joint.coordinate import TIME, Coordinate
from recursive_dyn.joint.drive import names_in
from recursive_dyn.joint.joint_check import check_joint, check_placement
from recursive_dyn.joint.joint_program import JointProgram
from recursive_dyn.model import elsewhere
from recursive_dyn.model.composition import composed
from recursive_dyn.model.constraint import bound
from recursive_dyn.model.force_element import ElementSpec, elements
from recursive_dyn.model.model import WORLD, BodyFrame, Link, Model
from recursive_dyn.model.model_parts import PartFacts
from recursive_dyn.model.numbering import Numbering
from recursive_dyn.model.reframe import canonical_frames, mass_moments, snap
from recursive_dyn.model.specification import BodySpec, Coupling, PartOfWorld
from recursive_dyn.model.tree_content import trees_of
from recursive_dyn.spatial.algebra import mirrored

_PARENT, _FACTS = attrgetter("parent"), attrgetter("facts")


def build_model(
    graph: Graph,
    specs: Sequence[BodySpec],
    gravity: Sequence[Scalar] | np.ndarray,
    parameters: Sequence[tuple[str, float]],
    shared: Sequence[Coordinate] = (),
    constraints: Sequence[tuple[str, Scalar]] = (),
    forces: Sequence[ElementSpec] = (),
) -> Model:
    """The model of bodies given parents first, on joints that may depend on ``shared`` coordinates.

    ``constraints``: name and expression of each row over inputs ("parameter", name), as those of ``forces``. What hangs
    on one body of the world, and knows of nothing else, is put together once for as long as its specifications live.

    ModelError names the body, joint or coordinate that is wrong.
    """
    if not (shared or constraints or forces) and all(map(is_constant, gravity)):
        composed = _composed(specs, gravity, parameters)
        if composed is not None:
            return composed
    return _built(graph, specs, gravity, parameters, shared, constraints, forces)


def _composed(
    specs: Sequence[BodySpec], gravity: Sequence[Scalar] | np.ndarray, parameters: Sequence[tuple[str, float]]
) -> Model | None:
    """The model of what hangs on bodies of the world, unless any of that needs to know others."""
    order = None
    if any(map(_PARENT, specs)):
        trees, order = _trees(specs)
        facts = [known_part(root, tree).facts for root, tree in trees.items()]
    else:
        facts = [*map(_FACTS, specs)]
        for k in compress(range(len(facts)), map(not_, facts)) if None in facts else ():
            facts[k] = known_part(specs[k], [specs[k]]).facts
    if None in facts:
        return None
    return composed(cast(list[PartFacts], facts), order, gravity, parameters)


def _trees(specs: Sequence[BodySpec]) -> tuple[dict[BodySpec, list[BodySpec]], tuple[np.ndarray, np.ndarray]]:
    """What hangs on each body of the world, in order of attachment; of each body the number of its tree, and in it."""
    trees: dict[BodySpec, list[BodySpec]] = {spec: [] for spec in specs if spec.root is spec}
    for spec in specs:
        trees[spec.root].append(spec)
    number = {root: k for k, root in enumerate(trees)}
    own = {spec: k for tree in trees.values() for k, spec in enumerate(tree)}
    return trees, (np.array([number[spec.root] for spec in specs]), np.array([own[spec] for spec in specs]))


def known_part(root: BodySpec, tree: list[BodySpec]) -> PartOfWorld:
    """What hangs on a body of the world, kept with it."""
    part = root.part
    if part is None or part.specs != tree:
        part = _part(tree)
        object.__setattr__(root, "part", part)
        object.__setattr__(root, "facts", part.facts if len(tree) == 1 else None)
    return part


def _part(tree: list[BodySpec]) -> PartOfWorld:
    """What hangs on a body of the world, gravity being none of its own."""
    if not _independent(tree):
        return PartOfWorld(tree)
    known = elsewhere.found(tree[0]) if len(tree) == 1 else None
    if known is not None:
        return known
    model = _built(Graph(), tree, (0.0, 0.0, 0.0), (), (), (), ())
    part = PartOfWorld(tree, model, trees_of(model))
    if len(tree) == 1:
        elsewhere.note(tree[0], part)
    return part


def _independent(tree: Sequence[BodySpec]) -> bool:
    names = {spec.name for spec in tree}
    return all(spec.plain and (not isinstance(spec.drive, Coupling) or spec.drive.leader in names) for spec in tree)


def _built(
    graph: Graph,
    specs: Sequence[BodySpec],
    gravity: Sequence[Scalar] | np.ndarray,
    parameters: Sequence[tuple[str, float]],
    shared: Sequence[Coordinate],
    constraints: Sequence[tuple[str, Scalar]],
    forces: Sequence[ElementSpec],
) -> Model:
    """``build_model`` of what may know of each other."""
    numbering = Numbering(dict(parameters), {c.name: c for c in shared})
    assembly = _Assembly(graph, numbering)
    for spec in specs:
        assembly.add(spec)
    numbering.refuse_unused()
    named = [(f"constraint '{name}'", names_in([e])) for name, e in constraints]
    named += [(f"force element '{given.name}'", names_in(given.scalars)) for given in forces]
    for what, names in named:
        numbering.refuse_charted(what, names)
    links, clock = numbering.finish(assembly.links, {name for _, names in named for name in names})
    places = {spec.name: k for k, spec in enumerate(specs)}
    charts = [(link.chart, 0.0) for link in links if link.chart is not None]
    known, inputs = frozenset([*numbering.parameters, *(name for name, _ in charts)]), numbering.inputs
    links = [_lump(link, parts) for link, parts in zip(links, assembly.parts, strict=True)]
    _check_masses(links, numbering.coordinates)
    _check_ranks(links, numbering.coordinates)
    links, bodies = canonical_frames(links, assembly.bodies)
    links = [replace(link, moments=moments) for link, moments in zip(links, mass_moments(links), strict=True)]
    return Model(
        graph=graph,
        links=tuple(links),
        bodies=tuple(bodies),
        coordinates=tuple(numbering.coordinates),
        coordinate_names=tuple(numbering.names),
        gravity=tuple(array(gravity)),
        parameters=(*parameters, *charts),
        nq=len(numbering.names),
        nv=len(numbering.coordinates),
        plain_slots=tuple(numbering.plain.values()),
        units=tuple(numbering.units),
        constraints=tuple(bound(name, e, places, inputs, known) for name, e in constraints),
        forces=elements(forces, places, inputs, known),
        clock=clock,
    )


class _Assembly:
    """Links and bodies as they are added; ``parts``: (spec, pose in the link) of each link."""

    def __init__(self, graph: Graph, numbering: Numbering) -> None:
        self.graph, self.numbering = graph, numbering
        self.links: list[Link] = []
        self.bodies: list[BodyFrame] = []
        self.parts: list[list[tuple[BodySpec, np.ndarray]]] = []
        self._numbers: dict[BodySpec, int] = {}

    def add(self, spec: BodySpec) -> None:
        """One more body: a link of its own, or a part of the link it is fixed to."""
        numbering = self.numbering
        joint, borrowed = numbering.bind(spec)
        own_and_borrowed = (*spec.coordinates, *(numbering.coordinate(name) for name in borrowed))
        check_joint(joint, spec.name, own_and_borrowed, numbering.parameters)
        check_placement(spec.placement, spec.name, numbering.parameters)
        own_parent = WORLD if spec.parent is None else self._numbers[spec.parent]
        self._numbers[spec] = len(self._numbers)
        carrier = self.bodies[own_parent] if spec.parent is not None else None
        parent = carrier.link if carrier else WORLD
        leading, core, trailing = joint.split
        start = [spec.placement] if carrier is None else [carrier.pose, spec.placement]
        placement = self._product([*start, *leading])
        if not core.factors:
            own = (spec.center, False, spec.mass, spec.inertia)
            self.bodies.append(BodyFrame(spec.name, own_parent, parent, placement, *own))
            if parent != WORLD:
                self.parts[parent].append((spec, placement))
            return
        pose = self._product(trailing)
        self.links.append(self._link(spec, parent, placement, core, borrowed))
        self.parts.append([(spec, pose)])
        self.bodies.append(BodyFrame(spec.name, own_parent, len(self.links) - 1, pose, spec.center, jointed=True))

    def _link(
        self, spec: BodySpec, parent: int, placement: np.ndarray, core: JointProgram, borrowed: Sequence[str]
    ) -> Link:
        drive = self.numbering.drive(spec, core)
        places, slots = ([], []) if drive else self.numbering.number(spec, core, core.nv - len(borrowed))
        known = [self.numbering.slot(name) for name in (drive[1] if drive else borrowed)]
        nothing = array(np.zeros((3, 3)))
        return Link(
            name=spec.name,
            parent=parent,
            placement=placement,
            joint=core,
            places=(*places, *(place for place, _ in known)),
            slots=(*slots, *(slot for _, slot in known)),
            mass=0.0,
            center=nothing[0],
            inertia=nothing,
            drive=drive[0] if drive else None,
            chart=chart_name(spec.name) if core.charts else None,
        )

    def _product(self, poses: Sequence[np.ndarray]) -> np.ndarray:
        own = [self._carried(pose) for pose in poses] or [array(np.eye(4))]
        return snap(reduce(np.matmul, own))

    def _carried(self, pose: np.ndarray) -> np.ndarray:
        names = [n.args[0] for n in reachable(pose.flat) if n.op == "input"]
        inputs = {name: self.graph.input(name) for name in names}
        return array(substitute(list(pose.flat), inputs)).reshape(4, 4) if names else pose


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


def _check_masses(links: Sequence[Link], coordinates: Sequence[Coordinate]) -> None:
    """What time alone moves needs no mass, nor what rotors have inertia against in each of its coordinates."""
    heavy = [
        not all(map(_is_zero, (link.mass, *link.inertia.flat))) or all(coordinates[s] is TIME for s in link.slots)
        for link in links
    ]
    for i in reversed(range(len(links))):
        if heavy[i] and links[i].parent != WORLD:
            heavy[links[i].parent] = True
    for i, link in enumerate(links):
        if not heavy[i] and any(_is_zero(coordinates[s].armature) for s in link.slots):
            raise ModelError(
                f"body '{link.name}' moves but has no mass, nor has anything attached to it;"
                " give it a mass, a density with shapes, or a fixed joint"
            )


def _check_ranks(links: Sequence[Link], coordinates: Sequence[Coordinate]) -> None:
    """Of what moves a link and all that hangs on it and nothing else, M has at most the rank of their inertias."""
    used = Counter(slot for link in links for slot in link.slots)
    free = [used[s] == 1 and _is_zero(c.armature) and c is not TIME for s, c in enumerate(coordinates)]
    moves = [sum(free[s] for s in link.slots) for link in links]
    ranks = _ranks(links)
    for i in reversed(range(len(links))):
        if ranks[i] < moves[i]:
            raise ModelError(
                f"body '{links[i].name}' and what hangs on it move in {moves[i]} ways, but have inertia in"
                f" {ranks[i]} at most; give it a mass and an inertia, or weld it (a fixed joint, fixed_base=True)"
            )
        if links[i].parent != WORLD:
            moves[links[i].parent] += moves[i]
            ranks[links[i].parent] += ranks[i]


def _ranks(links: Sequence[Link]) -> list[int]:
    """Of each link's spatial inertia; what depends on parameters counts as whole."""
    turning = [link.inertia if all(map(is_constant, link.inertia.flat)) else np.eye(3) for link in links]
    own = np.linalg.matrix_rank(np.array(turning, dtype=float).reshape(-1, 3, 3)).tolist()
    return [(0 if _is_zero(link.mass) else 3) + rank for link, rank in zip(links, own, strict=True)]
