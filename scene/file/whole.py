"""Scene files: readable, versioned JSON that holds all a scene does, and of which nothing is ever executed.

format, version: what the file is; gravity: three numbers, m/s^2, or formulas of parameters; parameters: values by name;
coordinates: those that joints share; scenery: the world's shapes; joint_names: in a robot's scene, the bodies that its
joints move; bodies: in order of attachment, each with name, parent, placement, mass, center_of_mass, inertia, shapes,
joint, and breaks_at, the force and torque at which that breaks; constraints: name and rows; forces: see
element_fields.py; passing: names of bodies of which no two collide; pairs: bodies of which it is said whether they
collide or that their contact is of a material of its own.

Numbers keep every bit. A number of a placement or of mass properties may be a text instead, a formula of parameters;
drives, constraints, curves, surfaces and transforms are formulas too (formula_reader.py). A joint is the constructor
that made it (constructors.py), or else the factors of its transform (joint_fields.py). A scene read back compiles to
the same model; what no field can hold is refused.
"""

from __future__ import annotations

import keyword
import os
from pathlib import Path
from typing import Any

import numpy as np

from recursive_dyn.codegen.making import whole_file
from recursive_dyn.errors import ModelError, SceneFileError
from recursive_dyn.joint.coordinate import CLOCK
from scene.body import Body, Node
from scene.constraint_group import DROP, REFUSE, ConstraintGroup, strength_of
from scene.content import SceneContent
from scene.file import body_fields, document, element_fields, formula_reader, formula_writer, joint_fields
from scene.file.body_fields import BodyReader
from scene.file.document import as_given, brief, fields, flag, items, mapping, number, table, text
from scene.file.names import Names
from scene.joints.coordinate_settings import coordinates_of
from scene.pairs import Pair
from scene.urdf.xml_text import blame

FORMAT, VERSION = "recursive-dyn scene", 2
_OF_BODIES = ("placement", "shapes", "breaks_at")
_REQUIRED = ("format", "version", "gravity", "bodies")
_OPTIONAL = ("parameters", "coordinates", "scenery", "joint_names", "constraints", "forces", "passing", "pairs")


def save(scene: SceneContent, path: str | os.PathLike[str]) -> None:
    """Write a scene.

    What is to be written is read first, and only then takes the old file's place. SceneFileError, naming the body, when
    the scene holds something that a file cannot, or the file cannot be written.
    """
    place = Path(path)
    with blame(path, "the scene"):
        data = document.encode(_fields_of(scene, place))
        copy = SceneContent()
        _fill(copy, document.decode(data), place)
        again = document.encode(_fields_of(copy, place))
    if again != data:
        lines = zip(data.decode().splitlines(), again.decode().splitlines(), strict=False)
        old, new = next(((a.strip(), b.strip()) for a, b in lines if a != b), ("its end", "another"))
        raise SceneFileError(
            f"{path}: nothing was written: {brief(old)} would be read back as {brief(new)}; write that part of the"
            " scene in another way"
        )
    for was, now in zip(scene.bodies, copy.bodies, strict=True):
        assert was.joint is not None and now.joint is not None
        if was.joint.program.key != now.joint.program.key:
            raise SceneFileError(
                f"{path}: nothing was written: joint of '{was.name}': its transform is not what joints."
                f"{was.joint.origin and was.joint.origin.constructor} makes; set joint.origin = None, which writes it"
                " as it is"
            )
    whole_file.replace(place, data)


def fill(scene: SceneContent, path: str | os.PathLike[str]) -> None:
    """Give an empty scene what a file holds.

    SceneFileError names the file, the body, joint or line, and what to do.
    """
    place = Path(path)
    _fill(scene, document.read(place), place)


