"""One kind of joint as the rows that it is on its bodies' twists: all of ``joint_rows`` in one program, for many lanes.

Coordinates are followed from where they are expected to be by Gauss-Newton steps, as many as a joint needs that moved
for one timestep; how far from still the last one was says whether that was enough.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from recursive_dyn.codegen.function_list import Signature
from recursive_dyn.graph.expression import Graph, Scalar, array, is_constant, less, reciprocal, select, sqrt
from recursive_dyn.graph.program import Program, schedule
from recursive_dyn.joint.charted_program import CHART
from recursive_dyn.joint.joint_program import JointKinematics, JointProgram
from recursive_dyn.maximal.kinds.timed_joints import moving_columns
from recursive_dyn.spatial.algebra import cross, inverse_pose
from recursive_dyn.spatial.rotations import rotation_log, screw_log
from recursive_dyn.spatial.spaces import RigidMotion

ROWS = "rows"

# Gauss-Newton steps from where a joint was, and rad or m that one more may still be. Where S is the same everywhere
# so are the rows, and C is wrong by the share of itself that q is; elsewhere rows turn with q.
SAME, TURNING = (1, 1e-7), (2, 1e-10)


class RowFunctions:
    """Functions of a joint G(q) for an Evaluator; ``parameters``: names of all of the scene's; ``time``: which of its
    coordinates is time, -1 for none; ``chart``: the parameter that says which chart is in force, None for a joint of
    one.

    "rows" of q (nq,), where to follow it from; of the bodies' positions and quaternions (7,), twists (6,); and of the
    frames X_AP, X_CB (12,), their first three rows: coefficients of parent and child (36,) and C (6,) as in JointRows,
    the rows' rates (6,), what these grow by in a unit of time while the components of the bodies' twists stay (6,), q
    (nq,) and left (nv,), by which another Gauss-Newton step would change it.
    """

    owner = "this joint needs"

    def __init__(
        self, joint: JointProgram, parameters: Sequence[str], time: int = -1, chart: str | None = None
    ) -> None:
        self.joint, self.parameters, self.time, self.chart = joint, tuple(parameters), time, chart
        self._moving = moving_columns(joint, time)

    def __reduce__(self) -> Any:
        return RowFunctions, (self.joint, self.parameters, self.time, self.chart)

    @property
    def still(self) -> float:
        """How large ``left`` may be, rad or m, where a joint was followed far enough."""
        return self._steps[1]

    @cached_property
    def _steps(self) -> tuple[int, float]:
        return SAME if all(map(is_constant, self.joint.kinematics().subspace.flat)) else TURNING

    @property
    def inputs(self) -> list[tuple[str, int]]:
        """Names and sizes of what it is a function of, without parameters."""
        bodies = {"pose": 7, "twist": 6, "frame": 12}
        given = [(f"{whose} {what}", n) for what, n in bodies.items() for whose in ("parent", "child")]
        return [("q", self.joint.nq), *given]

    def signature(self, function: str) -> Signature:
        """Of all outputs together."""
        return Signature(tuple(self.inputs), (90 + self.joint.nq + self.joint.nv,))

    def key(self, function: str) -> str:
        """The joint's content hash, and where its parameters are found."""
        own = [
            (k, name) for k, name in enumerate(self.parameters) if name in self.joint.parameters or name == self.chart
        ]
        return f"joint {self.joint.key} {function} {len(self.parameters)} {own} {self.time}"

    def build(self, function: str) -> Program:
        """The function's program."""
        graph = Graph()
        q, parent, child, before, after, first, second = (graph.inputs(name, n) for name, n in self.inputs)
        space, in_parent, in_child = RigidMotion(), _pose(first), _pose(second)
        X = inverse_pose(space.pose(parent) @ in_parent) @ space.pose(child) @ inverse_pose(in_child)
        for _ in range(self._steps[0] if self._moving else 0):
            q = self._moved(q, self._still(graph, q, X)[1])
        basis, left, error, pace = self._still(graph, q, X)
        count = 6 - len(self._moving)
        A, B = _carried_back(in_parent @ X), _carried_back(inverse_pose(in_child))
        on_parent, on_child = -(basis @ A), basis @ B
        carried = A @ before
        relative = B @ after - carried
        rates = basis @ (relative - pace)
        c = self._kinematics(graph, q, self._all(rates[count:], 1.0)).bias - _bracket(relative, carried)
        outputs = {
            "parent": on_parent.flat, "child": on_child.flat,
            "errors": [*(basis @ error)[:count], *[0.0] * (6 - count)], "rates": rates,
            "drift": on_child @ _turned(after) + on_parent @ _turned(before) + basis @ c, "q": q, "left": left,
        }  # fmt: skip
        given = [*self.inputs, ("parameters", len(self.parameters))]
        return schedule(function, given, [(name, list(x)) for name, x in outputs.items()])

    def _kinematics(self, graph: Graph, q: np.ndarray, v: Sequence[Scalar] | np.ndarray) -> JointKinematics:
        inputs: dict[Any, Scalar] = {("q", i): x for i, x in enumerate(q)} | {("v", i): x for i, x in enumerate(v)}
        inputs |= {("parameter", name): graph.input(("parameters", k)) for k, name in enumerate(self.parameters)}
        if self.chart is not None:
            inputs[CHART] = graph.input(("parameters", self.parameters.index(self.chart)))
        return self.joint.kinematics().instantiate(inputs)

    def _all(self, moving: Sequence[Scalar], time: Scalar) -> np.ndarray:
        """Numbers (nv,) of all coordinates, of those that are not time's and its own."""
        result = array([time] * self.joint.nv)
        result[self._moving] = moving
        return result

    def _still(self, graph: Graph, q: np.ndarray, X: np.ndarray) -> tuple[np.ndarray, ...]:
        """Rows N^T and S^+ (6, 6) at q, S^+ E (nv,), E = log(G^-1 X), and the twist that time makes (6,)."""
        known = self._kinematics(graph, q, [0.0] * self.joint.nv)
        away = inverse_pose(known.pose) @ X
        omega = rotation_log(away[:3, :3])
        error = array([*omega, *screw_log(omega, away[:3, 3])])
        across, back = complement_and_inverse(known.subspace[:, self._moving])
        left = self._all(back @ error if len(back) else [], 0.0)
        pace = known.subspace[:, self.time] if self.time >= 0 else array(np.zeros(6))
        return array([*across, *back]).reshape(6, 6), left, error, pace

    def _moved(self, q: np.ndarray, step: np.ndarray) -> np.ndarray:
        result: list[Scalar] = []
        for f in self.joint.factors:
            point, way = q[f.first_q : f.first_q + f.nq], step[f.first_v : f.first_v + f.nv]
            result += list(array(f.space.exp(point, way))) if f.nv else []
        return array(result)

    def kernel(self, function: str, report: Callable[[float], None] | None) -> None:
        """None: every function has one program."""

    def driver(self, function: str) -> None:
        """None: there is no loop around any."""

    def label(self, segment: str, index: int) -> str:
        """Name of one number, for messages."""
        return f"{segment} {index}"


