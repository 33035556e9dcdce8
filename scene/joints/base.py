"""The joint a person writes: any rigid 4 x 4 SymPy transform of up to six coordinates, and products of joints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Graph, Scalar, array
from recursive_dyn.joint import joint_program as core
from recursive_dyn.joint.coordinate import Coordinate
from recursive_dyn.joint.joint_program import JointProgram
from recursive_dyn.model.specification import Coupling
from recursive_dyn.spatial.spaces import Flat

if TYPE_CHECKING:
    from scene.joints.curves.patch import PatchShape
    from scene.joints.curves.polyline import CurvePath
    from scene.joints.surface_joints import Contact

MAX_COORDINATES = 6


class Joint:
    """A parametric joint G(q).

    transform: 4 x 4 SymPy matrix that maps child to parent coordinates, a rigid motion for every q; coordinates:
    one symbol or up to six. Other symbols must be scene parameters, or coordinates that several joints share
    (``scene.coordinate``). limits: (low, high) or one pair a coordinate, in
    the coordinate's unit; damping, stiffness, rest, armature, friction: a number, or one a coordinate (N m s/rad,
    N m/rad, rad, kg m^2, N m for an angle); friction is dry, of at most that force. ``a @ b`` is the joint with
    transform G_a G_b. Errors: ModelError, at the latest when the scene is compiled, naming the body.
    """

    program: JointProgram
    coordinates: tuple[Coordinate, ...]
    coupling: Coupling | None = None
    drive: tuple[Scalar, ...] | None = None  # the coordinates over graph inputs ("parameter", name)
    contact: Contact | None = None  # of a joint of two surfaces: what rolling constraints need to know
    charts: tuple[Joint, ...] = ()  # of a joint that ``joints.charts`` made
    path: CurvePath | None = None  # of a joint along a curve: its wire, to be drawn
    patch: PatchShape | None = None  # of a joint on a patch of control points, to be drawn

    def __init__(self, transform: Any, coordinates: Any = (), **settings: Any) -> None:
        import sympy as sp

        from recursive_dyn.graph.symbolic import from_sympy

        if not isinstance(transform, sp.MatrixBase):
            transform = np.asarray(transform, dtype=object)
            if any(isinstance(entry, str) for entry in transform.flat):  # SymPy would execute text
                raise ModelError("a joint's transform is made of SymPy expressions and numbers, not of text")
        matrix = sp.Matrix(transform)
        if matrix.shape != (4, 4):
            raise ModelError(
                f"a joint's transform is a 4 x 4 matrix, this one is {matrix.shape[0]} x {matrix.shape[1]}"
            )
        symbols = (coordinates,) if isinstance(coordinates, (sp.Symbol, str)) else tuple(coordinates)
        for symbol in symbols:
            if not isinstance(symbol, sp.Symbol):
                raise ModelError(f"a joint's coordinate is a SymPy symbol, not {symbol!r}; make one with sympy.Symbol")
        graph = Graph()
        reader = SymbolReader(graph, symbols)
        label = f"joint of ({', '.join(map(str, symbols))})"
        entries = [from_sympy(e, reader, label) for e in matrix]
        program = core.build(graph, [(Flat(len(symbols)), array(entries).reshape(4, 4))])
        self._setup(program, [str(s) for s in symbols], settings)

    @classmethod
    def from_program(cls, program: JointProgram, names: Sequence[str], settings: dict[str, Any]) -> Joint:
        """A joint from graph expressions; ``names`` one a velocity coordinate."""
        joint = cls.__new__(cls)
        joint._setup(program, names, settings)
        return joint

    def _setup(self, program: JointProgram, names: Sequence[str], settings: dict[str, Any]) -> None:
        if len(names) > MAX_COORDINATES:
            raise ModelError(
                f"a joint has at most {MAX_COORDINATES} coordinates, this one has {len(names)} ({', '.join(names)})"
            )
        if len(set(names)) != len(names):
            raise ModelError(f"a joint names each coordinate once, this one has ({', '.join(names)})")
        self.program = program
        self.coordinates = coordinates_of(names, settings)
        _refuse_springs_on_manifolds(program, self.coordinates)

    def __matmul__(self, other: Joint) -> Joint:
        if not isinstance(other, Joint):
            return NotImplemented
        if any(joint.coupling or joint.drive for joint in (self, other)):
            raise ModelError(
                "a joint that follows or is driven by another coordinate cannot be composed; attach it to a body of its"
                " own"
            )
        if self.charts or other.charts:
            from scene.joints.charts import charts  # it is made of joints

            return charts(*(a @ b for a in self.charts or (self,) for b in other.charts or (other,)))
        taken: list[str] = []
        coordinates = []
        for c in (*self.coordinates, *other.coordinates):
            name, i = c.name, 2
            while name in taken:
                name, i = f"{c.name}_{i}", i + 1
            taken.append(name)
            coordinates.append(replace(c, name=name))
        joint = Joint.from_program(core.compose(self.program, other.program), taken, {})
        joint.coordinates = tuple(coordinates)
        return joint

    def adjusted(self, **settings: Any) -> Joint:
        """This joint with other limits, damping, stiffness, rest, armature or friction; what is not given stays."""
        self._refuse_charts("limits, damping, stiffness, rest, armature and friction")
        names = [c.name for c in self.coordinates]
        kept = {key: [getattr(c, key) for c in self.coordinates] for key in _DEFAULTS} if names else {}
        joint = Joint.from_program(self.program, names, {**kept, **settings})
        joint.coupling, joint.drive, joint.contact = self.coupling, self.drive, self.contact
        joint.path, joint.patch = self.path, self.patch
        if joint.drive:
            _refuse_settings_of_driven(joint.coordinates)
        return joint

    def follow(self, leader: str, multiplier: float = 1.0, offset: float = 0.0) -> Joint:
        """This one-coordinate joint driven by the coordinate of the body ``leader``: q = multiplier q_l + offset."""
        self._refuse_charts("a coordinate to follow")
        if len(self.coordinates) != 1:
            raise ModelError(
                f"only a joint of one coordinate can follow '{leader}', this one has {len(self.coordinates)}"
            )
        numbers = as_floats([multiplier, offset])
        if numbers.shape != (2,) or not np.isfinite(numbers).all() or multiplier == 0.0:
            raise ModelError(
                f"a joint that follows '{leader}' needs a finite multiplier other than 0 and a finite offset, both"
                " numbers; scene parameters go into driven(...)"
            )
        joint = Joint.from_program(self.program, [self.coordinates[0].name], {})
        joint.coordinates = self.coordinates
        joint.coupling = Coupling(leader, float(multiplier), float(offset))
        return joint

    def driven(self, *expressions: Any) -> Joint:
        """This joint with each coordinate a function of others, q_i = q_i(q): a cam, a gear, a loop in closed form.

        expressions: SymPy, one a coordinate, over symbols of ``scene.coordinate``, ``body.q`` of bodies attached
        before, and scene parameters. Damping, springs, limits, rotors and friction belong to those coordinates; where
        an open curve or patch ends, it then goes straight on.
        """
        from recursive_dyn.graph.symbolic import from_sympy

        self._refuse_charts("expressions that drive it")
        names = [c.name for c in self.coordinates]
        if len(expressions) == 1 and isinstance(expressions[0], (tuple, list)):  # body.q is a tuple
            expressions = tuple(expressions[0])
        if len(expressions) != len(names):
            raise ModelError(
                f"a driven joint needs one expression for each of its coordinates ({', '.join(names)}), not"
                f" {len(expressions)}"
            )
        if any(not f.space.flat for f in self.program.factors):
            raise ModelError("a ball or free joint has no coordinates that can be driven; use joints.euler or a Joint")
        ends = (self.path.domain,) if self.path else self.patch.domain if self.patch else ()
        own = [replace(c, limits=_UNLIMITED) if c.limits in ends else c for c in self.coordinates]  # nobody asked
        _refuse_settings_of_driven(own)
        graph = Graph()
        reader = SymbolReader(graph, ())
        what = f"driven joint of ({', '.join(names)})"
        joint = Joint.from_program(self.program, names, {})
        joint.drive = tuple(from_sympy(e, reader, what) for e in expressions)
        return joint

    def _refuse_charts(self, what: str) -> None:
        if self.charts:
            raise ModelError(f"a joint of several charts takes no {what}: they have no meaning in all of them")


def _refuse_settings_of_driven(coordinates: Sequence[Coordinate]) -> None:
    for c in coordinates:
        if c.damping or c.stiffness or c.armature or c.friction or np.isfinite(c.limits).any():
            raise ModelError(
                f"coordinate '{c.name}' is driven by others: give limits, damping, stiffness, armature and friction to"
                " those"
            )


class SymbolReader:
    """Maps SymPy symbols to graph inputs: a joint's own coordinates by position, every other symbol as a parameter."""

    def __init__(self, graph: Graph, coordinates: Sequence[Any]) -> None:
        self.graph = graph
        self.place = {s: i for i, s in enumerate(coordinates)}
        if len(self.place) != len(coordinates):
            raise ModelError(f"a joint names each coordinate once, this one has {tuple(map(str, coordinates))}")

    def __call__(self, symbol: Any) -> Any:
        if symbol in self.place:
            return self.graph.input(("q", self.place[symbol]))
        return self.graph.input(("parameter", symbol.name))


