"""One link's share of recursions 1 and 2 of Si & Guenter (2011), eq. 18-23, as a program for all links of its kind.

A kind is a joint's transform: equal joints share a program, whose inputs are what the links differ by. The program is
what the joint makes of that symbolically; how long the chain is does not enter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from recursive_dyn.codegen.kernel import Kernel
from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Graph, Scalar, array, is_constant
from recursive_dyn.graph.program import Program, schedule
from recursive_dyn.joint.charted_program import CHART
from recursive_dyn.model.model import Link, MassMoments, Model
from recursive_dyn.recursion.equations.inverse_dynamics import LinkMotion, next_motion, required_wrench
from recursive_dyn.recursion.kinematics import LinkKinematics
from recursive_dyn.spatial.algebra import dot, skew
from recursive_dyn.spatial.displacement import Displacement

CONSTANTS = 26  # placement (R, p), offset, mass, first and second moment
MOTION = 18  # omega, alpha, a, W
# What a link's program puts out, one after the other: motion, wrench, R, p, the blocks of J, the columns of S
WRENCH, ROTATION, PLACE, INERTIA, COLUMNS = 18, 24, 33, 36, 63


@dataclass(frozen=True, eq=False)
class LinkKind:
    """A joint, and which parameters its program takes: positions in those of the model, in order; chart or not."""

    link: Link
    key: str
    parameters: tuple[str, ...]

    @staticmethod
    def of(link: Link) -> LinkKind:
        """The kind of a link; its parameters are inputs by the names that this link has for them."""
        own = [f"parameter {name}" for name in sorted(link.joint.parameters)]
        key = f"link of {link.joint.key} {link.chart is not None} {own} {_turned(link)}"
        named = tuple(sorted(link.joint.parameters)) + ((link.chart,) if link.chart is not None else ())
        return LinkKind(link, key, named)

    def kernel(self) -> Kernel:
        """Machine code of its program."""
        return Kernel(self.key, self._program, 1)

    def _program(self) -> Program:
        graph, link = Graph(), self.link
        constants, given = graph.inputs("constants", CONSTANTS), graph.inputs("parameters", len(self.parameters))
        q, v = graph.inputs("q", link.joint.nq), graph.inputs("v", link.joint.nv)
        parent = graph.inputs("parent", MOTION)
        own: dict[tuple[str, Any], Scalar] = {
            ("parameter", name): x for name, x in zip(self.parameters, given, strict=True)
        }
        if link.chart is not None:
            own[CHART] = given[-1]
        k = _kinematics(link, constants, q, v, own)
        motion = next_motion(k, LinkMotion(parent[:3], parent[3:6], parent[6:9], parent[9:].reshape(3, 3)), None)
        sizes = [("constants", CONSTANTS), ("parameters", len(given)), ("q", len(q)), ("v", len(v)), ("parent", MOTION)]
        return schedule("link", sizes, [("link", list(_outputs(k, motion)))])


def _turned(link: Link) -> bool:
    """Whether the link's coordinate has an offset: that of a joint of one."""
    return link.joint.nq == link.joint.nv == 1


def _kinematics(
    link: Link, constants: np.ndarray, q: np.ndarray, v: np.ndarray, own: dict[tuple[str, Any], Scalar]
) -> LinkKinematics:
    placement = array(np.eye(4))
    placement[:3, :3], placement[:3, 3] = constants[:9].reshape(3, 3), constants[9:12]
    if _turned(link):
        q = q + constants[12]
    inputs = {("q", i): x for i, x in enumerate(q)} | {("v", i): x for i, x in enumerate(v)} | own
    joint = link.joint.kinematics().instantiate(inputs)
    displacement = Displacement.product([placement, *joint.transforms])
    moments = MassMoments(constants[13], constants[14:17], constants[17:].reshape(3, 3))
    twist = array([dot(row, v) for row in joint.subspace])
    nothing = array(np.zeros(3))  # of mass and centre the recursion knows what the moments say
    return LinkKinematics(
        link, displacement, joint.subspace, twist, joint.bias, joint.rate, 0.0, nothing, nothing, moments
    )


def _outputs(k: LinkKinematics, motion: LinkMotion) -> Iterator[Scalar]:
    yield from (*motion.omega, *motion.alpha, *motion.a, *motion.W.flat)
    for part in required_wrench(k, motion):
        yield from part
    yield from (*k.displacement.matrix.flat, *k.displacement.p)
    first = skew(k.moments.first)
    yield from (*k.moments.inertia.flat, *first.flat, *(array(np.eye(3)) * k.moments.mass).flat)
    yield from k.S.T.flat


def constants_of(model: Model) -> list[Scalar]:
    """CONSTANTS numbers, or expressions of the parameters, of every link, and gravity (3,)."""
    flat: list[Scalar] = []
    for link in model.links:
        assert link.moments is not None
        m = link.moments
        flat += [*link.placement[:3, :3].flat, *link.placement[:3, 3], link.offset, m.mass, *m.first, *m.second.flat]
    return [*flat, *model.gravity]


def constant_numbers(model: Model) -> np.ndarray:
    """The same, zeros in place of expressions."""
    return np.array([x if is_constant(x) else 0.0 for x in constants_of(model)])


def refuse(model: Model) -> None:
    """ModelError for what the method has no recursion for."""
    advice = 'compile the scene with method="recursive", which takes it'
    if model.constraints:
        raise ModelError(f"method_two takes no constraints, as '{model.constraints[0].name}'; {advice}")
    if model.prescribed:
        raise ModelError(f"method_two takes no scene.time and no prescribed motion; {advice}")
    moved: dict[int, str] = {}
    for link in model.links:
        for slot in link.slots:
            if link.drive is not None or slot in moved:
                name = model.coordinates[slot].name
                raise ModelError(f"method_two takes no joint driven by others, as that of '{link.name}' by '{name}';"
                                 f" {advice}")  # fmt: skip
            moved[slot] = link.name
