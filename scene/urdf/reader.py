"""Robots from URDF files."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from recursive_dyn.errors import SceneFileError
from scene import joints
from scene.body import Body, Node
from scene.joints.base import Joint
from scene.mass_properties import MassProperties
from scene.scene import Scene
from scene.urdf.geometry import Geometry
from scene.urdf.text import blame, read
from scene.urdf.tree import Coupling, couplings_of, order_of, root_of


def load(
    path: str | os.PathLike[str],
    fixed_base: bool = False,
    *,
    package_paths: str | Path | Sequence[str | Path] = (),
    skip_missing_meshes: bool = False,
) -> Scene:
    """A scene from a URDF file: every link a body of its name, every joint in its place.

    fixed_base: the root link is welded to the world, else it floats; a root link named "world" is the world itself.
    package_paths: folders to look for package:// meshes in, besides the file's own folder and its parents.
    skip_missing_meshes: leave out meshes whose files are not found instead of raising.

    ``scene.joint_names`` leads from the file's joint names to the bodies they move; coordinates are named after bodies.
    Joint types: those of URDF and PyBullet's spherical. Shapes: those of URDF and PyBullet's capsule and plane.
    Inertias are taken as they stand, even where rounding broke the triangle inequality; a link without <inertial> has
    no mass. Limits count for revolute and prismatic joints where lower < upper: equal ones, such as the default of 0,
    mean none. A <mimic> joint follows its leader, whose coordinate takes on its damping and friction; its own limits do
    not count. Of PyBullet's <contact>, lateral_friction, rolling_friction, spinning_friction and restitution are the
    material of the link's shapes. Not modelled: limits of effort and velocity, textures, transmissions, sensors, the
    other extensions of PyBullet and Gazebo.

    Raises SceneFileError naming the file, the element and what to do. Warns if a link that floats has no mass.
    """
    robot, surfaces = read(path)
    links = {link.name: link for link in robot.links}
    root, couplings = root_of(path, robot), couplings_of(path, robot)
    folders = [package_paths] if isinstance(package_paths, (str, Path)) else package_paths
    geometry = Geometry(path, robot, surfaces, folders, skip_missing_meshes)
    scene = Scene()

    nodes: dict[str, Node] = {root: scene.world}
    if root == scene.world.name:
        scene.world.shapes += geometry.shapes(links[root])
    else:
        nodes[root] = scene.world.attach(
            _body(path, links[root], geometry), joints.fixed() if fixed_base else joints.free()
        )
    for joint in order_of(path, robot, root, couplings):
        with blame(path, f"joint '{joint.name}'"):
            motion = _joint(joint, couplings)
            body = _body(path, links[joint.child], geometry)
            nodes[joint.child] = nodes[joint.parent].attach(body, motion, at=joint.origin)
        scene.joint_names[joint.name] = joint.child
    if not fixed_base and root != scene.world.name:
        _warn_if_massless(path, scene[root])
    return scene


def _body(path: object, link: Any, geometry: Geometry) -> Body:
    shapes, inertial = geometry.shapes(link), link.inertial
    if inertial is None:
        return Body.of_properties(link.name, shapes, MassProperties(0.0, np.zeros(3), np.zeros((3, 3))))
    if inertial.mass < 0.0:
        raise SceneFileError(f"{path}: link '{link.name}': its mass {inertial.mass} is negative; correct it")
    placement = np.eye(4) if inertial.origin is None else inertial.origin
    own = MassProperties(inertial.mass, np.zeros(3), inertial.inertia)
    return Body.of_properties(link.name, shapes, own.moved(placement))


def _joint(joint: Any, couplings: dict[str, Coupling]) -> Joint:
    own = couplings.get(joint.name)
    dynamics = _dynamics(joint)
    match joint.type:
        case "revolute":
            motion = joints.revolute(joint.axis, limits=_limits(joint), **dynamics)
        case "continuous":
            motion = joints.revolute(joint.axis, **dynamics)
        case "prismatic":
            motion = joints.prismatic(joint.axis, limits=_limits(joint), **dynamics)
        case "planar":
            motion = joints.planar(joint.axis, **dynamics)
        case "spherical":
            motion = joints.ball(**dynamics)
        case "floating":
            motion = joints.free(**dynamics)
        case _:
            return joints.fixed()
    return motion if own is None else motion.follow(own.leader.child, own.multiplier, own.offset)


def _dynamics(joint: Any) -> dict[str, float]:
    given = {name: getattr(joint.dynamics, name, None) for name in ("damping", "friction")}
    return {name: float(value) for name, value in given.items() if value is not None}


def _limits(joint: Any) -> tuple[float, float] | None:
    """(lower, upper); None where the file gives none, or the empty range that stands for none (lower = upper = 0)."""
    if joint.limit is None:
        return None
    lower, upper = (0.0 if x is None else x for x in (joint.limit.lower, joint.limit.upper))
    return (lower, upper) if lower < upper else None


def _warn_if_massless(path: object, root: Body) -> None:
    """A floating base without mass is a slip nearly always (PyBullet welds it), and most are singular."""
    welded: list[Node] = [root]
    for node in welded:
        welded += [child for child in node.children if child.joint is not None and not child.joint.coordinates]
    if all(isinstance(node, Body) and node.mass == 0.0 for node in welded):
        warnings.warn(
            f"{path}: root link '{root.name}' floats but has no mass; pass fixed_base=True to weld it to the world",
            stacklevel=4,
        )
