"""Joints on surfaces: the tangent frame of f(u, v), and one surface on another (Guenter & Lee 2009, eq. 15)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Graph, array, cos, sin
from recursive_dyn.joint import joint_program as core
from recursive_dyn.joint.coordinate import Coordinate
from recursive_dyn.joint.joint_program import JointProgram
from recursive_dyn.spatial.algebra import inverse_pose
from recursive_dyn.spatial.spaces import Flat, Space
from scene.joints.coordinate_settings import UNLIMITED, coordinates_of, only_turns
from scene.joints.frames import still, tangent_frame
from scene.joints.one_chart import in_one_chart
from scene.joints.parametric_joint import Joint, Origin, composed
from scene.joints.surfaces import pole_charts
from scene.joints.surfaces.surface import Surface
from scene.joints.surfaces.surface_contact import SurfaceContact
from scene.number_checks import as_floats

Factors = list[tuple[Space, np.ndarray]]  # with the transform (4, 4) over a point of it


@dataclass(frozen=True, eq=False)
class TouchingSurfaces(Origin):
    """A joint of two surfaces."""

    pair: SurfaceContact = field(kw_only=True)

    @property
    def contact(self) -> SurfaceContact:
        return self.pair


@dataclass(frozen=True, eq=False)
class TouchingOnPoles(TouchingSurfaces):
    """A joint of two surfaces with a chart for each axis of their poles."""

    parts: tuple[Joint, ...] = field(kw_only=True)

    @property
    def charts(self) -> tuple[Joint, ...]:
        return self.parts

    @property
    def one_chart(self) -> Joint:
        return self.parts[0]

    def product(self, first: Joint, second: Joint) -> Joint:
        """Products have one chart."""
        return composed(*map(in_one_chart, (first, second)))

    def serves(self, coordinates: Sequence[Coordinate]) -> bool:
        """Springs and dampers have it: see ``charted_springs``; of a surface without poles limits and rotors, too."""
        return _in_all_charts(self.pair, coordinates)


def frame_factors(graph: Graph, surface: Surface, place: int) -> Factors:
    """The surface's tangent frame over the inputs ("q", place), ("q", place + 1), as factors of a joint."""
    if surface.pieces is not None:
        pieces = surface.frame_pieces(graph, place)
        return [(Flat(count), G) for G, count in pieces]
    return [(Flat(2), tangent_frame(graph, surface.point_over(graph, place), place, place + 1))]


def charted_factors(graph: Graph, surface: Surface, place: int, side: str) -> Factors:
    """The same from the local axes on, whose chart is in force: over the sizes (``side``, k), too, if it has poles."""
    if not pole_charts.has_poles(surface):
        return frame_factors(graph, surface, place)
    return [(Flat(count), G) for G, count in pole_charts.core_pieces(surface, graph, place, side)]


def as_surface(f: Any, coordinates: Any) -> Surface:
    """A pair f, (u, v) as a surface; ModelError when it is none."""
    try:
        u, v = coordinates
        x, y, z = f
    except (TypeError, ValueError):
        raise ModelError(
            "a surface is three expressions x, y, z and its two symbols (u, v), or one of joints.surfaces"
        ) from None
    return Surface.of("surface", (x, y, z), (u, v))


def surface(f: Any, coordinates: Any = None, frame: str = "tangent", **settings: Any) -> Joint:
    """A body gliding on the surface f(u, v): x along df/du, z along the normal df/du x df/dv.

    f: three SymPy expressions, m; coordinates: the symbols (u, v); or f: one of ``joints.surfaces`` alone. frame:
    "tangent", or "translation" for a child that keeps the parent's axes.
    """
    under = f.renamed("u", "v") if isinstance(f, Surface) else as_surface(f, coordinates)
    return gliding(under, frame, settings)


def gliding(under: Surface, frame: str, settings: Mapping[str, Any]) -> Joint:
    """The joint of a body on a surface whose coordinates have their names."""
    graph = Graph()
    if frame == "tangent":
        factors = frame_factors(graph, under, 0)
    elif frame == "translation":
        factors = [(Flat(2), still(under.point_over(graph, 0)))]
    else:
        raise ModelError(f"surface: frame is 'tangent' or 'translation', not {frame!r}")
    origin = Origin("surface", {"on": under, "frame": frame})
    return Joint.made(origin, core.build(graph, factors), under.names, settings)


