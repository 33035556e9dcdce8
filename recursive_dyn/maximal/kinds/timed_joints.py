"""Joints that time moves, G(q, t): one coordinate of theirs is time, which is known and none that they allow."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from recursive_dyn.graph.expression import Graph, Scalar, array
from recursive_dyn.graph.traversal import reachable, substitute
from recursive_dyn.joint.joint_program import JointProgram, build, product
from recursive_dyn.model.model import Link, Model, once
from recursive_dyn.spatial.spaces import Flat

NONE = -1


@once
def moving_links(model: Model) -> tuple[Link, ...]:
    """The links, those whose joints time drives on joints of time instead."""
    return tuple(of_driving_coordinates(link) if driven_by_time(model, link) else link for link in model.links)


def driven_by_time(model: Model, link: Link) -> bool:
    """Whether time alone drives a link's joint."""
    return link.drive is not None and model.clock is not None and set(link.slots) == {model.clock[1]}


def time_column(model: Model, link: Link) -> int:
    """Which coordinate of a link's joint is time, NONE for none."""
    return link.slots.index(model.clock[1]) if model.clock is not None and model.clock[1] in link.slots else NONE


def moving_columns(joint: JointProgram, time: int) -> list[int]:
    """The others."""
    return [k for k in range(joint.nv) if k != time]


def of_driving_coordinates(link: Link) -> Link:
    """A driven link on a joint whose coordinates are what drives it."""
    assert link.drive is not None
    graph, n = Graph(), len(link.slots)
    driving = list(graph.inputs("q", n))
    values = substitute(list(link.drive.values), _inputs(graph, list(link.drive.values), driving))
    (offset,) = substitute([link.offset], _inputs(graph, [link.offset], []))
    if len(values) == 1:
        values = [values[0] + offset]
    pose = list(product([f.transform for f in link.joint.factors]).flat)
    transform = array(substitute(pose, _inputs(graph, pose, values))).reshape(4, 4)
    joint = build(graph, [(Flat(n), transform)])
    return replace(link, joint=joint, drive=None, offset=0.0)


def _inputs(graph: Graph, scalars: list[Scalar], q: list[Scalar]) -> dict[Any, Scalar]:
    """What inputs below scalars are: coordinates q, and parameters."""
    nodes = [n.args[0] for n in reachable(scalars) if n.op == "input"]
    return {name: q[name[1]] if name[0] == "q" else graph.input(name) for name in nodes}
