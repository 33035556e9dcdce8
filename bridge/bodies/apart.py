"""Who never touches whom: neighbours, bodies that the scene lets pass each other, and pairs of which it says so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, product

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.model.model import WORLD
from recursive_dyn.simulation import moving
from scene import Scene

Pair = tuple[str, str]


def apart(scene: Scene, neighbours: Iterable[Pair]) -> dict[Pair, None]:
    """Pairs of names, sorted, of bodies that do not collide, in an order that is always the same.

    What ``scene.pair`` says of two bodies counts before everything else; then those of ``scene.passing``; then
    neighbours, which overlap at their joints nearly always.
    """
    solid = {body.name for body in scene.bodies if any(shape.collision for shape in body.shapes)}
    found = dict.fromkeys(ordered(a, b) for a, b in neighbours)
    for group in scene.passing:
        found |= dict.fromkeys(ordered(a, b) for a, b in combinations([name for name in group if name in solid], 2))
    for both, rule in scene.pairs.items():
        pair = ordered(*both)
        if rule.collide is False:
            found[pair] = None
        elif rule.collide:
            found.pop(pair, None)
    return found


def ordered(a: str, b: str) -> Pair:
    """The pair of two names."""
    return (a, b) if a < b else (b, a)


def neighbours(scene: Scene, dynamics: moving.Bodies) -> Iterator[Pair]:
    """Bodies of one rigid piece, and of a piece and the next one towards the world that has anything to collide with.

    So a link is a neighbour of the one before it across fixed joints, and across links that are there only for their
    joints, as files make a joint of three hinges. The world is nobody's neighbour.
    """
    names, parents, jointed = _tree(scene, dynamics)
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


def _tree(scene: Scene, dynamics: moving.Bodies) -> tuple[Sequence[str], Sequence[int], Sequence[bool]]:
    """Names of the bodies, the number of each one's parent, or WORLD, and whether it moves against that."""
    if isinstance(dynamics, Dynamics):
        bodies = dynamics.model.bodies
        return [b.name for b in bodies], [b.parent for b in bodies], [b.jointed for b in bodies]
    names = [body.name for body in scene.bodies]
    places = {name: k for k, name in enumerate(names)} | {scene.world.name: WORLD}
    parents = [body.parent for body in scene.bodies]
    return names, [WORLD if p is None else places[p.name] for p in parents], [True] * len(names)