def surface_on_surface(
    f1: Any,
    c1: Any,
    f2: Any = None,
    c2: Any = None,
    flip: bool = True,
    turn: float = 0.0,
    spin: bool = False,
    charts: bool = True,
    **settings: Any,
) -> Joint:
    """The child's surface touching the parent's, tangent frames aligned: S1 Rz(spin + turn) F S2^-1.

    Each surface is a pair f, (u, v) or one of ``joints.surfaces``: ``surface_on_surface(f1, c1, f2, c2)``,
    ``surface_on_surface(first, second)``. flip: F = diag(1, -1, -1, 1) turns the child's normal over, so that two
    outward normals oppose each other; without it the child touches from inside. turn: angle about the common normal
    between the two u directions, rad: pi/2 interlocks rings. spin: the fifth coordinate, added to ``turn``.

    charts: with spin, spheres and ellipsoids have a second chart, with their poles on another axis, between which a
    simulation changes by itself (``joints.charts`` says what that means for q and v). limits=TurnLimits(...) are of how
    the child turns, as there. Springs and dampers of coordinates that poles end act along the surfaces, over the poles
    too: as those of u, v and the spin near their rest, farther away as ``scene.charted_springs`` says. u and v of a
    surface without poles take limits, rotors and friction, too. A joint with those of other coordinates, and what is
    composed of it or driven, has one chart, as with charts=False; so has one without spin, whose motion is another one
    wherever the poles lie: it is singular there.
    """
    first, second = _pair((f1, c1, f2, c2))
    angle = as_floats(turn)
    if angle.shape != () or not np.isfinite(angle):
        raise ModelError(f"surface_on_surface: turn must be a finite angle, rad, not {turn!r}")
    return touching(SurfaceContact(first, second, bool(flip), float(angle), bool(spin), bool(charts)), settings)


def touching(contact: SurfaceContact, settings: Mapping[str, Any]) -> Joint:
    """The joint of two surfaces whose coordinates have their names."""
    first, second = contact.first, contact.second
    names = [*first.names, *second.names, *(["spin"] if contact.spins else [])]
    sides = {"first": first, "second": second, "flip": contact.flip, "turn": contact.turn, "spin": contact.spins,
             "charts": contact.charts}  # fmt: skip
    program = _program(contact, *(_frames(surface) for surface in (first, second)))
    limits = [*_limits(first), *_limits(second), *([UNLIMITED] if contact.spins else [])]
    usual = {"limits": limits} if any(low > -np.inf for low, _ in limits) else {}
    in_one = TouchingSurfaces("surface_on_surface", sides, usual, pair=contact)
    charted = contact.spins and contact.charts and any(map(pole_charts.has_poles, (first, second)))
    if usual or not (charted and _in_all_charts(contact, coordinates_of(names, settings))):
        return Joint.made(in_one, program, names, settings)
    one = Joint.made(in_one, program, names, {})
    parts = (one, *(touching(other, {}) for other in pole_charts.one_by_one(contact)[1:]))
    pieces = [_charted_frames(surface, side) for surface, side in ((first, "first"), (second, "second"))]
    core = _program(contact, *pieces)
    program = pole_charts.program(contact, core, [part.program for part in parts])
    origin = TouchingOnPoles("surface_on_surface", sides, pair=contact, parts=parts)
    return Joint.made(origin, program, names, settings)


def _in_all_charts(contact: SurfaceContact, coordinates: Sequence[Coordinate]) -> bool:
    own = [replace(c, stiffness=0.0, rest=0.0, damping=0.0) for c in coordinates]
    return only_turns([
        c if poled else replace(c, limits=UNLIMITED, armature=0.0, friction=0.0)
        for c, poled in zip(own, pole_charts.on_poles(contact), strict=True)
    ])  # fmt: skip


def _limits(surface: Surface) -> list[tuple[float, float]]:
    return [UNLIMITED, surface.v_limits or UNLIMITED]


def _frames(surface: Surface) -> Callable[[Graph, int], Factors]:
    return lambda graph, place: frame_factors(graph, surface, place)


def _charted_frames(surface: Surface, side: str) -> Callable[[Graph, int], Factors]:
    return lambda graph, place: charted_factors(graph, surface, place, side)


def _program(contact: SurfaceContact, first: Callable[..., Factors], second: Callable[..., Factors]) -> JointProgram:
    """The joint of a contact whose surfaces have these frames, of a graph and the place of their coordinates."""
    graph = Graph()
    back = [(space, inverse_pose(G)) for space, G in reversed(second(graph, 2))]
    moving = [i for i, (space, _) in enumerate(back) if space.dimension]
    before, after = back[: moving[0]], back[moving[-1] + 1 :]
    home = _product(back[moving[0] : moving[-1] + 1])
    angle = graph.input(("q", 4)) + contact.turn if contact.spins else contact.turn
    between = _about_normal(angle) @ (np.diag([1.0, -1.0, -1.0, 1.0]) if contact.flip else np.eye(4))
    between = between @ _product(before)
    factors: Factors = [(Flat(3), between @ home)] if contact.spins else [(Flat(0), between), (Flat(2), home)]
    return core.build(graph, [*first(graph, 0), *factors, *after])


def _pair(given: tuple[Any, ...]) -> tuple[Surface, Surface]:
    rest = list(given)
    found: list[Surface] = []
    for k in ("1", "2"):
        f = rest.pop(0)
        found.append(f.renamed(f"u{k}", f"v{k}") if isinstance(f, Surface) else as_surface(f, rest.pop(0)))
    if any(x is not None for x in rest):
        raise ModelError("surface_on_surface takes two surfaces; give flip, turn and spin by name")
    return found[0], found[1]


def _product(factors: Factors) -> np.ndarray:
    total = array(np.eye(4))
    for _, G in factors:
        total = total @ array(G)
    return total


def _about_normal(angle: Any) -> np.ndarray:
    G = array(np.eye(4))
    c, s = cos(angle), sin(angle)
    if isinstance(angle, float):
        c, s = round(c, 15), round(s, 15)  # a quarter turn is exact
    G[:2, :2] = [[c, -s], [s, c]]
    return G
