"""Springs and dampers of two surfaces that touch, in all their charts: force elements instead of coordinates' own.

Longitude and latitude end at poles, and a spring between their numbers with them. So a spring of u and v, of a surface
with poles, is one of the chord x = n - n0 on the unit sphere that the surface is stretched from, in the axes of its
rest: k x^2 / 2 to the east (k_u / cos(v0)^2), to the north (k_v) and inwards (the lesser of the two, so that with equal
springs it is one of the chord's length, and without one of them there is none that way). It is smooth everywhere, and
that of the coordinates near its rest, to second order. Dampers are of the same three lengths.

A spin is measured against directions of both surfaces that no pole turns: what turns n0 to n turns the east of the rest
with it, wherever n is but opposite to n0. There, on both sides, its spring has faded away, as it does where the spin is
half a turn from rest: k (1 - cos(spin - rest)) ((1 + n1.n01) (1 + n2.n02) / 4)^2; of surfaces without poles there is no
such factor. Where n0 is on the equators of both it is that of the coordinate, to second order. Its damper acts against
the turning about the normal.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Graph, Scalar, array, cos, reciprocal, sin, sqrt
from recursive_dyn.joint import charted_program
from recursive_dyn.joint.charted_program import chart_name, in_force
from recursive_dyn.joint.coordinate import Coordinate
from recursive_dyn.model.force_element import OWN_RATE, ElementSpec
from recursive_dyn.spatial.algebra import cross, dot
from scene.body import Body
from scene.constraint_group import pivoting_rate
from scene.joints.parametric_joint import Joint
from scene.joints.surfaces import pole_charts
from scene.joints.surfaces.surface import Surface

_POLE = 1e-6  # cos(latitude) below which a rest has no east
_TINY = 1e-30


def own_coordinates(joint: Joint, coordinates: tuple[Coordinate, ...]) -> tuple[Coordinate, ...]:
    """The coordinates without the springs and dampers that are force elements in a joint's charts."""
    if joint.contact is None or not joint.charts:
        return coordinates
    return tuple(
        replace(c, stiffness=0.0, rest=0.0, damping=0.0) if poled and (c.stiffness or c.damping) else c
        for c, poled in zip(coordinates, pole_charts.on_poles(joint.contact), strict=True)
    )


def springs_on_charts(joints: Iterable[tuple[Body, Joint]]) -> list[ElementSpec]:
    """What coordinates of such joints have as springs and dampers. ModelError names the body and the coordinate."""
    found: list[ElementSpec] = []
    for body, joint in joints:
        if joint.coordinates != own_coordinates(joint, joint.coordinates):
            found += _Springs(body, joint).elements()
    return found


class _Side:
    """One surface: the direction n (3,) on its unit sphere, and those of its rest; ``poles``: whether it has any."""

    def __init__(
        self, surface: Surface, graph: Graph, chart: Scalar, q: list[Scalar], own: tuple[Coordinate, ...]
    ) -> None:
        self.poles = pole_charts.has_poles(surface)
        if not self.poles:
            return
        self._sizes = pole_charts.axis_sizes(surface, graph)
        axes = pole_charts.axes_of(surface)
        self._n = in_force(chart, [pole_charts.direction(a, *q) for a in axes])
        self._east = in_force(chart, [pole_charts.along(self._sizes, a, q[0]) for a in axes])
        self._rest = [np.asarray(pole_charts.placed(axes[0], x), dtype=float) for x in _axes(*(c.rest for c in own))]

    def chord(self) -> list[Scalar]:
        """n - n0 along east, north and up of the rest."""
        east, north, up = (dot(array(x), self._n) for x in self._rest)
        return [east, north, up - 1.0]

    def turn(self) -> tuple[tuple[Scalar, Scalar], Scalar]:
        """(cos, sin) of the angle about the normal from df/du to the direction that no pole turns, and 1 + n.n0."""
        east, _, up = self._rest
        near = dot(array(up), self._n) + 1.0
        n, sizes = self._n, self._sizes
        carried = array(east) * near - (n + array(up)) * dot(array(east), n)  # the east of the rest, turned, times near
        before, after = self._east, carried * sizes
        normal = n * array([reciprocal(s) for s in sizes])
        size = reciprocal(sqrt(dot(before, before) * (dot(after, after) + _TINY)))
        c = dot(before, after) * size
        s = dot(normal, cross(before, after)) * size * reciprocal(sqrt(dot(normal, normal)))
        return (c, s), near


