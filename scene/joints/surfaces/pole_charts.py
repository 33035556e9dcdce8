"""Two charts for each surface with poles that touches another: with the poles where they are, and on another axis.

An ellipsoid is the unit sphere stretched along its axes: f = (a x, b y, c z), |(x, y, z)| = 1. u and v are longitude
and latitude of (x, y, z) about one axis, and about another by the same formulas with the sizes in another order. So a
joint of two surfaces has charts P_i F(q; sizes_i, sizes_j) Q_j with one F. The chart of one surface changes as its own
point does; its tangent frame turns about the normal, which the spin takes up.

cos(latitude) is the share of an area of the sphere that du dv covers, whatever the sizes. It is below 0.6 within 37
degrees of a pole, where that of the other axis is above 0.8; of the two, one is never below 0.7.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from recursive_dyn.graph.expression import Graph, Scalar, array, atan2, cos, maximum, reciprocal, sin, sqrt
from recursive_dyn.joint.charted_program import TurnedProgram, Turns, turned
from recursive_dyn.joint.joint_program import JointProgram
from recursive_dyn.spatial.algebra import cross, dot
from scene.joints.surfaces.library import ellipsoid, sphere
from scene.joints.surfaces.surface import ORDER, Pieces, Surface, local_sizes
from scene.joints.surfaces.surface import turned as local_axes
from scene.joints.surfaces.surface_contact import SurfaceContact
from scene.scalars import carried

_OTHER = {"z": "x", "x": "y", "y": "z"}  # the axis of the second chart


def has_poles(surface: Surface) -> bool:
    """Whether a surface of the library has poles, and formulas that serve with its poles on another axis."""
    return surface.about_any is not None


def one_by_one(contact: SurfaceContact) -> list[SurfaceContact]:
    """The contact with the poles of its surfaces on either axis, those of the second one changing first."""
    return [
        replace(contact, first=a, second=b, charts=False)
        for a in _about_axes(contact.first)
        for b in _about_axes(contact.second)
    ]


def turns(surface: Surface, back: bool) -> Turns:
    """Local axes, or the way ``back`` from them, and sizes of the charts of a surface."""
    if not has_poles(surface):  # its axes are part of the core
        return Turns((np.eye(4),), (tuple(surface.sizes.values()),))
    axes = [np.asarray(local_axes(a.poles), dtype=float) for a in _about_axes(surface)]
    sizes = tuple(tuple(local_sizes(a.poles, a.sizes)) for a in _about_axes(surface))
    return Turns(tuple(Q.T if back else Q for Q in axes), sizes)


def core_pieces(surface: Surface, graph: Graph, place: int, side: str) -> Pieces:
    """The tangent frame from the local axes on, over the inputs ("q", place) ... and the sizes (``side``, k)."""
    u, v = (graph.input(("q", place + k)) for k in range(2))
    sizes = [graph.input((side, k)) for k in range(len(surface.sizes))]
    return surface.about_any(u, v, *sizes) if surface.about_any else surface.frame_pieces(graph, place)


def program(contact: SurfaceContact, core: JointProgram, charts: list[JointProgram]) -> TurnedProgram:
    """The joint of a contact with all charts: ``core`` over pieces as above, ``charts`` of :func:`one_by_one`."""
    graph = Graph()
    q = graph.inputs("q", 5)
    first, second = (_changes(graph, s, q[k : k + 2]) for s, k in ((contact.first, 0), (contact.second, 2)))
    side = -1.0 if contact.flip else 1.0
    pairs = [(i, j) for i in range(len(first)) for j in range(len(second))]
    changes = []
    for i, j in pairs:
        row = []
        for k, m in pairs:
            (u1, v1, turn1), (u2, v2, turn2) = first[i][k], second[j][m]
            row.append(array([u1, v1, u2, v2, q[4] - turn1 + side * turn2]))
        changes.append(tuple(row))
    quality = tuple(_quality(s, q[k + 1]) for s, k in ((contact.first, 0), (contact.second, 2)))
    return turned(
        charts, core, turns(contact.first, False), turns(contact.second, True), (quality[0], quality[1]), tuple(changes)
    )


def _about_axes(surface: Surface) -> list[Surface]:
    if not has_poles(surface):
        return [surface]
    return [surface, _about(surface, _OTHER[surface.poles])]


def _about(surface: Surface, poles: str) -> Surface:
    sizes = dict(surface.sizes, poles=poles)
    made = sphere(**sizes) if surface.name == "sphere" else ellipsoid(**sizes)
    return made.renamed(*surface.names)


def _quality(surface: Surface, v: Scalar) -> Scalar:
    return maximum(c := cos(v), -c) if has_poles(surface) else 1.0


def _changes(graph: Graph, surface: Surface, q: np.ndarray) -> list[list[np.ndarray]]:
    """[from][to]: u, v of the same point in a surface's charts, and by what their frames are turned (3,)."""
    axes = axes_of(surface)
    same = array([*q, 0.0])
    if len(axes) == 1:
        return [[same]]
    sizes = axis_sizes(surface, graph)
    return [[same if a == b else _change(sizes, a, b, q) for b in axes] for a in axes]


def _change(sizes: np.ndarray, a: str, b: str, q: np.ndarray) -> np.ndarray:
    point = direction(a, q[0], q[1])
    x, y, z = point[list(ORDER[b])]
    u, v = atan2(y, x), atan2(z, sqrt(x * x + y * y))
    before, after = along(sizes, a, q[0]), along(sizes, b, u)
    normal = point * array([reciprocal(s) for s in sizes])
    size = reciprocal(sqrt(dot(normal, normal)))
    return array([u, v, atan2(dot(normal, cross(before, after)) * size, dot(before, after))])


def axes_of(surface: Surface) -> list[str]:
    """The axes of the poles that a surface's charts have."""
    return [a.poles for a in _about_axes(surface)]


def on_poles(contact: SurfaceContact) -> list[bool]:
    """Which coordinates of a contact with spin change their meaning with its charts."""
    first, second = has_poles(contact.first), has_poles(contact.second)
    return [first, first, second, second, True]


def axis_sizes(surface: Surface, graph: Graph) -> np.ndarray:
    """Sizes (3,) of a surface with poles along its x, y and z, in a graph; a sphere has one for all."""
    sizes = carried(surface.sizes.values(), graph)
    return sizes if len(sizes) == 3 else np.repeat(sizes, 3)


def direction(poles: str, u: Scalar, v: Scalar) -> np.ndarray:
    """The direction (3,), along x, y and z, of a longitude and latitude about the axis of the poles."""
    return placed(poles, [cos(u) * cos(v), sin(u) * cos(v), sin(v)])


def along(sizes: np.ndarray, poles: str, u: Scalar) -> np.ndarray:
    """Along df/du (3,), a vector that is zero nowhere."""
    first, second, _ = ORDER[poles]
    return placed(poles, [-sizes[first] * sin(u), sizes[second] * cos(u), 0.0])


def placed(poles: str, local: list[Scalar]) -> np.ndarray:
    """A vector (3,) along the local axes, along x, y and z."""
    found = array(np.zeros(3))
    found[list(ORDER[poles])] = local
    return found
