"""Reading a URDF file: text to XML without entities, checked element by element.

Every SceneFileError names the file, the element and what to do; what a file says is data and never runs.
"""

from __future__ import annotations

import math
import os
import re
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from recursive_dyn.contact.material import Material
from recursive_dyn.errors import ModelError, SceneFileError
from scene.urdf import surface_materials as contact
from scene.urdf.elements import SIZES, UrdfRobot, robot_of

JOINT_TYPES = ("fixed", "revolute", "continuous", "prismatic", "floating", "planar", "spherical")

_NUMBERS: dict[str, dict[str, tuple[int, ...]]] = {  # element: attribute: how many numbers it may hold
    "origin": {"xyz": (3,), "rpy": (3,)},
    "mass": {"value": (1,)},
    "inertia": dict.fromkeys(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), (1,)),
    "box": {"size": (3,)},
    "sphere": {"radius": (1,)},
    "cylinder": {"radius": (1,), "length": (1,)},
    "capsule": {"radius": (1,), "length": (1,)},
    "plane": {"normal": (3,)},
    "mesh": {"scale": (1, 3)},
    "color": {"rgba": (4,)},
    "axis": {"xyz": (3,)},
    "limit": dict.fromkeys(("lower", "upper", "effort", "velocity"), (1,)),
    "dynamics": {"damping": (1,), "friction": (1,)},
    "mimic": {"multiplier": (1,), "offset": (1,)},
    **{tag: {"value": (1,)} for tag in contact.FIELDS},
}
_REQUIRED = {
    "mass": ("value",),
    "inertia": ("ixx", "iyy", "izz"),
    "box": ("size",),
    "sphere": ("radius",),
    "cylinder": ("radius", "length"),
    "capsule": ("radius", "length"),
    "mesh": ("filename",),
    "color": ("rgba",),
    "parent": ("link",),
    "child": ("link",),
    "mimic": ("joint",),
    **dict.fromkeys(contact.FIELDS, ("value",)),
}
_READ = {  # what is passed on of each element; the rest (sensors, transmissions) is not modelled
    "link": ("inertial", "visual", "collision", "contact"),
    "joint": ("parent", "child", "origin", "axis", "limit", "dynamics", "mimic"),
    "material": ("color",),
}

_ONCE = {  # what an element may hold once only; of two nobody could tell which one is meant
    "link": ("inertial",),
    "inertial": ("origin", "mass", "inertia"),
    "visual": ("origin", "geometry", "material"),
    "collision": ("origin", "geometry"),
    "joint": ("parent", "child", "origin", "axis", "limit", "dynamics", "mimic"),
    "material": ("color",),
}
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?(inf|infinity|nan)", re.IGNORECASE)

_TWICE = re.compile(r"([+-]?[0-9]*\.[0-9]+)\.")  # a slip of the keyboard in files in use, which other readers pass over
_ENVIRONMENT = re.compile(r"\$\(optenv\s+(\w+)\s*([^)]*)\)")

_EXPAND = "expand them first: xacro FILE > robot.urdf"


@contextmanager
def blame(path: object, element: str) -> Iterator[None]:
    """Turn a ModelError raised within into a SceneFileError that names the file and the element."""
    try:
        yield
    except ModelError as error:
        raise SceneFileError(f"{path}: {element}: {error}") from error


def read(path: str | os.PathLike[str]) -> tuple[UrdfRobot, dict[str, Material]]:
    """What the file holds, with every number present and finite, and its links' surfaces. Raises SceneFileError."""
    robot = _parse(path)
    robot[:] = [element for element in robot if element.tag in _READ]
    for element in robot:
        _check(path, robot, element)
    _check_names(path, robot)
    surfaces: dict[str, Material] = {}
    for element in robot.findall("link"):
        with blame(path, f"link '{element.get('name')}'"):
            surfaces |= contact.taken(element)
    return robot_of(robot), surfaces


