"""The joint a person writes: any rigid 4 x 4 SymPy transform of up to six coordinates, and products of joints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Scalar
from recursive_dyn.joint import joint_program as core
from recursive_dyn.joint.coordinate import Coordinate, CoordinateLimits
from recursive_dyn.joint.joint_program import JointProgram
from recursive_dyn.model.specification import Coupling
from recursive_dyn.spatial.spaces import Flat
from scene.joints import driving
from scene.joints.coordinate_settings import (
    UNLIMITED,
    check_names,
    coordinates_of,
    only_turns,
    refuse_in_charts,
    refuse_many,
    refuse_on_manifolds,
    refuse_settings_of_driven,
    settings_of,
    told_apart,
)
from scene.joints.curves.curve_path import CurvePath
from scene.joints.joint_text import JointText
from scene.joints.surfaces.patch_shape import PatchShape
from scene.joints.surfaces.surface_contact import SurfaceContact
from scene.scalars import graph_of, lowered


@dataclass(frozen=True, eq=False)
class Origin:
    """Which constructor of ``scene.joints`` made a joint, and with which arguments beside its coordinates' settings.

    usual: the settings that this constructor gives where a person gives none. A family of joints of which more is
    known than their motion derives an origin of its own, which tells it.
    """

    constructor: str
    arguments: Mapping[str, Any]
    usual: Mapping[str, Any] = field(default_factory=dict)

    @property
    def path(self) -> CurvePath | None:
        """The wire of a joint along a curve, to be drawn."""
        return None

    @property
    def patch(self) -> PatchShape | None:
        """The patch of a joint on control points, to be drawn."""
        return None

    @property
    def contact(self) -> SurfaceContact | None:
        """What a joint of two surfaces is made of."""
        return None

    @property
    def charts(self) -> tuple[Joint, ...]:
        """The parameterisations of a joint that has several."""
        return ()

    @property
    def one_chart(self) -> Joint | None:
        """The joint in one chart, where its charts are no wish of a person's."""
        return None

    @property
    def coupling(self) -> Coupling | None:
        """What the joint's one coordinate follows."""
        return None

    @property
    def drive(self) -> tuple[Scalar, ...] | None:
        """The coordinates as functions of others, over graph inputs ("parameter", name)."""
        return None

    def serves(self, coordinates: Sequence[Coordinate]) -> bool:
        """Whether what is said of the coordinates has a meaning in all charts of the joint."""
        return only_turns(coordinates)

    def coordinates(self, names: Sequence[str]) -> tuple[Coordinate, ...]:
        """The joint's coordinates as the constructor gives them by itself."""
        return coordinates_of(names, self.usual)

    def product(self, first: Joint, second: Joint) -> Joint | None:
        """The product of two joints, of which one is of this origin; None for that of their transforms."""
        return None


