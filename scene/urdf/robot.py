"""Robots from URDF files."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from recursive_dyn.errors import SceneFileError
from scene import joints
from scene.body import Body, Node, World
from scene.content import SceneContent
from scene.joints.parametric_joint import Joint
from scene.mass_properties import MassProperties
from scene.number_checks import rigid_pose
from scene.urdf.elements import UrdfJoint, UrdfLink, UrdfRobot
from scene.urdf.geometry import Geometry
from scene.urdf.joint_tree import Follower, couplings_of, order_of, root_of
from scene.urdf.shape_inertia import FILE, INERTIAS, SHAPES, inertia_of, is_possible
from scene.urdf.xml_text import blame, read


def add(
    scene: SceneContent,
    path: str | os.PathLike[str],
    prefix: str = "",
    at: Any = None,
    fixed_base: bool | None = None,
    *,
    package_paths: str | Path | Sequence[str | Path] = (),
    skip_missing_meshes: bool = False,
    self_collision: bool = True,
    inertia: str = FILE,
) -> Node:
    """The bodies of one more robot in ``scene``; returns its root body, or the world where the root link is that.

    prefix: put before every body's and joint's name; at: pose (4, 4) of the root link in the world, from where it
    floats if it does;
    fixed_base: True welds the root link to the world, False lets it float; None, that it floats if it has mass, as
    robots do, and else is welded, as planes, tables and many arms are meant to be. A root link named "world" is the
    world itself.
    package_paths: folders to look for package:// meshes in, besides the file's own folder and its parents.
    skip_missing_meshes: leave out meshes whose files are not found instead of raising.
    self_collision: True lets the robot's bodies collide with each other, but for neighbours: a body and the next one
    towards its root that has collision geometry, past fixed joints and links without any. False lets none collide, as
    ``scene.let_pass``. ``scene.pair`` overrides both for two bodies. True is what MuJoCo and Drake do, and the default
    as limbs then stop at the trunk; where the geometry of a file overlaps, as coarse hulls do, the mirror says so by
    name and the bodies are pushed apart, slowly. False is what PyBullet and Isaac do unless they are asked.
    inertia: "file" takes inertias as they stand; "shapes", as PyBullet does unless it is asked, those of each link's
    collision geometry at the mass of the file, about the centre of mass of the file, where there is such geometry.

    ``scene.joint_names`` leads from the file's joint names to the bodies they move; coordinates are named after bodies.
    Joint types: those of URDF and PyBullet's spherical. Shapes: those of URDF and PyBullet's capsule and plane.
    Inertias of the file stand, even where rounding broke the triangle inequality; a link without <inertial> has no
    mass. Limits count for revolute and prismatic joints where lower < upper: equal ones, such as the default of 0, mean
    none; for spherical ones as PyBullet has them, where the swings about x and y, which are lower and upper, the twist
    about z and the effort are above 0; those of effort and velocity where they are. A <mimic> joint follows its leader,
    whose coordinate takes on its damping and friction; its own limits do not count. Of PyBullet's <contact>,
    lateral_friction, rolling_friction, spinning_friction and restitution are the material of the link's shapes. Meshes
    show the colours and textures of their files where a link says nothing or white, as PyBullet has it. Not modelled:
    textures that a URDF's own <material> names, transmissions, sensors, the other extensions of PyBullet and Gazebo.

    Raises SceneFileError naming the file, the element and what to do; the scene is then as it was. Warns if
    a link is made to float without mass, or alone with an inertia that no body has, and where a slip in a number is
    passed over.
    """
    _check(path, prefix, self_collision, inertia)
    folders = [package_paths] if isinstance(package_paths, (str, Path)) else package_paths
    place = rigid_pose(str(path), "at", np.eye(4) if at is None else at)
    world, root, joint_names = _tree(path, prefix, place, fixed_base, folders, skip_missing_meshes, inertia)
    taken = [node.name for node in world.walk() if node is not world and scene.world.find(node.name)]
    for what, clashes in (("body", taken), ("joint", [name for name in joint_names if name in scene.joint_names])):
        if clashes:
            raise SceneFileError(f"{path}: the scene has a {what} named '{clashes[0]}' already; pass another prefix")
    names = [node.name for node in world.walk() if node is not world]
    _move(world, scene.world)
    if not self_collision:
        scene.let_pass(names)
    scene.joint_names |= joint_names
    return scene.world if root is world else root


def _check(path: object, prefix: Any, self_collision: Any, inertia: Any) -> None:
    if not isinstance(prefix, str):
        raise SceneFileError(f"{path}: prefix is put before names, so that it must be text, not {prefix!r}")
    if not isinstance(self_collision, bool):
        raise SceneFileError(f"{path}: self_collision is True or False, not {self_collision!r}")
    if inertia not in INERTIAS:
        raise SceneFileError(f"{path}: inertia is 'file' or 'shapes', not {inertia!r}")


def _move(source: World, target: World) -> None:
    """Give what stands in one world to another."""
    target.shapes += source.shapes
    for child in list(source.children):
        joint, place = child.joint, child.place
        assert joint is not None
        target.attach(child.detach(), joint, at=place)


def _tree(
    path: str | os.PathLike[str],
    prefix: str,
    at: Any,
    fixed_base: bool | None,
    folders: Sequence[str | Path],
    skip_missing_meshes: bool,
    inertia: str,
) -> tuple[World, Node, dict[str, str]]:
    """A world of its own that holds the robot, its root node, and the bodies that its joints move."""
    robot, surfaces = read(path)
    links = {link.name: link for link in robot.links}
    root, couplings = root_of(path, robot), couplings_of(path, robot)
    geometry = Geometry(path, robot, surfaces, folders, skip_missing_meshes)
    world = World()
    welded = not _weighs(robot, root) if fixed_base is None else fixed_base

    def body_of(link: str) -> Body:
        return _body(path, links[link], geometry, prefix + link, inertia)

    nodes: dict[str, Node] = {root: world}
    if root == world.name:
        world.shapes += [replace(shape, at=at @ shape.at) for shape in geometry.shapes(links[root])]
    else:
        nodes[root] = world.attach(body_of(root), joints.fixed() if welded else joints.free(), at=at)
    joint_names = {}
    for joint in order_of(path, robot, root, couplings):
        with blame(path, f"joint '{joint.name}'"):
            place = at @ joint.origin if nodes[joint.parent] is world else joint.origin
            child = body_of(joint.child)
            nodes[joint.child] = nodes[joint.parent].attach(child, _joint(joint, couplings, prefix), at=place)
        joint_names[prefix + joint.name] = prefix + joint.child
    if not welded and isinstance(base := nodes[root], Body):
        _warn_if_massless(path, base)
        _warn_if_impossible(path, base)
    return world, nodes[root], joint_names


def _body(path: object, link: UrdfLink, geometry: Geometry, name: str, inertia: str) -> Body:
    shapes, inertial = geometry.shapes(link), link.inertial
    if inertial is None:
        return Body.of_properties(name, shapes, MassProperties(0.0, np.zeros(3), np.zeros((3, 3))))
    if inertial.mass < 0.0:
        raise SceneFileError(f"{path}: link '{link.name}': its mass {inertial.mass} is negative; correct it")
    own = MassProperties(inertial.mass, np.zeros(3), inertial.inertia).moved(inertial.origin)
    if inertia == SHAPES and inertial.mass > 0.0:
        colliders = [shape for shape in shapes if shape.collision]
        moments = inertia_of(colliders, inertial.mass)
        own = own if moments is None else MassProperties(own.mass, own.center_of_mass, moments)
    return Body.of_properties(name, shapes, own)


def _joint(joint: UrdfJoint, couplings: dict[str, Follower], prefix: str) -> Joint:
    own = couplings.get(joint.name)
    dynamics = joint.dynamics
    match joint.type:
        case "revolute":
            motion = joints.revolute(joint.axis, limits=_limits(joint), **joint.mosts, **dynamics)
        case "continuous":
            motion = joints.revolute(joint.axis, **joint.mosts, **dynamics)
        case "prismatic":
            motion = joints.prismatic(joint.axis, limits=_limits(joint), **joint.mosts, **dynamics)
        case "planar":
            motion = joints.planar(joint.axis, **dynamics)
        case "spherical":
            motion = joints.ball(limits=_turn_limits(joint), **dynamics)
        case "floating":
            motion = joints.free(**dynamics)
        case _:
            return joints.fixed()
    return motion if own is None else motion.follow(prefix + own.leader.child, own.multiplier, own.offset)


def _limits(joint: UrdfJoint) -> tuple[float, float] | None:
    """(lower, upper); None where the file gives none, or the empty range that stands for none (lower = upper = 0)."""
    return joint.limits if joint.limits is not None and joint.limits[0] < joint.limits[1] else None


def _turn_limits(joint: UrdfJoint) -> joints.TurnLimits | None:
    """As PyBullet reads a spherical joint: half-angles about x and y in lower and upper, and of the twist about z; None
    unless all of them and the effort are above 0."""
    if joint.limits is None or not min(*joint.limits, joint.twist, joint.mosts.get("effort", 0.0)) > 0.0:
        return None
    return joints.TurnLimits(swing=joint.limits, twist=(-joint.twist, joint.twist))


def _weighs(robot: UrdfRobot, root: str) -> bool:
    """Whether the root link, or one that is fixed to it, has mass."""
    rigid = {root}
    for _ in robot.joints:
        more = {joint.child for joint in robot.joints if joint.type == "fixed" and joint.parent in rigid} - rigid
        if not more:
            break
        rigid |= more
    return any(link.inertial is not None and link.inertial.mass for link in robot.links if link.name in rigid)


def _warn_if_massless(path: object, root: Node) -> None:
    """A floating base without mass is a slip nearly always (PyBullet welds it), and most are singular."""
    welded: list[Node] = [root]
    for node in welded:
        welded += [child for child in node.children if child.joint is not None and not child.joint.coordinates]
    if all(isinstance(node, Body) and node.mass == 0.0 for node in welded):
        warnings.warn(
            f"{path}: root link '{root.name}' floats but has no mass; pass fixed_base=True to weld it to the world",
            stacklevel=5,
        )


def _warn_if_impossible(path: object, root: Body) -> None:
    """What floats alone needs an inertia about every axis; placeholders such as (1, 1, 0) are common."""
    if not root.children and root.mass and not is_possible(np.asarray(root.properties.inertia, dtype=float)):
        warnings.warn(
            f"{path}: root link '{root.name}' floats, but no body has the inertia of its file; pass inertia='shapes'"
            " for that of its collision geometry, which is what PyBullet takes",
            stacklevel=5,
        )
