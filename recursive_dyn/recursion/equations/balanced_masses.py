"""Mass moments with which wrenches need the fewest operations; generalized forces are exactly the same.

A mass on the axis of a hinge belongs to either of the links that it joins. The mass that cancels one component of the
link's first moment, given to the child, saves more there than it costs: a product fewer for each component of force and
moment, against one with the acceleration that the child has anyway. Composite inertias would lose what massless links
save them: only forces are computed with these moments.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.graph.expression import is_constant
from recursive_dyn.model.model import WORLD, Link, MassMoments, Model, once
from recursive_dyn.model.reframe import TINY, turning_axis
from recursive_dyn.recursion.kinematics import Tree

_LARGE = 2.0  # times the mass of all: rounding would grow with what cancels


def balanced_moments(tree: Tree) -> list[MassMoments]:
    """Moments of every link, to be used for wrenches that are projected onto the joints, and for nothing else."""
    moments, links = [k.moments for k in tree.links], tree.model.links
    largest = _LARGE * sum(k.mass for k in tree.links if is_constant(k.mass))
    for i, axis, child, arm in _hinges(tree.model):
        own, mass, link = moments[i], 0.0, links[i]
        if not _constant(own):
            continue
        if (
            child is not None
            and is_constant(moments[child].mass)
            and abs(own.first[arm]) <= largest * abs(links[child].placement[arm, 3])
        ):
            p, given = links[child].placement[:3, 3], moments[child]
            mass = own.first[arm] / p[arm]
            own = MassMoments(own.mass - mass, own.first - p * mass, own.second - np.outer(p, p) * mass)
            own.first[arm] = 0.0
            moments[child] = MassMoments(given.mass + mass, given.first, given.second)
        moments[i], line = _off_axis(own, axis)
        if link.parent != WORLD:
            moments[link.parent] = _joined(moments[link.parent], link, axis, own.mass, line)
    return moments


def _off_axis(own: MassMoments, axis: int) -> tuple[MassMoments, tuple[float, float]]:
    """What a hinge moves of a link, and first and second moment along its axis, which it does not."""
    first, second = own.first.copy(), own.second.copy()
    line = first[axis], second[axis, axis]
    first[axis] = second[axis, axis] = 0.0
    return MassMoments(0.0, first, second), line


def _joined(host: MassMoments, link: Link, axis: int, mass: float, line: tuple[float, float]) -> MassMoments:
    """A link's parent with what lies on the link's axis: a mass at its origin, first and second moment along it."""
    p, d = link.placement[:3, 3], link.placement[:3, axis]
    mixed = np.outer(p, d) * line[0]
    first = host.first + p * mass + d * line[0]
    second = host.second + np.outer(p, p) * mass + mixed + mixed.T + np.outer(d, d) * line[1]
    return MassMoments(host.mass + mass, first, second)


def _constant(moments: MassMoments) -> bool:
    return all(map(is_constant, (moments.mass, *moments.first, *moments.second.flat)))


@once
def _hinges(model: Model) -> tuple[tuple[int, int, int | None, int], ...]:
    """(link, axis, child, component of the child's place) of every hinge, leaves first.

    No child where there is not one such component beside the axis, or the child is no hinge, or a parallel one: in a
    plane, M and wrenches share what this would part.
    """
    links = model.links
    axes = [turning_axis(link) for link in links]
    child: dict[int, int] = {}
    for later, link in enumerate(links):
        child.setdefault(link.parent, later)
    found: list[tuple[int, int, int | None, int]] = []
    for i, axis in reversed(list(enumerate(axes))):
        k = child.get(i)
        if axis is None or not (links[i].parent == WORLD or _placed(links[i])):
            continue
        turning = None if k is None else axes[k]
        arms = list[int]()
        if k is not None and turning is not None and _placed(links[k]):
            arms = _arms(links[k].placement, axis, turning)
        found.append((i, axis, k, arms[0]) if len(arms) == 1 else (i, axis, None, 0))
    return tuple(found)


def _placed(link: Link) -> bool:
    return all(map(is_constant, link.placement.flat))


def _arms(placement: np.ndarray, axis: int, turning: int) -> list[int]:
    """Components of a child's place beside the axis; none if the child turns about a parallel one."""
    if abs(placement[axis, turning]) == 1.0:
        return []
    return [j for j in range(3) if j != axis and abs(placement[j, 3]) > TINY]