class Joint(JointText):
    """A parametric joint G(q).

    transform: 4 x 4 SymPy matrix that maps child to parent coordinates, a rigid motion for every q; coordinates:
    one symbol or up to six. Other symbols must be scene parameters, or coordinates that several joints share
    (``scene.coordinate``). limits: (low, high) or one pair a coordinate, in its unit; damping, stiffness, rest,
    armature, friction: a number, or one a coordinate (N m s/rad, N m/rad, rad, kg m^2, N m for an angle); friction is
    dry, of at most that force; armature is gear^2 times a rotor's inertia. effort, velocity: the most that a motor
    gives, and that the coordinate is made for; ``tau`` is not cut to it. ``a @ b`` is the joint with transform G_a G_b.
    ``origin``: the constructor that made it, None where its transform is all that is known. Errors: ModelError, at the
    latest when the scene is compiled, naming the body.
    """

    program: JointProgram
    coordinates: tuple[Coordinate, ...]
    origin: Origin | None

    def __init__(self, transform: Any, coordinates: Any = (), **settings: Any) -> None:
        import sympy as sp

        if not isinstance(transform, sp.MatrixBase):
            transform = np.asarray(transform, dtype=object)
            if any(isinstance(entry, str) for entry in transform.flat):  # SymPy would execute text
                raise ModelError("a joint's transform is made of SymPy expressions and numbers, not of text")
        if transform.shape != (4, 4):
            shape = " x ".join(map(str, transform.shape)) or "a scalar"
            raise ModelError(f"a joint's transform is a 4 x 4 matrix, this one is {shape}")
        symbols = (coordinates,) if isinstance(coordinates, (sp.Symbol, str)) else tuple(coordinates)
        for symbol in symbols:
            if not isinstance(symbol, sp.Symbol):
                raise ModelError(f"a joint's coordinate is a SymPy symbol, not {symbol!r}; make one with sympy.Symbol")
        label = f"joint of ({', '.join(map(str, symbols))})"
        entries = lowered(list(transform) if isinstance(transform, sp.MatrixBase) else transform, label, symbols)
        program = core.build(graph_of(entries), [(Flat(len(symbols)), entries.reshape(4, 4))])
        self._setup(program, [str(s) for s in symbols], settings, None)

    @classmethod
    def made(
        cls, origin: Origin | None, program: JointProgram, names: Sequence[str], settings: Mapping[str, Any]
    ) -> Joint:
        """A joint from graph expressions; ``names`` one a velocity coordinate, ``settings`` what was said of them."""
        (joint := cls.__new__(cls))._setup(program, names, settings, origin)
        return joint

    def _setup(
        self, program: JointProgram, names: Sequence[str], settings: Mapping[str, Any], origin: Origin | None
    ) -> None:
        check_names(names)
        usual = origin.usual if origin else {}
        given = {key: value for key, value in settings.items() if key not in usual or value is not None}
        self.program, self.origin = program, origin
        self.coordinates = coordinates_of(names, {**usual, **given})
        refuse_on_manifolds(program, self.coordinates)

    @property
    def limits(self) -> dict[str, CoordinateLimits]:
        """Of position, velocity and effort, by coordinate: ``body.joint.limits["angle"].effort``."""
        return {c.name: CoordinateLimits(c.limits, c.velocity, c.effort, c.turn) for c in self.coordinates}

    @property
    def path(self) -> CurvePath | None:
        """The wire of a joint along a curve, to be drawn; None for any other."""
        return self.origin.path if self.origin else None

    @property
    def patch(self) -> PatchShape | None:
        """The patch of a joint on control points, to be drawn; None for any other."""
        return self.origin.patch if self.origin else None

    @property
    def contact(self) -> SurfaceContact | None:
        """What a joint of two surfaces is made of; None for any other."""
        return self.origin.contact if self.origin else None

    @property
    def charts(self) -> tuple[Joint, ...]:
        """The parameterisations of a joint of several charts."""
        return self.origin.charts if self.origin else ()

    @property
    def of_one_chart(self) -> Joint:
        """The joint without the charts that it has by itself, if it has any."""
        return (self.origin and self.origin.one_chart) or self

    @property
    def coupling(self) -> Coupling | None:
        """What a following joint follows; None for any other."""
        return self.origin.coupling if self.origin else None

    @property
    def drive(self) -> tuple[Scalar, ...] | None:
        """A driven joint's coordinates over graph inputs ("parameter", name); None for any other."""
        return self.origin.drive if self.origin else None

    def __matmul__(self, other: Joint) -> Joint:
        if not isinstance(other, Joint):
            return NotImplemented
        for joint in (self, other):
            if joint.coupling or joint.drive:
                raise ModelError(
                    "a joint that follows or is driven by another coordinate cannot be composed; attach it to a body of"
                    " its own"
                )
        rule = self.origin if self.charts else other.origin
        return (rule and rule.product(self, other)) or composed(self, other)

    def adjusted(self, **settings: Any) -> Joint:
        """This joint with other limits, damping or whatever else a joint takes; what is not given stays."""
        wanted = coordinates_of([c.name for c in self.coordinates], {**settings_of(self.coordinates), **settings})
        if self.origin and self.charts and (wanted == self.coordinates or self.origin.serves(wanted)):
            return self if wanted == self.coordinates else self.with_coordinates(wanted)
        joint = self.of_one_chart.with_coordinates(wanted)
        if joint.drive:
            refuse_settings_of_driven(joint.coordinates)
        if joint.charts:
            refuse_in_charts(joint.coordinates)
        return joint

    def with_coordinates(self, coordinates: tuple[Coordinate, ...]) -> Joint:
        """This joint with its coordinates described anew."""
        joint = Joint.__new__(Joint)
        joint.program, joint.coordinates, joint.origin = self.program, coordinates, self.origin
        refuse_on_manifolds(joint.program, coordinates)
        return joint

    def follow(self, leader: str, multiplier: float = 1.0, offset: float = 0.0) -> Joint:
        """This one-coordinate joint driven by the coordinate of the body ``leader``: q = multiplier q_l + offset."""
        one = self._first_chart
        coupling = driving.coupling(leader, multiplier, offset, len(self.coordinates))
        joint = one.with_coordinates(self.coordinates)
        arguments = {"joint": one, "leader": leader, "multiplier": coupling.multiplier, "offset": coupling.offset}
        joint.origin = Following("follow", arguments, leads=coupling)
        return joint

    def driven(self, *expressions: Any) -> Joint:
        """This joint with each coordinate a function of others, q_i = q_i(q): a cam, a gear, a loop in closed form.

        expressions: SymPy, one a coordinate, over symbols of ``scene.coordinate``, ``body.q`` of bodies attached
        before, and scene parameters. Damping, springs, limits, rotors and friction belong to those coordinates; where
        an open curve or patch ends, it then goes straight on.
        """
        one = self._first_chart
        names = [c.name for c in self.coordinates]
        drive = driving.functions(expressions, names, self.program)
        ends = (self.path.domain,) if self.path else self.patch.domain if self.patch else ()
        own = [replace(c, limits=UNLIMITED) if c.limits in ends else c for c in self.coordinates]  # nobody asked
        refuse_settings_of_driven(own)
        return Joint.made(Driven("drive", {"joint": one, "by": drive}), one.program, names, {})

    @property
    def _first_chart(self) -> Joint:
        one = self.of_one_chart
        return one.charts[0] if one.charts else one


