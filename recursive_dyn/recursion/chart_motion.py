"""How joints of several charts move, in the chart in force: where they are, and what each coordinate moves."""

from __future__ import annotations

from recursive_dyn.graph.expression import Scalar
from recursive_dyn.recursion.kinematics import Tree
from recursive_dyn.spatial.rotations import quaternion_of_entries


def chart_motion(tree: Tree) -> list[Scalar]:
    """Of each joint of several charts the quaternion of its transform, the angular rows of S (3, d), the transform's
    position, and the linear rows of S (3, d)."""
    flat: list[Scalar] = []
    for k in tree.links:
        if k.link.chart is not None:
            placement = tree.scalars(k.link.placement)
            back = placement[:3, :3].T
            R, p = back @ k.displacement.matrix, back @ (k.displacement.p - placement[:3, 3])
            flat += [*quaternion_of_entries(*R.flat), *k.S[:3].flat, *p, *k.S[3:].flat]
    return flat