def _parse(path: str | os.PathLike[str]) -> ET.Element:
    """The <robot> element. Files in use have blank lines before the declaration and a zero byte at the end."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise SceneFileError(f"{path}: cannot be read ({error.strerror}); check the path") from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise SceneFileError(f"{path}: declares a document type, and entities are not expanded; remove the declaration")
    try:
        robot = ET.fromstring(text.strip(" \t\r\n\0"))
    except (ET.ParseError, ValueError) as error:
        raise SceneFileError(f"{path}: is not well-formed XML ({error}); correct it there") from error
    if any("xacro" in element.tag for element in robot.iter()):
        raise SceneFileError(f"{path}: holds xacro macros; {_EXPAND}")
    if robot.tag != "robot":
        raise SceneFileError(f"{path}: its root element is <{robot.tag}>, not the <robot> of a URDF file")
    return robot


def _check(path: object, robot: ET.Element, element: ET.Element) -> None:
    """Refuse what is missing or not a number in a link, joint or material, and drop what is not modelled."""
    name = element.get("name", "")
    where = f"{path}: {element.tag} '{name}'"
    if not name and element.tag != "material":
        place = [e for e in robot if e.tag == element.tag].index(element) + 1
        raise SceneFileError(f"{path}: <{element.tag}> number {place} has no name; give it one")
    element[:] = [child for child in element if child.tag in _READ[element.tag]]
    for item in element.iter():
        _check_attributes(where, item)
        found = [child.tag for child in item]
        for tag in _ONCE.get(item.tag, ()):
            same = tag == "axis" and len({tuple(child.items()) for child in item if child.tag == tag}) == 1
            if found.count(tag) > 1 and not same:
                raise SceneFileError(f"{where}: its <{item.tag}> has {found.count(tag)} <{tag}>; leave one")
    needs = {"inertial": ("mass", "inertia"), "visual": ("geometry",), "collision": ("geometry",)}
    if element.tag == "joint":
        needs["joint"] = ("parent", "child")
        if element.get("type") not in JOINT_TYPES:
            raise SceneFileError(f"{where}: unknown type {element.get('type')!r}; use one of {', '.join(JOINT_TYPES)}")
    for item in (element, *element):
        for tag in needs.get(item.tag, ()):
            if item.find(tag) is None:
                raise SceneFileError(f"{where}: its <{item.tag}> has no <{tag}>; add one")
    for geometry in element.iter("geometry"):
        known = [shape for shape in geometry if shape.tag in SIZES]
        if len(known) != 1:
            tags = ", ".join(f"<{shape.tag}>" for shape in geometry) or "nothing"
            raise SceneFileError(f"{where}: its <geometry> holds {tags}; it needs one of {', '.join(SIZES)}")
        geometry[:] = known


def _check_attributes(where: str, item: ET.Element) -> None:
    for name, value in item.attrib.items():
        item.set(name, _ENVIRONMENT.sub(lambda found: os.environ.get(found[1], found[2]), value))
    for value in item.attrib.values():
        if "${" in value or "$(" in value:
            raise SceneFileError(f"{where}: <{item.tag}> holds xacro expressions such as {value!r}; {_EXPAND}")
    for attribute in _REQUIRED.get(item.tag, ()):
        if not item.get(attribute, "").strip():
            raise SceneFileError(f"{where}: <{item.tag}> has no {attribute}=; add it")
    for attribute, counts in _NUMBERS.get(item.tag, {}).items():
        text = item.get(attribute)
        if text is None:
            continue
        try:
            values = [_number(_TWICE.sub(r"\1", word)) for word in text.replace(",", " ").split()]
        except ValueError:
            values = []
        if len(values) == max(counts) + 1 > 3:  # one too many, which other readers leave out
            values = values[:-1]
        said = f"{where}: <{item.tag} {attribute}={text!r}>"
        # an unlimited joint may say so by an infinite limit
        finite = all(math.isfinite(x) or (item.tag == "limit" and not math.isnan(x)) for x in values)
        if len(values) not in counts or not finite:
            wanted = " or ".join(map(str, counts)) + (" finite number" if counts == (1,) else " finite numbers")
            raise SceneFileError(f"{said} must hold {wanted}")
        if len(values) < len(text.replace(",", " ").split()) or any(map(_TWICE.fullmatch, text.split())):
            warnings.warn(f"{said} is read as {' '.join(f'{x:g}' for x in values)}; correct it", stacklevel=7)
        item.set(attribute, " ".join(map(repr, values)))


def _number(word: str) -> float:
    """A decimal number. ValueError for what only Python takes for one, such as 1_0 and digits of other scripts."""
    if not _NUMBER.fullmatch(word):
        raise ValueError(word)
    return float(word)


def _check_names(path: object, robot: ET.Element) -> None:
    if robot.find("link") is None:
        raise SceneFileError(f"{path}: has no <link>; a robot needs at least one")
    for tag in ("link", "joint"):
        seen: set[str] = set()
        for element in robot.findall(tag):
            name = element.get("name", "")
            if name in seen:
                raise SceneFileError(f"{path}: two {tag}s are named '{name}'; give each its own name")
            seen.add(name)