def complement_and_inverse(S: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(N^T (m - k, m), S^+ (k, m)): orthonormal rows at right angles to the columns of S (m, k), and its inverse.

    Householder, Unitary triangularization of a nonsymmetric matrix (1958); numbers give numbers.
    """
    k = S.shape[1]
    if all(is_constant(x) for x in S.flat):
        numbers = S.astype(float)
        Q, R = np.linalg.qr(numbers, mode="complete")
        return array(Q[:, k:].T), array(np.linalg.solve(R[:k], Q[:, :k].T) if k else np.zeros((0, len(S))))
    R, Qt = S.copy(), array(np.eye(len(S)))
    for j in range(k):
        x = R[j:, j]
        length = sqrt(sum((e * e for e in x[1:]), x[0] * x[0]))
        sign = select(less(x[0], 0.0), -1.0, 1.0)
        v = array([x[0] + sign * length, *x[1:]])
        scale = reciprocal(length * (length + sign * x[0]))  # 2 / v.v
        for M in (R, Qt):
            M[j:] = M[j:] - np.outer(v, (v @ M[j:]) * scale)
    back = Qt[:k].copy()
    for i in reversed(range(k)):
        for m in range(i + 1, k):
            back[i] = back[i] - back[m] * R[i, m]
        back[i] = back[i] * reciprocal(R[i, i])
    return Qt[k:], back


def _pose(rows: np.ndarray) -> np.ndarray:
    """The pose (4, 4) of its first three rows (12,)."""
    return array([*rows, 0.0, 0.0, 0.0, 1.0]).reshape(4, 4)


def _carried_back(X: np.ndarray) -> np.ndarray:
    """Ad of X^-1 (6, 6): twists in A's frame as they are in B's, for X_AB (4, 4)."""
    result, R = array(np.zeros((6, 6))), X[:3, :3].T
    result[:3, :3] = result[3:, 3:] = R
    result[3:, :3] = array([cross(X[:3, 3], row) for row in R])
    return result


def _bracket(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """ad_a b of twists (6,)."""
    turn = cross(a[:3], b[:3])
    return array([*turn, *(cross(a[:3], b[3:]) + cross(a[3:], b[:3]))])


def _turned(V: np.ndarray) -> np.ndarray:
    """[0; omega x v] of a twist (6,)."""
    return array([0.0, 0.0, 0.0, *cross(V[:3], V[3:])])
