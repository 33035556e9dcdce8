"""The tree that a URDF file's joints make of its links: its root, who follows whom, and the order of attachment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recursive_dyn.errors import SceneFileError

LEADERS = ("revolute", "continuous", "prismatic")  # joints of one coordinate


@dataclass(frozen=True)
class Follower:
    """The follower's coordinate is multiplier times its leader's plus offset; both are yourdfpy joints."""

    follower: Any
    leader: Any
    multiplier: float
    offset: float


def root_of(path: object, robot: Any) -> str:
    """Name of the one link that is no joint's child. SceneFileError for unknown links, two parents or several roots."""
    parents: dict[str, str] = {}
    links = {link.name for link in robot.links}
    for joint in robot.joints:
        where = f"{path}: joint '{joint.name}'"
        for role, name in (("parent", joint.parent), ("child", joint.child)):
            if name not in links:
                raise SceneFileError(f"{where}: its {role} link '{name}' is not in the file; correct the name")
        if joint.child in parents:
            raise SceneFileError(
                f"{where}: link '{joint.child}' is the child of joint '{parents[joint.child]}' too; a URDF is a tree:"
                " remove one of them"
            )
        if joint.child == "world":
            raise SceneFileError(f"{where}: its child link is named 'world', as the scene's own frame; rename it")
        parents[joint.child] = joint.name
    roots = [link.name for link in robot.links if link.name not in parents]
    if not roots:
        raise _loop(path, [link.name for link in robot.links])
    if len(roots) > 1:
        raise SceneFileError(f"{path}: several links have no parent: {', '.join(roots)}; join all but one to another")
    return str(roots[0])


def couplings_of(path: object, robot: Any) -> dict[str, Follower]:
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
        if leader is joint:
            continue
        if leader.type not in LEADERS:
            raise SceneFileError(
                f"{path}: joint '{joint.name}': mimics '{leader.name}', which is {leader.type}; only a joint of one"
                " coordinate can lead"
            )
        result[joint.name] = Follower(joint, leader, multiplier, offset)
    return result


def order_of(path: object, robot: Any, root: str, couplings: Mapping[str, Follower]) -> list[Any]:
    """The joints in the file's order, but each after its parent and its leader. SceneFileError where there is none."""
    waiting, order = list(robot.joints), []
    placed, moved = {root}, set()
    while waiting:
        late = []
        for joint in waiting:
            coupling = couplings.get(joint.name)
            if joint.parent in placed and (coupling is None or coupling.leader.name in moved):
                order.append(joint)
                placed.add(joint.child)
                moved.add(joint.name)
            else:
                late.append(joint)
        if len(late) == len(waiting):
            raise _stuck(path, robot, placed, late, couplings)
        waiting = late
    return order


def _stuck(
    path: object, robot: Any, placed: set[str], late: list[Any], couplings: Mapping[str, Follower]
) -> SceneFileError:
    for joint in late:
        if joint.parent in placed:
            return SceneFileError(
                f"{path}: joint '{joint.name}': mimics '{couplings[joint.name].leader.name}', which it carries or which"
                " waits for it; let that joint mimic this one"
            )
    return _loop(path, [link.name for link in robot.links if link.name not in placed])


def _loop(path: object, links: list[str]) -> SceneFileError:
    return SceneFileError(
        f"{path}: the links {', '.join(links)} hang on each other in a loop; a URDF is a tree with one root"
    )
