"""The solve for accelerations at a state, written down once for all timesteps of a model.

They differ in forces, and in what dampers and springs of joints add to the diagonal of M. Both are inputs here, which
each function binds to what they are in it (``graph.listing``).
"""

from __future__ import annotations

from collections.abc import Sequence

from recursive_dyn.graph.expression import Expression, Scalar, is_constant
from recursive_dyn.recursion.equations.forward_dynamics import free_motion
from recursive_dyn.recursion.kinematics import Tree


class CommonSolve:
    """Factors of M and L^-T (tau - bias) of a tree, and the accelerations where it has no constraints, under forces
    (nv,) that are inputs, and with inputs on the diagonal where joints have dampers or springs.

    nodes: indices of its first one, and of the first behind it.
    """

    def __init__(self, tree: Tree) -> None:
        graph, model = tree.graph, tree.model
        first = len(graph)
        self.tree = tree
        self._forces, added = (graph.inputs(name, model.nv) for name in ("bound forces", "bound diagonal"))
        soft = [bool(c.damping or c.stiffness) for c in model.coordinates]
        self._diagonal = [x if here else 0.0 for x, here in zip(added, soft, strict=True)]
        self.factors, self.c = free_motion(tree, list(self._forces), self._diagonal)
        self.a: list[Scalar] = [] if model.constraints else tree.accelerated(self.factors.expand(self.c))
        self.nodes = first, len(graph)

    def bind(
        self, bound: dict[Expression, Scalar], forces: Sequence[Scalar], diagonal: Sequence[Scalar] | None
    ) -> bool:
        """Whether it stands for the solve under these forces and with this diagonal, None for nothing: where they are
        no numbers, which would fold, and it stands for no other. What its inputs are is added to ``bound``."""
        given = [*forces, *([0.0] * len(self._diagonal) if diagonal is None else diagonal)]
        own = dict[Expression, Scalar]()
        for x, value in zip([*self._forces, *self._diagonal], given, strict=True):
            if is_constant(x) is not is_constant(value) or (is_constant(x) and value != 0.0):
                return False
            if not is_constant(x):
                own[x] = value
        if any(bound.get(x, value) is not value for x, value in own.items()):
            return False
        bound.update(own)
        return True