_UNLIMITED = (-np.inf, np.inf)
_DEFAULTS = {"limits": None, "damping": 0.0, "stiffness": 0.0, "rest": 0.0, "armature": 0.0, "friction": 0.0}


def coordinates_of(names: Sequence[str], settings: dict[str, Any]) -> tuple[Coordinate, ...]:
    """Coordinates of these names with the settings a joint takes; ModelError names the one that is wrong."""
    unknown = sorted(settings.keys() - _DEFAULTS.keys())
    if unknown:
        raise ModelError(f"a joint takes limits, damping, stiffness, rest, armature and friction, not '{unknown[0]}'")
    chosen = {**_DEFAULTS, **settings}
    limits = _limits(names, chosen.pop("limits"))
    columns = {key: _per_coordinate(names, key, value) for key, value in chosen.items()}
    return tuple(
        Coordinate(name, limits[i], **{key: column[i] for key, column in columns.items()})
        for i, name in enumerate(names)
    )


def as_floats(value: Any) -> np.ndarray:
    """``value`` as a float array; what holds no numbers becomes an array of no size, whose shape fits nothing."""
    try:
        return np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        return np.zeros((0, 0))


def _per_coordinate(names: Sequence[str], key: str, value: Any) -> list[float]:
    values = as_floats(value)
    if values.ndim == 0:
        values = np.broadcast_to(values, (len(names),))
    if values.shape != (len(names),):
        raise ModelError(f"{key} needs a number or one for each of the coordinates ({', '.join(names)})")
    for name, x in zip(names, values, strict=True):
        if not np.isfinite(x) or (key != "rest" and x < 0.0):
            raise ModelError(
                f"{key} of coordinate '{name}' is {x}; it must be finite"
                + (" and not negative" if key != "rest" else "")
            )
    return [float(x) for x in values]


def _limits(names: Sequence[str], limits: Any) -> list[tuple[float, float]]:
    if limits is None:
        return [_UNLIMITED] * len(names)
    table = as_floats(limits)
    if table.shape == (2,):
        table = np.tile(table, (len(names), 1))
    if table.shape != (len(names), 2):
        raise ModelError(f"limits need a pair (low, high), or one for each of the coordinates ({', '.join(names)})")
    for name, (low, high) in zip(names, table, strict=True):
        if not low < high:
            raise ModelError(f"limits of coordinate '{name}' are ({low}, {high}); low must be less than high")
    return [(float(low), float(high)) for low, high in table]


def _refuse_springs_on_manifolds(program: JointProgram, coordinates: Sequence[Coordinate]) -> None:
    for f in program.factors:
        if not f.space.flat:
            for c in coordinates[f.first_v : f.first_v + f.nv]:
                if c.stiffness or np.isfinite(c.limits).any():
                    raise ModelError(
                        f"coordinate '{c.name}' is a velocity on the space '{f.space.name}', whose points are"
                        f" {f.space.written}: stiffness and limits have no meaning there; use joints.euler or"
                        " joints.universal"
                    )
