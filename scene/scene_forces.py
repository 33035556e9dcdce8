"""Forces that are part of a scene: springs, strings, drag, muscles, any expression, inside every integrator's step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Graph
from recursive_dyn.model.force_element import ElementSpec
from scene import force_elements as elements
from scene.body import Body, World
from scene.motor_curves import motor
from scene.ready_constraints import ReadyConstraints, numbered

_ORIGIN = (0.0, 0.0, 0.0)


class SceneForces(ReadyConstraints):
    """The methods of a scene that add force elements to ``forces``.

    They act between bodies or with ``scene.world``, are evaluated wherever an integrator evaluates accelerations, and
    count among ``passive_forces`` and, where they have an energy, ``elastic_energy``. Quantities are numbers or
    expressions of the scene's parameters. Each method returns the element; ``forces.remove`` takes it out, by its name,
    too. ModelError names the element.
    """

    def spring(
        self, a: Body | World | str, b: Body | World | str, stiffness: Any, damping: Any = 0.0, rest: Any = 0.0,
        point_a: Any = _ORIGIN, point_b: Any = _ORIGIN, name: str | None = None,
    ) -> ElementSpec:  # fmt: skip
        """A spring and damper in one line between points of two bodies.

        stiffness, N/m; damping, N s/m, 0 for none; rest: length without force, m; points (3,) in the bodies' frames.
        """
        return self._added("spring", name, lambda n: elements.spring(
            n, *self._ends(n, a, b, point_a, point_b), stiffness, damping, rest))  # fmt: skip

    def string(
        self, path: Sequence[tuple[Body | World | str, Any]], stiffness: Any, length: Any, damping: Any = 0.0,
        name: str | None = None,
    ) -> ElementSpec:  # fmt: skip
        """A string through points (body, place (3,)) of bodies: it pulls where it is longer than ``length``, m, with
        stiffness, N/m, and damping, N s/m, and never pushes."""
        return self._added("string", name, lambda n: elements.string(
            n, self._path(n, path), stiffness, damping, length))  # fmt: skip

    def gas_spring(
        self, a: Body | World | str, b: Body | World | str, force: Any, ratio: Any, extended: Any, compressed: Any,
        point_a: Any = _ORIGIN, point_b: Any = _ORIGIN, name: str | None = None,
    ) -> ElementSpec:  # fmt: skip
        """A gas spring, which pushes: ``force``, N, at the length ``extended``, m, ``ratio`` times as much at
        ``compressed``, as gas at one temperature does between."""
        return self._added("gas spring", name, lambda n: elements.gas_spring(
            n, *self._ends(n, a, b, point_a, point_b), force, ratio, extended, compressed,
        ))  # fmt: skip

    def bushing(
        self, a: Body | World | str, b: Body | World | str, stiffness: Any, torsion: Any, damping: Any = 0.0,
        torsional_damping: Any = 0.0, point_a: Any = _ORIGIN, point_b: Any = _ORIGIN, name: str | None = None,
    ) -> ElementSpec:  # fmt: skip
        """Springs and dampers that hold a point and the axes of b to those of a, along and about the axes of a.

        stiffness, N/m, torsion, N m/rad, damping, N s/m, torsional_damping, N m s/rad: a number, or three. Turns count
        as 2 tan(angle / 2), which grows without bound towards half a turn.
        """
        settings = (stiffness, torsion, damping, torsional_damping)
        return self._added("bushing", name, lambda n: elements.bushing(
            n, *self._ends(n, a, b, point_a, point_b), settings))  # fmt: skip

    def drag(
        self, body: Body | str, area: Any, coefficient: Any = 1.0, density: Any = 1.2, point: Any = _ORIGIN,
        wind: Any = _ORIGIN, name: str | None = None,
    ) -> ElementSpec:  # fmt: skip
        """Drag of a point of a body: density coefficient area |u| u / 2 against its velocity u in the wind (3,), m/s.

        area, m^2; density of what it moves in, kg/m^3.
        """
        return self._added("drag", name, lambda n: elements.drag(
            n, self._point(n, body, point), area, coefficient, density, wind))  # fmt: skip

    def gravitation(
        self, bodies: Sequence[Body | str] | None = None, constant: Any = 6.6743e-11, name: str | None = None
    ) -> ElementSpec:
        """Attraction constant m m' / r^2 of the centres of mass of every two of these bodies, or of all."""

        def made(n: str) -> ElementSpec:
            found = self.bodies if bodies is None else [self._body(n, b) for b in bodies]
            if len(set(map(id, found))) < max(2, len(found)):
                raise ModelError(f"force element '{n}': gravitation is of two different bodies at least")
            return elements.gravitation(n, found, constant)

        return self._added("gravitation", name, made)

    def muscle(
        self, path: Sequence[tuple[Body | World | str, Any]], force: Any, optimal_length: Any, activation: Any = 1.0,
        tendon: Any = 0.0, fastest: Any = 10.0, name: str | None = None,
    ) -> ElementSpec:  # fmt: skip
        """Hill's muscle through points (body, place (3,)) of bodies, on a tendon that does not stretch.

        force, N, that it is activated to at the optimal length, m, of its fibres; activation 0 to 1, best a
        ``scene.parameter``; tendon: its length, m; fastest: optimal lengths per second at which it pulls no more.
        Its curves are smooth (De Groote et al. 2016): what it resists stretching with, too, is 0.018 of force there.
        """
        return self._added("muscle", name, lambda n: elements.muscle(
            n, self._path(n, path), force, optimal_length, activation, tendon, fastest))  # fmt: skip

    def motor(
        self, measure: Any, curve: Any, throttle: Any = 1.0, ratio: Any = 1.0, name: str | None = None
    ) -> ElementSpec:
        """A motor along a measure (``arm.q[0]``, a distance) that gives the force its curve has at its speed.

        curve: pairs (speed, force), rad/s and N m or m/s and N, of rising speeds; what is between is smooth and
        overshoots none, beyond them it goes on straight. throttle, -1 to 1, best a ``scene.parameter``: of that force;
        below 0 it runs the other way. ratio: of a gear, the motor's speed over that of the measure.
        """
        return self._added("motor", name, lambda n: motor(n, measure, curve, throttle, ratio))

    def force(
        self, on: Any, force: Any = None, torque: Any = None, point: Any = _ORIGIN, name: str | None = None
    ) -> ElementSpec:
        """Any force: expressions of coordinates, rates, positions and velocities of bodies, and parameters.

        on: a body, for a ``force`` (3,), N, at a ``point`` of its frame and a ``torque`` (3,), N m, in world axes; or a
        measure, a SymPy expression of coordinates and positions (``arm.q[0]``, a distance), for one ``force`` that does
        the work force x change of the measure. Symbols as for ``constrain``. What has an energy: ``potential``.
        """
        if isinstance(on, (Body, str)):
            return self._added("force", name, lambda n: self._on_body(n, self._body(n, on), force, torque, point))

        def made(n: str) -> ElementSpec:
            if force is None or torque is not None:
                raise ModelError(f"force element '{n}': along a measure acts one force, force=, and no torque")
            measure, strength = elements.scalars(f"force element '{n}'", Graph(), on, force)
            return ElementSpec(n, ((measure, strength),))

        return self._added("force", name, made)

    def potential(self, energy: Any, name: str | None = None) -> ElementSpec:
        """Forces along minus the gradient of any energy, J: a SymPy expression of coordinates, positions, rotations."""
        return self._added("potential", name, lambda n: ElementSpec(
            n, (), elements.scalars(f"force element '{n}'", Graph(), energy)[0]))  # fmt: skip

    def _on_body(self, name: str, body: Body, force: Any, torque: Any, point: Any) -> ElementSpec:
        if force is None and torque is None:
            raise ModelError(f"force element '{name}' has neither a force nor a torque")
        graph, what, terms = Graph(), f"force element '{name}'", []
        speeds = (elements.point(what, body, point).velocity(graph), elements.spin(graph, body.name))
        for label, speed, given in zip(("force", "torque"), speeds, (force, torque), strict=True):
            if given is None:
                continue
            vector = list(np.asarray(given, dtype=object).ravel())
            if len(vector) != 3:
                raise ModelError(f"{what}: a {label} on a body is a vector (3,), not {given!r:.60}")
            terms += list(zip(speed, elements.scalars(what, graph, *vector), strict=True))
        return ElementSpec(name, tuple(terms))

    def _added(self, kind: str, name: Any, made: Any) -> ElementSpec:
        known = {element.name for element in self.forces}
        if name is None:
            name = numbered(kind, known)
        if not isinstance(name, str) or not name or name in known:
            raise ModelError(f"a force element needs a name that no other has, not {name!r}")
        element: ElementSpec = made(name)
        self.forces.append(element)
        return element

    def _body(self, name: str, node: Any) -> Body:
        return self[self._named(f"force element '{name}'", node)]

    def _point(self, name: str, node: Any, place: Any) -> elements.Point:
        return self._place(f"force element '{name}'", node, place)

    def _ends(self, name: str, a: Any, b: Any, point_a: Any, point_b: Any) -> tuple[elements.Point, elements.Point]:
        self._apart(f"force element '{name}'", a, b)
        return self._point(name, a, point_a), self._point(name, b, point_b)

    def _path(self, name: str, path: Any) -> list[elements.Point]:
        try:
            pairs = [(node, place) for node, place in path]
        except (TypeError, ValueError):
            pairs = []
        if len(pairs) < 2:
            raise ModelError(f"force element '{name}': a path is two pairs (body, place) at least, not {path!r:.80}")
        return [self._point(name, node, place) for node, place in pairs]