def _fields_of(scene: SceneContent, path: Path) -> dict[str, Any]:
    folder = path.absolute().parent
    result: dict[str, Any] = {"format": FORMAT, "version": VERSION}
    with blame(path, "the world"):
        down = scene.gravity_scalars()
        numeric = down.dtype == float
        result["gravity"] = (
            [number("gravity", x) for x in down.tolist()] if numeric else formula_writer.write("gravity", down)
        )
        result["parameters"] = {name: number(f"parameter '{name}'", x) for name, x in scene.parameters.items()}
        if scene.coordinates:
            result["coordinates"] = [joint_fields.write_coordinate(c) for c in scene.coordinates.values()]
        result["scenery"] = [body_fields.write_shape(shape, folder) for shape in scene.world.shapes]
        result["joint_names"] = dict(scene.joint_names)
    result["bodies"] = [_body_fields(body, path, folder) for body in scene.bodies]
    if scene.constraints:
        result["constraints"] = []
    for constraint in scene.constraints:
        with blame(path, f"constraint '{constraint.name}'"):
            result["constraints"].append(_constraint_fields(constraint))
    if scene.forces:
        result["forces"] = []
    for element in scene.forces:
        with blame(path, f"force element '{element.name}'"):
            result["forces"].append(element_fields.write(element))
    if scene.passing:
        result["passing"] = [[name for name in names if name in scene] for names in scene.passing]
    if scene.pairs:
        result["pairs"] = []
    for names, pair in scene.pairs.items():
        with blame(path, f"pair of {', '.join(sorted(names))}"):
            result["pairs"].append(_pair_fields(names, pair))
    return result


def _body_fields(body: Body, path: Path, folder: Path) -> dict[str, Any]:
    with blame(path, f"body '{body.name}'"):
        result = body_fields.write(body, folder)
    with blame(path, f"joint of '{body.name}'"):
        return result | {"joint": joint_fields.write(body.joint)}


def _fill(scene: SceneContent, content: Any, path: Path) -> None:
    folder = path.absolute().parent
    with blame(path, "the file"):
        content = _checked(content)
    with blame(path, "the world"):
        _fill_world(scene, content, folder)
    names = Names(scene.parameters, scene.coordinates)
    reader = BodyReader(folder, names)
    nodes: dict[str, Node] = {scene.world.name: scene.world}
    for i, value in enumerate(content["bodies"]):
        with blame(path, f"body {i + 1}"):
            name = text("name", mapping("it", value).get("name"))
        names.add(_attached(path, name, value, nodes, reader))
    constrained: set[str] = set()
    for i, value in enumerate(content.get("constraints", [])):
        with blame(path, f"constraint {i + 1}"):
            name = text("name", mapping("it", value).get("name"))
        with blame(path, f"constraint '{name}'"):
            if name in constrained:
                raise ModelError("two constraints have this name; give each its own")
            constrained.add(name)
            scene.constraints.append(_constraint(name, value, names))
    for i, value in enumerate(content.get("forces", [])):
        with blame(path, f"force element {i + 1}"):
            element = element_fields.read(value, names)
            if any(known.name == element.name for known in scene.forces):
                raise ModelError(f"two force elements are named '{element.name}'; give each its own name")
            scene.forces.append(element)
    for i, value in enumerate(content.get("passing", [])):
        with blame(path, f"passing {i + 1}"):
            scene.let_pass(text("each of its bodies", name) for name in items("it", value))
    for i, value in enumerate(content.get("pairs", [])):
        with blame(path, f"pair {i + 1}"):
            _read_pair(value, scene)


def _fill_world(scene: SceneContent, content: dict[str, Any], folder: Path) -> None:
    """All that is no body, no constraint, and says nothing of several bodies."""
    for name, value in mapping("parameters", content.get("parameters", {})).items():
        _check_identifier("parameter", name)
        scene.parameters[name] = number(f"parameter '{name}'", value)
    names = Names(scene.parameters, scene.coordinates)
    given = content["gravity"]
    plain = isinstance(given, list) and not any(isinstance(x, str) for x in given)
    read = (
        formula_reader.read("gravity", given, (3,), names.check_in_body) if not plain else table("gravity", given, (3,))
    )
    scene.gravity = read
    for value in items("coordinates", content.get("coordinates", [])):
        given = joint_fields.read_coordinate(value)
        _check_identifier("coordinate", given.name)
        if given.name in scene.parameters or given.name in scene.coordinates:
            raise ModelError(f"coordinate '{given.name}' is declared already; use another name")
        (coordinate,) = coordinates_of([given.name], joint_fields.as_settings([given]))
        scene.coordinates[given.name] = coordinate
    for name, value in mapping("joint_names", content.get("joint_names", {})).items():
        scene.joint_names[name] = text(f"joint_names '{name}'", value)
    scene.world.shapes += [body_fields.read_shape(s, folder) for s in items("scenery", content.get("scenery", []))]


