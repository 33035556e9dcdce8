"""Robots from URDF files."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from recursive_dyn.errors import SceneFileError
from scene import joints
from scene.body import Body, Node
from scene.joints.base import Joint
from scene.mass_properties import MassProperties
from scene.scene import Scene
from scene.urdf_file import blame, read
from scene.urdf_geometry import Geometry


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
    Types: fixed, revolute, continuous, prismatic, floating, planar and, as in PyBullet, spherical; the shapes capsule
    and plane too. A <mimic> joint follows its leader and its damping goes to the leader's coordinate. Inertias are taken
    as they stand, even where rounding broke the triangle inequality; a link without <inertial> has no mass.
    Limits count for revolute and prismatic joints where lower < upper. Not modelled: friction, limits of effort and
    velocity, limits of followers, textures, transmissions, sensors and everything PyBullet or Gazebo add.

    Raises SceneFileError naming the file, the element and what to do. Warns if a link that floats has no mass.
    """
    robot = read(path)
    links = {link.name: link for link in robot.links}
    couplings = _couplings(path, robot)
    root, order = _order(path, robot, couplings)
    folders = [package_paths] if isinstance(package_paths, (str, Path)) else package_paths
    geometry = Geometry(path, robot, folders, skip_missing_meshes)
    scene = Scene()

    nodes: dict[str, Node] = {root: scene.world}
    if root == scene.world.name:
        scene.world.shapes += geometry.shapes(links[root])
    else:
        nodes[root] = scene.world.attach(
            _body(path, links[root], geometry), joints.fixed() if fixed_base else joints.free()
        )
    for joint in order:
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
    # power balance: d_f v_f^2 = d_f m^2 v_l^2
    follows = [c for c in couplings.values() if c.leader is joint]
    damping = _damping(joint) + sum(c.multiplier**2 * _damping(c.follower) for c in follows)
    match joint.type:
        case "revolute":
            motion = joints.revolute(joint.axis, limits=_limits(joint), damping=damping)
        case "continuous":
            motion = joints.revolute(joint.axis, damping=damping)
        case "prismatic":
            motion = joints.prismatic(joint.axis, limits=_limits(joint), damping=damping)
        case "planar":
            motion = joints.planar(joint.axis, damping=damping)
        case "spherical":
            motion = joints.ball(damping=damping)
        case "floating":
            motion = joints.free(damping=damping)
        case _:
            return joints.fixed()
    return motion if own is None else motion.follow(own.leader.child, own.multiplier, own.offset)


def _damping(joint: Any) -> float:
    return 0.0 if joint.dynamics is None or joint.dynamics.damping is None else float(joint.dynamics.damping)


def _limits(joint: Any) -> tuple[float, float] | None:
    """(lower, upper); None where the file gives none, or the empty range that stands for none (lower = upper = 0)."""
    if joint.limit is None:
        return None
    lower, upper = (0.0 if x is None else x for x in (joint.limit.lower, joint.limit.upper))
    return (lower, upper) if lower < upper else None


@dataclass(frozen=True)
class Coupling:
    """A follower's coordinate is multiplier times its leader's plus offset; both are yourdfpy joints."""

    follower: Any
    leader: Any
    multiplier: float
    offset: float


def _couplings(path: object, robot: Any) -> dict[str, Coupling]:
    """Couplings by the follower's name, led along a chain of followers to the joint that follows nothing."""
    named = {joint.name: joint for joint in robot.joints}
    result = {}
    for joint in robot.joints:
        leader, multiplier, offset, chain = joint, 1.0, 0.0, [joint.name]
        while leader.mimic is not None and leader.type != "fixed":
            mimic = leader.mimic
            if mimic.joint not in named:
                raise SceneFileError(
                    f"{path}: joint '{leader.name}': mimics '{mimic.joint}', which is not a joint; correct the name"
                )
            if mimic.joint in chain:
                raise SceneFileError(
                    f"{path}: joint '{joint.name}': mimic leads back to '{mimic.joint}'; let one joint of them be free"
                )
            chain.append(mimic.joint)
            offset += multiplier * mimic.offset
            multiplier *= mimic.multiplier
            leader = named[mimic.joint]
        if leader.type not in ("revolute", "continuous", "prismatic") and leader is not joint:
            raise SceneFileError(
                f"{path}: joint '{joint.name}': mimics '{leader.name}', which is {leader.type}; only a joint of one"
                " coordinate can lead"
            )
        if leader is not joint:
            result[joint.name] = Coupling(joint, leader, multiplier, offset)
    return result


def _order(path: object, robot: Any, couplings: dict[str, Coupling]) -> tuple[str, list[Any]]:
    """(root link, joints as they can be attached): the file's order, but parents and leaders go first."""
    parents: dict[str, Any] = {}
    links = [link.name for link in robot.links]
    known = set(links)
    for joint in robot.joints:
        where = f"{path}: joint '{joint.name}'"
        for role, name in (("parent", joint.parent), ("child", joint.child)):
            if name not in known:
                raise SceneFileError(f"{where}: its {role} link '{name}' is not in the file; correct the name")
        if joint.child in parents:
            raise SceneFileError(
                f"{where}: link '{joint.child}' is the child of joint '{parents[joint.child].name}' too; a URDF is a"
                " tree: remove one of them"
            )
        if joint.child == "world":
            raise SceneFileError(f"{where}: its child link is named 'world', as the scene's own frame; rename it")
        parents[joint.child] = joint
    roots = [name for name in links if name not in parents]
    if len(roots) > 1:
        raise SceneFileError(f"{path}: several links have no parent: {', '.join(roots)}; join all but one to another")
    placed, order, waiting = set(roots), [], list(robot.joints)
    while waiting:
        reachable = [joint for joint in waiting if joint.parent in placed]
        ready = [joint for joint in reachable if joint.name not in couplings or couplings[joint.name].leader in order]
        if not ready:
            break
        order.append(ready[0])
        waiting.remove(ready[0])
        placed.add(ready[0].child)
    if waiting and reachable:
        raise SceneFileError(
            f"{path}: joint '{reachable[0].name}': mimics '{couplings[reachable[0].name].leader.name}', which it carries"
            " or which waits for it; let that joint mimic this one"
        )
    if waiting:
        loop = ", ".join(name for name in links if name not in placed)
        raise SceneFileError(f"{path}: the links {loop} hang on each other in a loop; a URDF is a tree with one root")
    return roots[0], order


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
