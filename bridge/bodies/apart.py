"""Who never touches whom: neighbours, bodies that the scene lets pass each other, and pairs of which it says so."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import combinations, product

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.model.model import WORLD
from recursive_dyn.simulation import moving
from scene import Scene

Pair = tuple[str, str]


def apart(scene: Scene, neighbours: Iterable[Pair], about: Collection[str] | None = None) -> dict[Pair, None]:
    """Pairs of names, sorted, of bodies that do not collide, in an order that is always the same.

    What ``scene.pair`` says of two bodies counts before everything else; then those of ``scene.passing``; then
    neighbours, which overlap at their joints nearly always. about: leave out pairs without any of these names.
    """
    found = dict.fromkeys(ordered(a, b) for a, b in neighbours)
    groups = scene.passing if about is None else [group for group in scene.passing if not {*group}.isdisjoint(about)]
    if groups:
        solid = {body.name for body in scene.bodies if any(shape.collision for shape in body.shapes)}
        for group in groups:
            found |= dict.fromkeys(ordered(a, b) for a, b in combinations([name for name in group if name in solid], 2))
    for both, rule in scene.pairs.items():
        pair = ordered(*both)
        if rule.collide is False:
            found[pair] = None
        elif rule.collide:
            found.pop(pair, None)
    return found if about is None else {pair: None for pair in found if pair[0] in about or pair[1] in about}


def ordered(a: str, b: str) -> Pair:
    """The pair of two names."""
    return (a, b) if a < b else (b, a)


def neighbours(scene: Scene, dynamics: moving.Bodies, about: Collection[str] | None = None) -> Iterator[Pair]:
    """Bodies of one rigid piece, and of a piece and the next one towards the world that has anything to collide with.

    So a link is a neighbour of the one before it across fixed joints, and across links that are there only for their
    joints, as files make a joint of three hinges. The world is nobody's neighbour. about: only among what hangs
    together with bodies of these names, as far as that is known.
    """
    for names, parents, jointed in _trees(scene, dynamics):
        if len(names) > 1 and (about is None or not {*names}.isdisjoint(about)):
            yield from _within(scene, names, parents, jointed)


def _within(scene: Scene, names: Sequence[str], parents: Sequence[int], jointed: Sequence[bool]) -> Iterator[Pair]:
    pieces: list[list[str]] = []  # names of the bodies in each that collide
    carriers: list[int] = []  # the piece that each hangs on, or WORLD
    piece: list[int] = []  # of each body
    for name, parent, own in zip(names, parents, jointed, strict=True):
        if own or parent == WORLD:
            piece.append(len(pieces))
            pieces.append([])
            carriers.append(WORLD if parent == WORLD else piece[parent])
        else:
            piece.append(piece[parent])
        if any(shape.collision for shape in scene[name].shapes):
            pieces[piece[-1]].append(name)
    for bodies, carrier in zip(pieces, carriers, strict=True):
        yield from combinations(bodies, 2)
        while carrier != WORLD and not pieces[carrier]:
            carrier = carriers[carrier]
        if carrier != WORLD:
            yield from product(pieces[carrier], bodies)


def still(dynamics: moving.Bodies) -> frozenset[str]:
    """Names of the bodies that are fixed to the world."""
    if not isinstance(dynamics, Dynamics):
        return frozenset()
    return frozenset(body.name for body in dynamics.model.bodies if body.link == WORLD)


_Tree = tuple[Sequence[str], Sequence[int], Sequence[bool]]


def _trees(scene: Scene, dynamics: moving.Bodies) -> Iterator[_Tree]:
    """Names of bodies that may hang together, the number of each one's parent, or WORLD, and whether it moves against
    that."""
    if isinstance(dynamics, Dynamics):
        whole = dynamics.tree
        if whole.parts and max(whole.parts.facts.count) == 1:
            return
        for model in whole.parts.models or (whole,):
            yield model.body_names, [b.parent for b in model.bodies], [b.jointed for b in model.bodies]
        return
    names = [body.name for body in scene.bodies]
    places = {name: k for k, name in enumerate(names)} | {scene.world.name: WORLD}
    parents = [body.parent for body in scene.bodies]
    yield names, [WORLD if p is None else places[p.name] for p in parents], [True] * len(names)
