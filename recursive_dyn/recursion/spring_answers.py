"""How springs of what is pressed on answer in a step of h: by its middle where the step resolves them, else by its end.

    pull = K (x + h (reach - share) v + h share v'),   reach = (1 + s) / 2,   share = (1 + 3 s) / 4

with v' the velocity at the step's end, impulses included, and positions that follow the mean of v and v': s = 0 is the
implicit midpoint rule, which keeps the energy of a spring, s = 1 backward Euler's, by which stiff feet come to rest.
s = (1 - (RINGING / z)^2)^4 from z = h sqrt(K / M) = RINGING on, 0 below, M what a spring moves where nothing is
pressed: a foot's, not that of the body on it. Whoever flies and whoever answers impulses need the same; but a blow
within a step meets M alone, and springs only as far as a step does not resolve them: they answer what bounces by s.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from recursive_dyn.graph.expression import Scalar, maximum, reciprocal
from recursive_dyn.recursion.equations.mass_matrix import carried
from recursive_dyn.recursion.kinematics import Tree

RINGING = 2.0  # z from which on springs are damped
_NONE = 1e-150  # s, kg or kg m^2, so that there is a reciprocal of none


class SpringAnswer(NamedTuple):
    """``reach`` and ``share``."""

    reach: Scalar
    share: Scalar


def holding(h: Scalar, ahead: Scalar) -> Scalar:
    """1 by a rule by which positions follow velocities h / 2 ``ahead``, as ``held_rk4``; 0 where that is h."""
    return (h - ahead) * 2.0 * reciprocal(maximum(h, _NONE))


def answer(square: Scalar, held: Scalar, bounces: Scalar = 0.0) -> SpringAnswer:
    """Of a spring of z^2 = ``square``; as backward Euler's where held is not 1 but 0; bounces: 1 if its tree does."""
    late = 1.0 - reciprocal(maximum(square, RINGING**2)) * RINGING**2
    late = late * late * late * late
    short = (1.0 - late) * held
    share = 1.0 - short * 0.75
    return SpringAnswer(1.0 - short * 0.5, share + (late - share) * bounces)


def joint_answers(
    tree: Tree, h: Scalar, held: Scalar, known: bool = True, bouncing: Sequence[Scalar] | None = None
) -> dict[int, SpringAnswer]:
    """By slot, those of joints' springs and balls'; known: whether the diagonal of M may be asked for; bouncing (nv,):
    1 where a coordinate's tree does."""
    stiffness = {s: joint.elasticity for s, joint in enumerate(tree.model.coordinates) if joint.elasticity}
    if not (known and stiffness):
        return dict.fromkeys(stiffness, SpringAnswer(1.0, 1.0))
    inertia = carried(tree)
    bounces = bouncing if bouncing is not None else [0.0] * tree.model.nv
    return {
        s: answer(reciprocal(maximum(inertia[s], _NONE)) * h * h * K, held, bounces[s]) for s, K in stiffness.items()
    }
