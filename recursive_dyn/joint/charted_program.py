"""Joints of several charts: one factor that selects the transform of the chart in force (Si & Guenter 2011, section 6).

Of any parameterisations of one motion each chart is a program of its own, and all are evaluated. Charts that are one
formula between fixed turns, as surfaces with their poles on this axis or that, are evaluated once (``TurnedProgram``),
and how one leads to another is known in closed form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from recursive_dyn.graph import expression as ex
from recursive_dyn.graph.expression import Graph, Scalar, array, less, select
from recursive_dyn.graph.traversal import reachable, substitute
from recursive_dyn.joint.joint_program import Factor, JointKinematics, JointProgram, product
from recursive_dyn.spatial.spaces import Flat

Changes = tuple[tuple[np.ndarray, ...], ...]  # from chart, to chart
CHART = ("chart", 0)  # the input whose value, 0, 1 ..., is the chart in force

ONE_CHART = "use a joint of one chart (surface_on_surface has a switch, charts=False)"  # of errors, to be done


def chart_name(body: str) -> str:
    """The parameter that says which chart of a body's joint is in force: no scene.parameter has a dot in its name."""
    return f"{body}.chart"


def in_force(chart: Scalar, arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Of equally shaped scalar arrays, one a chart, the one whose number is nearest to the scalar ``chart``."""
    result = arrays[-1]
    for k in reversed(range(len(arrays) - 1)):
        pairs = zip(arrays[k].flat, result.flat, strict=True)
        entries = [a if a is b or (ex.is_constant(a) and a == b) else select(less(chart, k + 0.5), a, b)
                   for a, b in pairs]  # fmt: skip
        result = array(entries).reshape(result.shape)
    return result


@dataclass(frozen=True, eq=False)
class ChartedProgram(JointProgram):
    """A joint of any parameterisations of one motion, of equally many plain coordinates."""

    def derived(self) -> JointKinematics:
        """Each chart's kinematics are simplified by themselves, as piecewise ones could not be, and selected from then.

        A chart that is not in force may be singular: nothing of it is ever multiplied, not even by 0.
        """
        graph = self.graph
        charts = [chart.kinematics().instantiate(_own(graph, chart)) for chart in self.charts]
        pose, S, bias = (
            in_force(graph.input(CHART), arrays)
            for arrays in ([c.pose for c in charts], [c.subspace for c in charts], [c.bias for c in charts])
        )
        return JointKinematics((pose,), S, bias, graph.inputs("v", self.nv))


@dataclass(frozen=True, eq=False)
class Turns:
    """What charts of one formula differ in, on one side of it: chart k has ``poses[k]`` (4, 4), a turn without a shift,
    and ``sizes[k]``, scalars over graph inputs ("parameter", name)."""

    poses: tuple[np.ndarray, ...]
    sizes: tuple[tuple[Scalar, ...], ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class TurnedProgram(JointProgram):
    """A joint whose charts are P_i F(q; a_i, b_j) Q_j: number i n + j of n charts of the second side.

    core: F over plain coordinates and the inputs ("first", k), ("second", k), its sizes a and b; first, second: P and
    a, Q and b; quality (2,): how good the charts in force of both sides are, 1 at best and 0 where singular, over the
    coordinates; changes: changes[k][m], scalars (nq,), are the coordinates in chart m of the pose that chart k has at
    ("q", i), over these and ("parameter", name). ``charts`` are the same joints written one by one.
    """

    core: JointProgram
    first: Turns
    second: Turns
    quality: tuple[Scalar, Scalar]
    changes: Changes

    def derived(self) -> JointKinematics:
        """The core's kinematics at the sizes in force, between the turns in force."""
        graph = self.graph
        i, j = sides(graph.input(CHART), len(self.first.poses), len(self.second.poses))
        inputs = _own(graph, self) | sizes_in_force(graph, i, j, self.first, self.second)
        core = self.core.kinematics().instantiate(inputs)
        before, turns = self.first.poses, [Q[:3, :3].T for Q in self.second.poses]
        pose = in_force(i, [array(P) @ core.pose for P in before])
        pose = in_force(j, [pose @ array(Q) for Q in self.second.poses])
        S = in_force(j, [array(np.vstack([R @ core.subspace[:3], R @ core.subspace[3:]])) for R in map(array, turns)])
        bias = in_force(j, [array([*(R @ core.bias[:3]), *(R @ core.bias[3:])]) for R in map(array, turns)])
        return JointKinematics((pose,), S, bias, graph.inputs("v", self.nv))


def sides(chart: Scalar, first: int, second: int) -> tuple[Scalar, Scalar]:
    """(i, j) of the chart number i second + j, of ``first`` and ``second`` charts of both sides."""
    numbers = np.arange(first * second)
    i, j = (in_force(chart, [array([float(x)]) for x in side])[0] for side in (numbers // second, numbers % second))
    return i, j


def sizes_in_force(graph: Graph, i: Scalar, j: Scalar, first: Turns, second: Turns) -> dict[Any, Scalar]:
    """The inputs ("first", k), ("second", k) of a core, in a graph, for the charts i and j of its sides."""
    found: dict[Any, Scalar] = {}
    for name, chart, side in (("first", i, first), ("second", j, second)):
        sizes = in_force(chart, [_carried(graph, own) for own in side.sizes])
        found |= {(name, k): x for k, x in enumerate(sizes)}
    return found


def charted(charts: Sequence[JointProgram]) -> ChartedProgram:
    """The joint that is one of ``charts``, of equally many plain coordinates, as the input CHART says."""
    graph = Graph()
    poses = [_pose(graph, joint) for joint in charts]
    n = charts[0].nv
    factor = Factor(Flat(n), in_force(graph.input(CHART), poses), 0, 0)
    return ChartedProgram(graph, (factor,), tuple(charts))


def turned(
    charts: Sequence[JointProgram], core: JointProgram, first: Turns, second: Turns,
    quality: tuple[Scalar, Scalar], changes: Changes,
) -> TurnedProgram:  # fmt: skip
    """The joint of charts of one formula, as ``TurnedProgram`` says."""
    graph = Graph()
    factor = Factor(Flat(core.nv), in_force(graph.input(CHART), [_pose(graph, joint) for joint in charts]), 0, 0)
    return TurnedProgram(
        graph, (factor,), tuple(charts), core=core, first=first, second=second, quality=quality, changes=changes
    )


def _pose(graph: Graph, joint: JointProgram) -> np.ndarray:
    total = product([f.transform for f in joint.factors])
    names = [n.args[0] for n in reachable(total.flat) if n.op == "input"]
    return array(substitute(list(total.flat), {name: graph.input(name) for name in names})).reshape(4, 4)


def _own(graph: Graph, joint: JointProgram) -> dict[Any, Scalar]:
    """A joint's inputs as they are named in a graph."""
    own = {(x, i): graph.input((x, i)) for x, n in (("q", joint.nq), ("v", joint.nv)) for i in range(n)}
    return own | {("parameter", p): graph.input(("parameter", p)) for p in joint.parameters}


def _carried(graph: Graph, scalars: Sequence[Scalar]) -> np.ndarray:
    names = [n.args[0] for n in reachable(scalars) if n.op == "input"]
    return array(substitute(list(scalars), {name: graph.input(name) for name in names}))
