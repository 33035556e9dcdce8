"""Why some pairs of surfaces do not determine where they touch: their relative curvature."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Graph
from recursive_dyn.graph.traversal import evaluate
from recursive_dyn.joint import joint_program as core
from recursive_dyn.joint.joint_check import dependence, samples
from scene.joints.parametric_joint import Joint
from scene.joints.surfaces.gliding import frame_factors
from scene.joints.surfaces.surface import Surface
from scene.joints.surfaces.surface_contact import SurfaceContact

_FLAT = 1e-9  # relative to the curvatures themselves; a surface flatter than this, 1/m, is a plane


def check_contact(joint: Joint, body: str, parameters: Mapping[str, float]) -> None:
    """Refuse a joint of two surfaces whose coordinates depend on each other everywhere; ModelError tells why.

    A joint without ``contact``, and what is wrong for other reasons, is passed over.
    """
    joint = joint.of_one_chart
    program = joint.program.split[1]
    if joint.contact is None or program.parameters - parameters.keys():
        return
    try:
        rank, _ = dependence(program, joint.coordinates, parameters)
    except ModelError:  # a constant that is not finite: told with the joint's other problems
        return
    if not 0 <= rank < program.nv:
        return
    inputs = samples(program, joint.coordinates, parameters)
    reason = _reason(joint.contact, inputs, parameters)
    if reason:
        counts = f"its {program.nv} coordinates move it in {rank} independent ways only, everywhere"
        raise ModelError(f"joint of '{body}': {counts}: {reason}")


def _reason(contact: SurfaceContact, inputs: Mapping[Any, np.ndarray], parameters: Mapping[str, float]) -> str | None:
    """Why the contact point is not determined, and what would help; None where it is, by the curvatures alone."""
    free, flat = _undetermined(contact, inputs, parameters)
    if free == 0:
        return None
    where = "" if free == 2 else " in one direction"
    reason = f"the surfaces have the same curvature there{where}: the contact point is not determined"
    if flat:
        return f"{reason}; a flat surface gliding on another is joints.planar"
    others = {
        "flip one to touch from outside (flip=True)": replace(contact, flip=True),
        "turn one about the normal (turn=)": replace(contact, turn=contact.turn + 1.0),
    }
    helps = [words for words, other in others.items() if _undetermined(other, inputs, parameters)[0] < free]
    return f"{reason}; {' or '.join([*helps, 'choose another size or another surface'])}"


def _undetermined(
    contact: SurfaceContact, inputs: Mapping[Any, np.ndarray], parameters: Mapping[str, float]
) -> tuple[int, bool]:
    """(directions in which the contact point is free wherever the surfaces touch, whether both are flat)."""
    gap, own = relative_curvature(contact, inputs, parameters)
    known = np.isfinite(gap).all(axis=(1, 2))
    if not known.any():
        return 0, False
    gap, own = gap[known], own[known]
    size = max(np.abs(own).max(), np.abs(gap).max())
    free = 2 - int((np.abs(np.linalg.eigvalsh(gap)) > _FLAT * size).sum(axis=1).max())
    return free, free == 2 and bool(np.abs(own).max() <= _FLAT)


def relative_curvature(
    contact: SurfaceContact, inputs: Mapping[Any, np.ndarray], parameters: Mapping[str, float]
) -> tuple[np.ndarray, np.ndarray]:
    """(curvature of the gap between the surfaces, of the first surface), 1/m, (points, 2, 2) each in its frame.

    Where the former is singular, the contact point can move while the bodies do not.
    """
    own = _curvature(contact.first, inputs, 0, parameters)
    other = _curvature(contact.second, inputs, 2, parameters)
    angle = contact.turn + (inputs["q", 4] if contact.spins else np.zeros(len(own)))
    side = -1.0 if contact.flip else 1.0
    c, s = np.cos(angle), np.sin(angle)
    T = np.stack([np.stack([c, -s * side], axis=-1), np.stack([s, c * side], axis=-1)], axis=-2)
    return own - side * (T @ other @ np.swapaxes(T, 1, 2)), own


def _curvature(
    surface: Surface, inputs: Mapping[Any, np.ndarray], place: int, parameters: Mapping[str, float]
) -> np.ndarray:
    """Second fundamental form (points, 2, 2) in the tangent frame: n-dot = -K v (Weingarten)."""
    graph = Graph()
    S = core.build(graph, frame_factors(graph, surface, 0)).kinematics().subspace
    own = {("q", i): inputs["q", place + i] for i in range(2)} | {("parameter", p): x for p, x in parameters.items()}
    points = np.size(own["q", 0])
    values = [np.broadcast_to(x, (points,)) for x in evaluate(list(S.flat), own)]
    table = np.stack(values, axis=-1).reshape(points, 6, 2).astype(float)
    regular = np.isfinite(table).all(axis=(1, 2)) & (np.linalg.det(table[:, 3:5]) != 0.0)
    table[~regular] = np.nan
    normal_rate = np.stack([table[:, 1], -table[:, 0]], axis=1)
    return -normal_rate @ np.linalg.inv(table[:, 3:5])
