"""Si & Guenter's Method II: recursions 1-3 as one compiled program, recursions 4-6 numeric, link by link in NumPy.

The program puts out, per link, the displacement R, p in the parent, S and the inertia J, and tau-bar (eq. 26); NumPy
carries the articulated inertias inward, with LAPACK's solver for Omega (eq. 27-33), and the accelerations outward
(eq. 34-35).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recursive_dyn.codegen.kernel import Kernel, SingleCall
from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Graph, Scalar, array
from recursive_dyn.graph.program import Program, schedule
from recursive_dyn.model.model import WORLD, Model
from recursive_dyn.recursion.inverse_dynamics import inverse_dynamics
from recursive_dyn.recursion.kinematics import LinkKinematics, Tree
from recursive_dyn.spatial.algebra import skew


def symbolic_part(model: Model) -> Program:
    """Recursions 1-3 (eq. 18-26) as a program (q, v, tau) -> (R, p, S, J, tau-bar), links after one another."""
    slots = [slot for link in model.links for slot in link.slots]
    if len(slots) != len(set(slots)):
        raise ModelError("Method II is for joints with coordinates of their own; compile the scene instead")
    graph = Graph()
    tree = Tree(model, graph)
    bias = inverse_dynamics(tree, None)
    outputs: list[tuple[str, Sequence[Scalar]]] = [
        ("R", [x for k in tree.links for x in k.displacement.matrix.flat]),
        ("p", [x for k in tree.links for x in k.displacement.p]),
        ("S", [x for k in tree.links for x in k.S.flat]),
        ("J", [x for k in tree.links for x in _inertia(k).flat]),
        ("tau_bar", [t - b for t, b in zip(graph.inputs("tau", model.nv), bias, strict=True)]),
    ]
    sizes = [("q", model.nq), ("v", model.nv), ("tau", model.nv), ("parameters", len(model.parameters))]
    return schedule("method_two", sizes, outputs)


def _inertia(k: LinkKinematics) -> np.ndarray:
    """J (6, 6) of one link about its origin (eq. 5)."""
    J = array(np.zeros((6, 6)))
    first = skew(k.moments.first)
    J[:3, :3], J[:3, 3:], J[3:, :3] = k.moments.inertia, first, first.T
    for i in range(3, 6):
        J[i, i] = k.moments.mass
    return J


class MethodTwo:
    """Forward dynamics of one model at its parameters' initial values."""

    def __init__(self, model: Model) -> None:
        kernel = Kernel(f"{model.key} method two", lambda: symbolic_part(model), 1)
        self._symbolic = SingleCall(kernel)
        self._ends = np.cumsum([size for _, size in kernel.outputs])[:-1]
        self._parameters = np.array([value for _, value in model.parameters])
        self._parents = [link.parent for link in model.links]
        self._slots = [list(link.slots) for link in model.links]
        self._starts = np.cumsum([0] + [6 * len(slots) for slots in self._slots])
        self._rotors = [np.diag([model.coordinates[s].armature for s in slots]) for slots in self._slots]
        self._nv = model.nv

    def forward_dynamics(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """Accelerations (nv,)."""
        n = len(self._parents)
        R, p, S, J, tau_bar = np.split(self._symbolic([q, v, tau, self._parameters]), self._ends)
        columns = [S[a:b].reshape(6, -1) for a, b in zip(self._starts[:-1], self._starts[1:], strict=True)]
        return self._numeric(_adjoints(R.reshape(n, 3, 3), p.reshape(n, 3)), columns, J.reshape(n, 6, 6), tau_bar)

    def _numeric(self, Ad: np.ndarray, S: list[np.ndarray], J: np.ndarray, tau_bar: np.ndarray) -> np.ndarray:
        """Recursions 4-6; J becomes the articulated inertias (eq. 27)."""
        n = len(self._parents)
        z, gains, rates = np.zeros((n, 6)), [J] * n, [tau_bar] * n
        for k in reversed(range(n)):
            U = J[k] @ S[k]
            omega = S[k].T @ U + self._rotors[k]  # eq. 28
            c = tau_bar[self._slots[k]] - S[k].T @ z[k]  # eq. 32
            solved = np.linalg.solve(omega, np.column_stack((U.T, c)))
            gains[k], rates[k] = solved[:, :6], solved[:, 6]  # Omega^-1 S^T J, and c-bar (eq. 33)
            parent = self._parents[k]
            if parent != WORLD:
                inward = Ad[k].T
                left = J[k] - U @ gains[k]
                left += left.T  # symmetric to the last bit: what rounding leaves askew grows from link to link
                J[parent] += inward @ (0.5 * left) @ Ad[k]  # eq. 27
                z[parent] += inward @ (z[k] + U @ rates[k])  # eq. 29-31
        acceleration, eta = np.empty(self._nv), np.zeros((n, 6))
        for k, parent in enumerate(self._parents):
            carried = Ad[k] @ eta[parent] if parent != WORLD else eta[k]
            own = rates[k] - gains[k] @ carried  # eq. 35
            acceleration[self._slots[k]] = own
            eta[k] = carried + S[k] @ own  # eq. 34
        return acceleration


def _adjoints(R: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Ad_{f^-1} (n, 6, 6) of every link: twists of the parent frame seen from the link (eq. 2)."""
    Ad = np.zeros((len(R), 6, 6))
    inverse = R.swapaxes(1, 2)
    Ad[:, :3, :3] = Ad[:, 3:, 3:] = inverse
    Ad[:, 3:, :3] = np.cross(p[:, None, :], inverse)  # -R^T [p]: each row r of R^T becomes p x r
    return Ad
