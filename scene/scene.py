"""The scene: a world, gravity, parameters; it lowers itself to a model and compiles."""

from __future__ import annotations

import keyword
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from recursive_dyn.codegen.making.building import building
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.dynamics.hanging import Hanging
from recursive_dyn.dynamics.model_functions import METHODS
from recursive_dyn.errors import ModelError
from recursive_dyn.joint.coordinate import CLOCK
from recursive_dyn.maximal.holding import MAXIMAL
from recursive_dyn.maximal.maximal_dynamics import MaximalDynamics
from recursive_dyn.model.model import Model
from scene import file, topology, urdf
from scene.body import Body, Node, World
from scene.body_symbols import rate
from scene.constraint_group import ConstraintGroup, constraint, rolling
from scene.joints.coordinate_settings import coordinates_of
from scene.joints.parametric_joint import Joint
from scene.lower import lone_bodies, lower, lower_alone, lower_free
from scene.number_checks import numbers
from scene.scene_forces import SceneForces
from scene.wheel_rows import rolling_wheel


class Scene(SceneForces):
    """Bodies on parametric joints under ``gravity`` (3,), m/s^2, of numbers or expressions of parameters.

    joint_names: in a scene from a robot file, the name of the body that each joint moves, by the joint's name there.
    pairs: what was said of two bodies by ``pair``, by the set of their names; passing: names of bodies of which no two
    collide.
    """

    def parameter(self, name: str, value: float) -> Any:
        """A SymPy symbol that may stand in transforms, masses, inertias and placements and stays an input.

        Raises ModelError when the name is taken or not an identifier, or the value is not finite.
        """
        symbol = self._symbol("parameter", name)
        self.parameters[name] = numbers(f"parameter '{name}'", "value", value, ()).item()
        return symbol

    @property
    def time(self) -> Any:
        """The SymPy symbol of time, s: it may stand in transforms and drives of joints, in constraints and forces.

        What uses it makes it a coordinate, the last one, with the rate 1: "time". See docs/time.md.
        """
        import sympy

        return sympy.Symbol(CLOCK, real=True)

    def coordinate(self, name: str, **settings: Any) -> Any:
        """A SymPy symbol for a coordinate of its own that any number of joints may share.

        It may stand in the transforms of joints and in ``joint.driven(...)``. settings: limits, damping and the others
        that a joint takes. Raises ModelError when the name is taken or not an identifier.
        """
        symbol = self._symbol("coordinate", name)
        (self.coordinates[name],) = coordinates_of([name], settings)
        return symbol

    def _symbol(self, what: str, name: str) -> Any:
        import sympy

        if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
            raise ModelError(f"{what} name {name!r} is not an identifier")
        if name == CLOCK:
            raise ModelError(f"{what} '{CLOCK}': that is scene.time, which every scene has; use another name")
        if name in self.parameters or name in self.coordinates:
            raise ModelError(f"{what} '{name}' is declared already; use another name")
        return sympy.Symbol(name, real=True)

    def constrain(
        self, *expressions: Any, name: str | None = None, redundant: str = "refuse", breaks_at: Any = np.inf
    ) -> ConstraintGroup:  # fmt: skip
        """Keep SymPy expressions (or vectors of them) at zero by Lagrange multipliers; the group of these rows.

        Symbols: parameters, coordinates (``body.q``, ``scene.coordinate``), and of any body ``position``, ``rotation``,
        ``point(p)``, ``direction(d)``. An expression with velocities (``body.v``, ``velocity``, ``spin``,
        ``point_velocity(p)``, ``scene.rate(q)``) is a row P(q) v + b(q) = 0 and must be linear in them; b is the speed
        of a motor. What repeats other rows or the joints is refused when the scene is compiled, or left out with
        redundant="drop": what some rows repeat wherever the mechanism goes, for good; of what others repeat here and
        there, as nine entries of a rotation do, those that count are found at each state. Names are looked up in this
        scene when it compiles. Guenter & Lee (2009), section 5. Raises ModelError naming the constraint.

        breaks_at: the Euclidean norm of the multipliers of its rows above which it breaks, as a mean over a step with
        contacts, limits and motors in it; N where rows measure m, as three that hold two points together. See
        ``Simulation.broken_constraints``.
        """
        name = f"constraint {len(self.constraints) + 1}" if name is None else name
        return self.add_constraint(constraint(name, expressions, redundant, breaks_at))

    def roll(
        self, body: Body | str, name: str | None = None, pivoting: bool = True, *, radius: Any = None, axis: Any = "z",
        center: Any = (0.0, 0.0, 0.0), on: Body | World | str | None = None, normal: Any = "z",
        point: Any = (0.0, 0.0, 0.0), breaks_at: Any = np.inf,
    ) -> ConstraintGroup:  # fmt: skip
        """Let ``body``, on a joint of ``surface_on_surface``, roll on its parent without slipping (eq. 16); its rows.

        The joint may have several charts, each such a joint. pivoting=False also keeps it from turning about the
        common normal.

        With a ``radius``, m, a number or of parameters: the body, on whatever joint, has a wheel of that radius about
        ``axis`` ("x", "y", "z" or a vector) through ``center``, m, of its frame, as thin as a blade, that stays on a
        plane of ``on``, the world unless another body is said, and does not slip there. The plane goes through
        ``point``, m, with the ``normal``, in that body's frame. A body may have several, each by a name of its own;
        what they say twice, as four wheels of a car do, is left out. A wheel that lies flat has no lowest point: what
        may fall belongs on ``surface_on_surface(surfaces.plane(), surfaces.rim(radius), spin=True)``, which ends there.

        breaks_at: as of ``constrain``. Of a body on ``surface_on_surface`` that is the friction, N, which is gone
        afterwards: it slides on. Of a wheel by its radius it is all that the plane does to it, and the wheel is let go.
        """
        body = body if isinstance(body, Body) else self[body]
        name = f"rolling of {body.name}" if name is None else name
        if radius is None:
            return self.add_constraint(rolling(body, name, pivoting, breaks_at))
        on = on.name if isinstance(on, World) and on is not self.world else on
        ground = on if isinstance(on, Body) else None if on in (None, self.world, self.world.name) else self[str(on)]
        place = radius, axis, center, normal, point
        return self.add_constraint(rolling_wheel(name, body, ground, *place, pivoting, breaks_at))

    def cut(self, body: Body | str) -> Body:
        """Take a body off its joint; it goes on free in the world, with all it carries, once what runs is updated.

        A simulation, mirror or plugin that follows has it where it was, with the velocity it had: momentum of both
        halves is what it was, to rounding. ModelError for a body that is free, or whose coordinates others need.
        """
        return topology.cut(self, body)

    def swap(self, body: Body | str, joint: Joint, parent: Node | str | None = None, at: Any = None) -> Body:
        """Hang a body, with all it carries, on another joint: of another parent if given, at the pose ``at`` there.

        Where it stayed on its parent, ``at`` None is where its joint was. Once updated, what runs has the body where it
        was as near as the joint lets it, and moving likewise: an inelastic closing of the joint, in which energy never
        rises. ModelError as of ``attach``, and leaves the scene as it was.
        """
        return topology.swap(self, body, joint, parent, at)

    @staticmethod
    def rate(coordinate: Any) -> Any:
        """The SymPy symbol of a coordinate's rate."""
        return rate(coordinate)

    def model(self) -> Model:
        """The frozen tree this scene stands for."""
        return self.model_of(self.bodies)

    def model_of(self, bodies: Sequence[Body]) -> Model:
        """The tree of these bodies, parents first, with all else that the scene has."""
        with building():
            return lower(self, bodies)

    def compile(self, method: str = "auto", **settings: Any) -> Dynamics:
        """Equations of motion; each function compiles at its first call.

        method: in joint coordinates "auto", "recursive", "lagrangian", "trace", a reference, or "method_two", for long
        chains (docs/reference.md, Methods); in maximal coordinates, every body by itself, "penalty" (settings
        stiffness, damping) or "velocity_constraints" (setting stabilization), see :class:`MaximalDynamics` and
        docs/formulations.md.

        Raises ModelError naming the body, joint, coordinate or parameter that is wrong.
        """
        with building():
            lone = lone_bodies(self) if method in METHODS and not settings else None
            if lone is not None:
                return Dynamics(lower_alone(self, lone), method, topology.hanging_alone(self, lone.known))
        bodies = self.bodies
        return self.dynamics_of(bodies, topology.hanging(self, bodies), method, settings)

    def dynamics_of(
        self, bodies: Sequence[Body], hanging: Hanging, method: str, settings: Mapping[str, Any]
    ) -> Dynamics:
        """``compile`` for these bodies, parents first, that hang so."""
        if method in MAXIMAL:
            with building():
                reduced, free = lower_free(self, bodies)
            return MaximalDynamics(reduced, free, method, hanging, **settings)
        if method not in METHODS:
            raise ModelError(f"unknown method '{method}'; choose one of {', '.join((*METHODS, *MAXIMAL))}")
        if settings:
            raise ModelError(
                f"method '{method}' has no setting '{next(iter(settings))}'; maximal coordinates have some"
            )
        return Dynamics(self.model_of(bodies), method, hanging)

    @classmethod
    def from_urdf(cls, path: str | Path, fixed_base: bool | None = None, **options: Any) -> Scene:
        """A scene from a URDF file; see :func:`scene.urdf.add`."""
        scene = cls()
        urdf.add(scene, path, fixed_base=fixed_base, **options)
        return scene

    def add_urdf(
        self, path: str | Path, prefix: str = "", at: Any = None, fixed_base: bool | None = None, **options: Any
    ) -> Node:
        """One more robot from a URDF file, its names after ``prefix``; see :func:`scene.urdf.add`."""
        return urdf.add(self, path, prefix, at, fixed_base, **options)

    def save(self, path: str | Path) -> None:
        """Write the scene to a file; see :func:`scene.file.save`."""
        file.save(self, path)

    @classmethod
    def load(cls, path: str | Path) -> Scene:
        """A scene from a file that :meth:`save` wrote; see :func:`scene.file.fill`."""
        scene = cls()
        file.fill(scene, path)
        return scene


__all__ = ["Body", "Node", "Scene", "World"]
