"""What a checked URDF file holds, in numbers: links with what they show and collide with, joints, colours."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from recursive_dyn.spatial.algebra import pose

Numbers = tuple[float, ...]
SIZES = {  # kind of shape: the attributes that say how large it is
    "box": ("size",),
    "sphere": ("radius",),
    "cylinder": ("radius", "length"),
    "capsule": ("radius", "length"),
    "mesh": ("scale",),
    "plane": ("normal",),
}


@dataclass(frozen=True, eq=False)
class UrdfItem:
    """A <visual> or <collision>: the kind of its shape, its sizes by attribute, a mesh's file, its pose (4, 4) in the
    link's frame, the name of its <material> and the colour that stands there, if one does.
    """

    kind: str
    sizes: Mapping[str, Numbers]
    filename: str
    origin: np.ndarray
    material: str
    rgba: Numbers | None


@dataclass(frozen=True, eq=False)
class UrdfInertial:
    """Mass in kg, inertia (3, 3) in kg m^2 about the centre of mass, and the pose (4, 4) of its frame in the link's."""

    mass: float
    inertia: np.ndarray
    origin: np.ndarray


@dataclass(frozen=True, eq=False)
class UrdfLink:
    """A <link>; one without <inertial> has none."""

    name: str
    inertial: UrdfInertial | None
    visuals: Sequence[UrdfItem]
    collisions: Sequence[UrdfItem]


@dataclass(frozen=True)
class UrdfMimic:
    """The joint that is followed, times ``multiplier``, plus ``offset``."""

    joint: str
    multiplier: float
    offset: float


@dataclass(frozen=True, eq=False)
class UrdfJoint:
    """A <joint>: names of its links, pose (4, 4) in its parent, axis (3,); what the file leaves out is None.

    mosts: effort and velocity where they are above 0; 0 stands for none. twist: PyBullet's of a spherical joint, rad.
    """

    name: str
    type: str
    parent: str
    child: str
    origin: np.ndarray
    axis: np.ndarray
    limits: tuple[float, float] | None
    mosts: Mapping[str, float]
    dynamics: Mapping[str, float]
    mimic: UrdfMimic | None
    twist: float


@dataclass(frozen=True, eq=False)
class UrdfRobot:
    """Links and joints in the file's order; colours by the name of the material that first has one."""

    links: Sequence[UrdfLink]
    joints: Sequence[UrdfJoint]
    colors: Mapping[str, Numbers]


def robot_of(root: ET.Element) -> UrdfRobot:
    """The robot of a <robot> element in which every number that counts is there and is one."""
    links = [_link(element) for element in root.findall("link")]
    joints = [_joint(element) for element in root.findall("joint")]
    # Files also use by name a material that an earlier link defined; the global ones count first.
    named = [(element.get("name", ""), _color(element)) for element in root.findall("material")]
    named += [(item.material, item.rgba) for link in links for item in link.visuals]
    colors: dict[str, Numbers] = {}
    for name, rgba in named:
        if name and rgba is not None:
            colors.setdefault(name, rgba)
    return UrdfRobot(links, joints, colors)


def _link(element: ET.Element) -> UrdfLink:
    inertial = element.find("inertial")
    return UrdfLink(
        element.get("name", ""),
        None if inertial is None else _inertial(inertial),
        [_item(visual) for visual in element.findall("visual")],
        [_item(collision) for collision in element.findall("collision")],
    )


def _inertial(element: ET.Element) -> UrdfInertial:
    mass, inertia = element.find("mass"), element.find("inertia")
    (ixx,), (ixy,), (ixz,), (iyy,), (iyz,), (izz,) = (
        _numbers(inertia, name, (0.0,)) for name in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    )
    return UrdfInertial(
        _numbers(mass, "value", (0.0,))[0],
        np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]]),
        _origin(element),
    )


def _item(element: ET.Element) -> UrdfItem:
    shape = element.findall("geometry/*")[0]
    material = element.find("material")
    sizes = {name: _numbers(shape, name) for name in SIZES[shape.tag] if name in shape.attrib}
    name, rgba = ("", None) if material is None else (material.get("name", ""), _color(material))
    return UrdfItem(shape.tag, sizes, shape.get("filename", ""), _origin(element), name, rgba)


def _color(material: ET.Element) -> Numbers | None:
    color = material.find("color")
    return None if color is None else _numbers(color, "rgba")


def _joint(element: ET.Element) -> UrdfJoint:
    parent, child = (element.find(tag) for tag in ("parent", "child"))
    limit, dynamics, mimic = (element.find(tag) for tag in ("limit", "dynamics", "mimic"))
    given = {} if dynamics is None else dynamics.attrib
    mosts = {} if limit is None else {name: _numbers(limit, name, (0.0,))[0] for name in ("effort", "velocity")}
    return UrdfJoint(
        element.get("name", ""),
        element.get("type", ""),
        "" if parent is None else parent.get("link", ""),
        "" if child is None else child.get("link", ""),
        _origin(element),
        np.array(_numbers(element.find("axis"), "xyz", (1.0, 0.0, 0.0))),
        None if limit is None else (_numbers(limit, "lower", (0.0,))[0], _numbers(limit, "upper", (0.0,))[0]),
        {name: most for name, most in mosts.items() if most > 0.0},
        {name: _numbers(dynamics, name)[0] for name in ("damping", "friction") if name in given},
        None
        if mimic is None
        else UrdfMimic(
            mimic.get("joint", ""), _numbers(mimic, "multiplier", (1.0,))[0], _numbers(mimic, "offset", (0.0,))[0]
        ),
        0.0 if limit is None else _numbers(limit, "twist", (0.0,))[0],
    )


def _origin(element: ET.Element) -> np.ndarray:
    origin = element.find("origin")
    if origin is None:
        return np.eye(4)
    return pose(_numbers(origin, "xyz", (0.0,) * 3), _numbers(origin, "rpy", (0.0,) * 3))


def _numbers(element: ET.Element | None, attribute: str, default: Numbers = ()) -> Numbers:
    text = None if element is None else element.get(attribute)
    return default if text is None else tuple(map(float, text.split()))