class _Springs:
    """Those of one joint, over the body's coordinates, rates, and the chart in force."""

    def __init__(self, body: Body, joint: Joint) -> None:
        self._name, self._coordinates = body.name, joint.coordinates
        assert joint.contact is not None
        self._contact, self._graph = joint.contact, Graph()
        self._q, self._v = ([self._graph.input(("parameter", s.name)) for s in symbols] for symbols in (body.q, body.v))
        self._chart = self._graph.input(("parameter", chart_name(body.name)))
        sides = (self._contact.first, self._contact.second)
        numbers = charted_program.sides(self._chart, *(len(pole_charts.axes_of(s)) for s in sides))
        self._sides = [
            _Side(s, self._graph, number, self._q[k : k + 2], self._coordinates[k : k + 2])
            for s, number, k in zip(sides, numbers, (0, 2), strict=True)
        ]

    def elements(self) -> list[ElementSpec]:
        """One for each surface with poles, and one for the spin."""
        found = []
        for side, own in zip(self._sides, (self._coordinates[:2], self._coordinates[2:4]), strict=True):
            if side.poles and any(c.stiffness or c.damping for c in own):
                self._check(own)
                found.append(self._along(side, own))
        spin = self._coordinates[4]
        if spin.stiffness or spin.damping:
            found.append(self._about(spin))
        return found

    def _check(self, own: tuple[Coordinate, ...]) -> None:
        u, v = own
        if (u.stiffness or u.damping) and abs(np.cos(v.rest)) < _POLE:
            raise ModelError(
                f"joint of '{self._name}': coordinate '{u.name}' has a spring or damper, but '{v.name}' rests at a"
                " pole, where there is no longitude; choose another rest, or use scene.bushing or scene.spring"
            )

    def _along(self, side: _Side, own: tuple[Coordinate, ...]) -> ElementSpec:
        u, v = own
        chord, east = side.chord(), 1.0 / np.cos(v.rest) ** 2
        k, c = ((a * east, b) for a, b in ((u.stiffness, v.stiffness), (u.damping, v.damping)))
        stiff, loss = ([*x, min(x)] for x in (k, c))
        pulls = [x * float(np.sqrt(s)) for x, s in zip(chord, stiff, strict=True) if s]
        energy = dot(array(pulls), array(pulls)) * 0.5 if pulls else None
        rate = self._graph.input(("parameter", OWN_RATE))
        terms = tuple((x, rate * -d) for x, d in zip(chord, loss, strict=True) if d)
        return ElementSpec(f"{u.name} and {v.name} of {self._name}", terms, energy, tuple(pulls))

    def _about(self, spin: Coordinate) -> ElementSpec:
        terms: tuple[tuple[Scalar, Scalar], ...] = ()
        energy: Scalar | None = None
        if spin.damping:
            turning = pivoting_rate(self._contact, self._q, self._v, self._chart)
            terms = ((turning, self._graph.input(("parameter", OWN_RATE)) * -spin.damping),)
        if spin.stiffness:
            c, s = cos(self._q[4] - spin.rest), sin(self._q[4] - spin.rest)
            share: Scalar = 1.0
            for side, way in zip(self._sides, (-1.0, -1.0 if self._contact.flip else 1.0), strict=True):
                if side.poles:
                    (ct, st), near = side.turn()
                    c, s = c * ct - s * st * way, s * ct + c * st * way
                    share = share * near * near * 0.25
            energy = (1.0 - c) * share * spin.stiffness
        return ElementSpec(f"{spin.name} of {self._name}", terms, energy)


def _axes(u: float, v: float) -> list[list[float]]:
    """East, north and up at a longitude and latitude, along local axes."""
    (cu, su), (cv, sv) = ((float(np.cos(x)), float(np.sin(x))) for x in (u, v))
    return [[-su, cu, 0.0], [-sv * cu, -sv * su, cv], [cv * cu, cv * su, sv]]
