"""Joints as fields of a scene file and back: how they were made, or lines and factors of their transform.

A joint of a constructor is {"revolute": {"axis": "x"}}, its coordinates beside it where something was said of them;
"compose", "charts", "follow" and "drive" are of other joints. Any other is {"factors": [...]}. A joint read back is the
same program down to its content hash. A coordinate is its name, limits, springs, damping, rotor, friction.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import array
from recursive_dyn.graph.traversal import evaluate, reachable
from recursive_dyn.joint.coordinate import Coordinate
from recursive_dyn.joint.joint_program import Factor, JointProgram, build
from recursive_dyn.spatial.spaces import Flat, RigidMotion, Rotation, Space
from scene.file import constructors, formula_reader, formula_writer
from scene.file.document import brief, fields, items, number, table, text, unusual
from scene.file.formula_reader import FormulaReader
from scene.file.names import Names
from scene.file.turn_fields import read_turn, write_turn
from scene.joints.charts import charts
from scene.joints.coordinate_settings import DEFAULTS, MAX_COORDINATES
from scene.joints.parametric_joint import Joint, Origin, composed

_ATTRIBUTES = ("program", "coordinates", "origin")
_MANY = {"compose": "parts", "charts": "charts"}  # constructor of joints: its argument
_MAX_DEPTH = 20  # of joints made of joints


def write(joint: Joint | None) -> dict[str, Any]:
    """The fields of a joint. ModelError for what no field can hold."""
    if type(joint) is not Joint:
        raise ModelError(f"a {type(joint).__name__} cannot be saved; use scene.joints.Joint")
    for name in vars(joint):  # nothing is left out without a word
        if name not in _ATTRIBUTES:
            raise ModelError(
                f"its attribute '{name}' has no field in a file, which holds {', '.join(_ATTRIBUTES)}; remove it"
            )
    origin = joint.origin
    if origin is None:
        result = write_factors(joint.program)
        usual = "none" if joint.coordinates else ""
    else:
        result = _write_origin(origin)
        usual = repr(origin.coordinates([c.name for c in joint.coordinates]))  # of which -0.0 and 0.0 are two
    if joint.coordinates and repr(joint.coordinates) != usual:
        result["coordinates"] = [write_coordinate(c) for c in joint.coordinates]
    return result


def _write_origin(origin: Origin) -> dict[str, Any]:
    name, arguments = origin.constructor, origin.arguments
    if name in _MANY:
        return {name: [write(joint) for joint in arguments[_MANY[name]]]}
    if name == "follow":
        return {name: {**arguments, "joint": write(arguments["joint"])}}
    if name == "drive":
        return {name: {"joint": write(arguments["joint"]), "by": formula_writer.write("drive", arguments["by"])}}
    return constructors.write(origin)


def read(value: Any, names: Names, depth: int = 0) -> Joint:
    """The joint of such fields, after bodies of these names. ModelError names the line, factor or argument."""
    if depth > _MAX_DEPTH:
        raise ModelError(f"it is made of joints more than {_MAX_DEPTH} deep; compose them in one list")
    if isinstance(value, dict) and "factors" in value:
        return _of_factors(value, names)
    made_by = [*constructors.ARGUMENTS, *_MANY, "follow", "drive"]
    found = [name for name in value if name in made_by] if isinstance(value, dict) else []
    if len(found) != 1:
        raise ModelError(f"it must have one field of {', '.join(made_by)} or factors, such as {{'ball': {{}}}}")
    (name,) = found
    given = fields("it", value, (name,), ("coordinates",))
    joint = _read_made(name, given[name], names, depth + 1)
    if "coordinates" not in given:
        return joint
    listed = [read_coordinate(c) for c in items("coordinates", given["coordinates"])]
    if [c.name for c in listed] != [c.name for c in joint.coordinates]:
        own = ", ".join(c.name for c in joint.coordinates)
        raise ModelError(f"its coordinates are {own or 'none'}; describe those, or leave 'coordinates' out")
    return joint.adjusted(**as_settings(listed))


def _read_made(name: str, value: Any, names: Names, depth: int) -> Joint:
    if name in constructors.ARGUMENTS:
        return constructors.read(name, value, names)
    if name == "follow":
        return _following(fields(name, value, ("joint", "leader", "multiplier", "offset")), names, depth)
    if name == "drive":
        given = fields(name, value, ("joint", "by"))
        joint = read(given["joint"], names, depth)
        by = formula_reader.read("drive", given["by"], (len(joint.coordinates),), names.check_in_joint)
        return joint.driven(*by)
    parts = []
    for i, part in enumerate(items(name, value)):
        try:
            parts.append(read(part, names, depth))
        except ModelError as error:
            raise ModelError(f"part {i + 1} of {name}: {error}") from None
    if name == "charts":
        return charts(*parts)
    parts = [part.of_one_chart for part in parts]
    if any(part.coupling or part.drive or part.charts for part in parts) or not parts:
        raise ModelError("compose is of joints with one chart each that neither follow nor are driven; correct it")
    return composed(*parts)


def _following(given: dict[str, Any], names: Names, depth: int) -> Joint:
    leader = text("leader", given["leader"])
    if leader not in names.bodies:
        raise ModelError(f"it follows '{leader}', which is no body before it; correct 'leader' or the order of bodies")
    numbers = [number(name, given[name]) for name in ("multiplier", "offset")]
    return read(given["joint"], names, depth).follow(leader, *numbers)


def _of_factors(value: dict[str, Any], names: Names) -> Joint:
    given = fields("it", value, ("factors",), (*formula_reader.FIELDS, "coordinates"))
    program = read_factors(given, names.check_in_joint)
    listed = [read_coordinate(c) for c in items("coordinates", given.get("coordinates", []))]
    if len(listed) != program.nv:
        raise ModelError(f"its factors move in {program.nv} coordinates, and {len(listed)} are described; add all")
    return Joint.made(None, program, [c.name for c in listed], as_settings(listed))


CONSTANT, PLAIN = "constant", "plain"
_POSES: dict[str, Rotation | RigidMotion] = {"ball": Rotation(), "free": RigidMotion()}
_MOST_NUMBERS = 7 * MAX_COORDINATES  # of positions: more than any joint has
KINDS = (CONSTANT, PLAIN, *_POSES)


def kind_of(space: Space) -> str:
    """What a factor on a space is called in a file. ModelError for a space that has no name there."""
    if space.flat:
        return PLAIN if space.size else CONSTANT
    for kind, known in _POSES.items():
        if space == known:
            return kind
    raise ModelError(f"a joint on the space '{space.name}' has no name in a file, which knows {', '.join(KINDS)}")


def space_of(kind: str, count: int) -> Space:
    """The space of a factor of this kind, of ``count`` plain coordinates."""
    return _POSES.get(kind) or Flat(count)


def write_factors(program: JointProgram) -> dict[str, Any]:
    """The lines, tables and factors of a joint. ModelError for a number that is not finite."""
    what = "the transform"
    written = formula_writer.beside("factors", what, [x for f in program.factors for x in f.transform.flat])
    transforms = np.array(written["factors"], dtype=object).reshape(-1, 4, 4)
    written["factors"] = [
        {"kind": kind_of(f.space), **({"coordinates": f.nv} if f.space.flat and f.nv else {}), "transform": G.tolist()}
        for f, G in zip(program.factors, transforms, strict=True)
    ]
    return written


def read_factors(given: dict[str, Any], check: Callable[[str], None]) -> JointProgram:
    """The program of such fields; ``check`` raises for an unknown name in quotes.

    ModelError names the factor: an unknown name, a coordinate of another factor, a ball or free factor whose transform
    is another.
    """
    reader = formula_reader.beside(given, check, _MOST_NUMBERS)
    factors = [_factor(f"factor {i + 1}", x, reader) for i, x in enumerate(items("factors", given["factors"]))]
    program = build(reader.graph, factors)
    for i, factor in enumerate(program.factors):
        _check_inputs(i + 1, factor)
        _check_manifold(i + 1, factor, program.parameters)
    return program


def _factor(what: str, value: Any, reader: FormulaReader) -> tuple[Space, np.ndarray]:
    given = fields(what, value, ("kind", "transform"), ("coordinates",))
    kind, count = given["kind"], given.get("coordinates", 0)
    if kind not in KINDS:
        raise ModelError(f"{what} has the unknown kind {brief(kind)}; use {', '.join(KINDS)}")
    if type(count) is not int or not (1 <= count <= MAX_COORDINATES if kind == PLAIN else count == 0):
        wanted = f"from 1 to {MAX_COORDINATES}" if kind == PLAIN else "left out"
        raise ModelError(f"{what} is {kind}, so that its number of coordinates is {wanted}, not {brief(count)}")
    return space_of(kind, count), array(table(f"{what}: transform", given["transform"], (4, 4), reader.entry))


def _check_inputs(number: int, factor: Factor) -> None:
    own = range(factor.first_q, factor.first_q + factor.nq)
    for node in reachable(factor.transform.flat):
        segment, name = node.args[0] if node.op == "input" else ("", 0)
        if segment == "q" and name not in own:
            has = f"q{own[0]} ... q{own[-1]}" if own else "none"
            raise ModelError(f"factor {number}: it uses q{name}, and its own coordinates are {has}; correct it")


def _check_manifold(number: int, factor: Factor, parameters: frozenset[str]) -> None:
    """A ball's or free body's velocity is defined by its transform being the standard one."""
    space = factor.space
    if not isinstance(space, Rotation | RigidMotion):
        return
    rng = np.random.default_rng(4)
    for _ in range(3):
        q = rng.uniform(-1.0, 1.0, factor.nq)
        inputs = {("q", factor.first_q + i): x for i, x in enumerate(q)} | {("parameter", p): 1.0 for p in parameters}
        expected = space.pose(q).astype(float)
        actual = np.array(evaluate(list(factor.transform.flat), inputs), dtype=float).reshape(4, 4)
        if not np.abs(actual - expected).max() < 1e-9:
            raise ModelError(
                f"factor {number}: its transform is not that of a {kind_of(space)} joint; copy it from a saved scene,"
                " or make the factor plain"
            )


SETTINGS = {name: value for name, value in DEFAULTS.items() if name != "limits"}


def write_coordinate(c: Coordinate) -> dict[str, Any]:
    """The fields of a coordinate; what is as a coordinate has it anyway is left out."""
    result: dict[str, Any] = {"name": c.name}
    if c.turn is not None:
        result["limits"] = write_turn(c.turn)
    elif any(map(math.isfinite, c.limits)):
        result["limits"] = [x if math.isfinite(x) else None for x in c.limits]
    given = unusual({name: getattr(c, name) for name in SETTINGS}, SETTINGS)
    return result | {name: number(f"{name} of coordinate '{c.name}'", x) for name, x in given.items()}


def read_coordinate(value: Any) -> Coordinate:
    """The coordinate of such fields; whether its numbers make sense is for coordinates_of to say."""
    given = fields("a coordinate", value, ("name",), ("limits", *SETTINGS))
    name = text("name of a coordinate", given["name"])
    what = f"limits of coordinate '{name}'"
    own, turn = given.get("limits", [None, None]), None
    if isinstance(own, dict):
        turn, own = read_turn(what, own), [None, None]
    low, high = table(what, own, (2,), _limit)
    settings = {s: number(f"{s} of coordinate '{name}'", given[s]) for s in SETTINGS if s in given}
    limits = (-math.inf if low is None else low, math.inf if high is None else high)
    return Coordinate(name, limits, turn=turn, **settings)


def as_settings(coordinates: list[Coordinate]) -> dict[str, Any]:
    """What a joint takes to give its coordinates these properties."""
    settings: dict[str, Any] = {name: [getattr(c, name) for c in coordinates] for name in SETTINGS}
    settings["limits"] = [c.turn or c.limits for c in coordinates] or None
    return settings


def _limit(what: str, value: Any) -> float | None:
    return None if value is None else number(what, value)
