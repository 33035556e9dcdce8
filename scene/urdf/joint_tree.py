"""The tree that a URDF file's joints make of its links: its root, who follows whom, and the order of attachment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from recursive_dyn.errors import SceneFileError
from scene.urdf.elements import UrdfJoint, UrdfRobot

LEADERS = ("revolute", "continuous", "prismatic")  # joints of one coordinate


@dataclass(frozen=True)
class Follower:
    """The follower's coordinate is multiplier times its leader's plus offset."""

    follower: UrdfJoint
    leader: UrdfJoint
    multiplier: float
    offset: float


def root_of(path: object, robot: UrdfRobot) -> str:
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
    return roots[0]


def couplings_of(path: object, robot: UrdfRobot) -> dict[str, Follower]:
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


def order_of(path: object, robot: UrdfRobot, root: str, couplings: Mapping[str, Follower]) -> list[UrdfJoint]:
    """The joints in the file's order, but each after its parent and its leader. SceneFileError where there is none.

    Read over and over in the file's order, each joint comes in the first round in which what it needs is there.
    """
    place = {joint.name: i for i, joint in enumerate(robot.joints)}
    carrier = {joint.child: place[joint.name] for joint in robot.joints}
    waiting_for: list[list[int]] = [[] for _ in robot.joints]
    missing = [0] * len(robot.joints)
    for i, joint in enumerate(robot.joints):
        coupling = couplings.get(joint.name)
        needs = [carrier[joint.parent]] if joint.parent != root else []
        for k in needs + ([place[coupling.leader.name]] if coupling else []):
            waiting_for[k].append(i)
            missing[i] += 1
    rounds = [0] * len(robot.joints)
    ready = [i for i, count in enumerate(missing) if count == 0]
    for k in ready:
        for i in waiting_for[k]:
            rounds[i] = max(rounds[i], rounds[k] + (i < k))
            missing[i] -= 1
            if missing[i] == 0:
                ready.append(i)
    if len(ready) < len(robot.joints):
        placed = {root, *(robot.joints[i].child for i in ready)}
        raise _stuck(path, robot, placed, [robot.joints[i] for i, count in enumerate(missing) if count], couplings)
    return [robot.joints[i] for i in sorted(ready, key=lambda i: (rounds[i], i))]


def _stuck(
    path: object, robot: UrdfRobot, placed: set[str], late: list[UrdfJoint], couplings: Mapping[str, Follower]
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