@dataclass(frozen=True, eq=False)
class Following(Origin):
    """A joint whose coordinate follows another body's."""

    leads: Coupling = field(kw_only=True)

    @property
    def coupling(self) -> Coupling:
        return self.leads

    def coordinates(self, names: Sequence[str]) -> tuple[Coordinate, ...]:
        own: Joint = self.arguments["joint"]
        return own.coordinates


class Driven(Origin):
    """A joint whose coordinates are functions of others."""

    @property
    def drive(self) -> tuple[Scalar, ...]:
        return tuple(self.arguments["by"])


class Composition(Origin):
    """A product of joints."""

    @property
    def parts(self) -> tuple[Joint, ...]:
        """The factors."""
        return tuple(self.arguments["parts"])

    def coordinates(self, names: Sequence[str]) -> tuple[Coordinate, ...]:
        return told_apart(joint.coordinates for joint in self.parts)


def composed(*joints: Joint) -> Joint:
    """The product of joints, none of which follows, is driven or has several charts."""
    if isinstance(first := joints[0].origin, Composition) and joints[0].coordinates == told_apart(
        joint.coordinates for joint in first.parts
    ):
        joints = (*first.parts, *joints[1:])
    refuse_many([c.name for joint in joints for c in joint.coordinates])
    coordinates = told_apart(joint.coordinates for joint in joints)
    program = core.compose(*(joint.program for joint in joints))
    joint = Joint.made(Composition("compose", {"parts": joints}), program, [c.name for c in coordinates], {})
    joint.coordinates = coordinates
    return joint