def _check_identifier(what: str, name: str) -> None:
    if not name.isidentifier() or keyword.iskeyword(name):
        raise ModelError(f"{what} name '{name}' is not an identifier; rename it")
    if name == CLOCK:
        raise ModelError(f"{what} '{CLOCK}': that is scene.time, which every scene has; rename it")


def _checked(content: Any) -> dict[str, Any]:
    """The document, whose format, version and fields are those of this program."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ModelError(f'it is no scene file, in which "format" is "{FORMAT}"; write one with scene.save')
    version = content.get("version")
    if type(version) is not int or version != VERSION:
        raise ModelError(
            f"its version is {brief(version)} and this program reads {VERSION}; use the program that wrote it"
        )
    fields("it", content, _REQUIRED, _OPTIONAL)
    items("bodies", content["bodies"])
    items("constraints", content.get("constraints", []))
    items("forces", content.get("forces", []))
    items("passing", content.get("passing", []))
    items("pairs", content.get("pairs", []))
    return content


def _attached(
    path: Path, name: str, value: dict[str, Any], nodes: dict[str, Node], reader: body_fields.BodyReader
) -> Body:
    """One more body, hung on the nodes so far."""
    with blame(path, f"body '{name}'"):
        given = fields("it", value, ("name", "parent", *body_fields.MASS, "joint"), _OF_BODIES)
        parent = nodes.get(text("parent", given["parent"]))
        if parent is None:
            raise ModelError(f"unknown parent '{given['parent']}'; list a body after its parent, the first on 'world'")
        body, placement, strength = reader.body(name, given), reader.placement(given), reader.strength(given)
    with blame(path, f"joint of '{name}'"):
        joint = joint_fields.read(given["joint"], reader.names)
    with blame(path, f"body '{name}'"):
        nodes[name] = parent.attach(body, joint, at=placement)
        body.place = as_given(body.place, placement)
        body.breaks_at(**strength)
    return body


def _constraint_fields(constraint: ConstraintGroup) -> dict[str, Any]:
    """The fields of a constraint. ModelError for what no field can hold."""
    result: dict[str, Any] = {"name": constraint.name}
    if constraint.redundant != REFUSE:
        result["redundant"] = constraint.redundant
    if constraint.strength < np.inf:
        result["breaks_at"] = constraint.strength
    return result | formula_writer.beside("rows", "a row", constraint.rows)


def _constraint(name: str, value: dict[str, Any], names: Names) -> ConstraintGroup:
    """The constraint of such fields. ModelError names the line or row."""
    given = fields("it", value, ("name", "rows"), ("redundant", "breaks_at", *formula_reader.FIELDS))
    redundant = text("redundant", given.get("redundant", REFUSE))
    if redundant not in (REFUSE, DROP):
        raise ModelError(f"redundant is '{REFUSE}' or '{DROP}', not {brief(redundant)}")
    reader = formula_reader.beside(given, names.check_in_constraint, coordinates=0)
    rows = [reader.entry(f"rows {i + 1}", row) for i, row in enumerate(items("rows", given["rows"]))]
    if not rows:
        raise ModelError("it has no rows; write one at least, or leave the constraint out")
    bears = strength_of(name, number("breaks_at", given["breaks_at"])) if "breaks_at" in given else np.inf
    return ConstraintGroup(name, tuple(rows), redundant, bears)


def _pair_fields(names: frozenset[str], pair: Pair) -> dict[str, Any]:
    """The fields of a pair of bodies. ModelError for what no field can hold."""
    result: dict[str, Any] = {"bodies": sorted(names)}
    if pair.collide is not None:
        result["collide"] = pair.collide
    if pair.material is not None:
        result["material"] = body_fields.write_material(pair.material)
    return result


def _read_pair(value: Any, scene: SceneContent) -> None:
    """Say of two bodies of the scene what such fields do. Raises ModelError."""
    given = fields("it", value, ("bodies",), ("collide", "material"))
    names = [text("each of its bodies", name) for name in items("bodies", given["bodies"])]
    if len(names) != 2:
        raise ModelError(f"bodies must be two names, not {brief(names)}")
    if frozenset(names) in scene.pairs:
        raise ModelError(f"'{names[0]}' and '{names[1]}' are a pair already; keep one")
    material = body_fields.read_material("its material", given["material"]) if "material" in given else None
    scene.pair(names[0], names[1], flag("collide", given["collide"]) if "collide" in given else None, material)
