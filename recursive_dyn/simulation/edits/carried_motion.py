"""What was hung anew goes on from where it was, as it moved, as far as its new joint lets it.

Coordinates: those at which the joint comes nearest to the pose that the body had; all others stay as they are.
Velocity: where the joint has the body's twist, exactly that, and nothing else changes. Where it has not, joints close
(``closing``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.graph.traversal import evaluate
from recursive_dyn.joint.charted_program import CHART
from recursive_dyn.joint.nearest_point import MET, nearest_point
from recursive_dyn.model.model import WORLD, Link, Model
from recursive_dyn.simulation.edits.closing import Frames, close_joints, frames, towards_world
from recursive_dyn.simulation.edits.edit import GONE, Edit
from recursive_dyn.simulation.report import Closed


def hung_anew(edit: Edit) -> list[int]:
    """Numbers now of bodies that stayed, and hang by another act of attachment than before; parents first.

    Where the dynamics are of different scenes, or of no scene: those on another parent, or with other coordinates.
    """
    if edit.shifts:
        return []
    before, after = edit.old.hanging, edit.new.hanging
    if before.scene is not None and before.scene is after.scene:
        acts, known = np.array(before.acts), np.array(after.acts)
        stay = (edit.bodies >= 0).nonzero()[0]
        now = edit.bodies[stay]
        return sorted(now[acts[stay] != known[now]].tolist())
    stay = (edit.bodies >= 0).nonzero()[0]
    rows = list(zip(stay.tolist(), edit.bodies[stay].tolist(), strict=True))
    return sorted(now for old, now in rows if _hung(edit.old.model, old) != _hung(edit.new.model, now))


def carry_motion(
    edit: Edit, moved: Sequence[int], was: Frames, q: np.ndarray, v: np.ndarray, touched: set[int]
) -> Closed:
    """Write into q (nq,) and v (nv,) of the new dynamics, which hold what is known by name, what goes on of bodies that
    were hung anew; was: of all bodies of the old dynamics, touched: those of them that something pushed."""
    new, before = edit.new, numbers_before(edit)
    held, waiting = [], list(moved)
    while waiting:  # those whose parents are where they will be
        last = set(waiting)
        ready = [k for k in waiting if not last.intersection(towards_world(new.model, k)[1:])]
        poses, twists = frames(new, q, v)
        wanted = {k: (was[0][before[k]], was[1][before[k]]) for k in ready}
        held += [k for k in ready if not _placed(new, k, wanted[k], (poses, twists), q, v)]
        waiting = [k for k in waiting if k not in wanted]
    return close_joints(edit, held, before, was, q, v, touched) if held else Closed()


def _hung(model: Model, index: int) -> tuple[object, ...]:
    body = model.bodies[index]
    parent = "" if body.parent == WORLD else model.bodies[body.parent].name
    link = model.links[body.link] if body.jointed else None
    return parent, link and (link.joint.key, tuple(model.coordinates[s].name for s in link.slots))


def numbers_before(edit: Edit) -> np.ndarray:
    """By number now (nb,) the number before, GONE of what is new."""
    result = np.full(edit.new.model.nb, GONE)
    old = (edit.bodies >= 0).nonzero()[0]
    result[edit.bodies[old]] = old
    return result


def _placed(dynamics: Dynamics, index: int, wanted: Frames, now: Frames, q: np.ndarray, v: np.ndarray) -> bool:
    """Put a body's own joint where the body is wanted, and have it move so; whether it can."""
    model = dynamics.model
    body = model.bodies[index]
    if not body.jointed:
        return _same(wanted, (now[0][index], now[1][index]))
    link = model.links[body.link]
    if link.drive is not None or len(link.slots) != link.joint.nv or _shared(model, body.link):
        return _same(wanted, (now[0][index], now[1][index]))
    values: dict[Any, float] = {("parameter", name): x for name, x in dynamics.parameters.items()}
    X_BL = _inverse(_number(body.pose, values))
    X_WF, V_F = _frame_of(model, link, body.parent, now, values)  # the frame in which the joint starts
    X_WL = wanted[0] @ X_BL
    places, slots = list(link.places), list(link.slots)
    offset = float(_number(np.array([link.offset], dtype=object), values)[0])
    inputs = dict(values) if link.chart is None else values | {CHART: values["parameter", link.chart]}
    limits = np.array([model.coordinates[s].limits for s in slots]).reshape(-1, 2) + offset
    point = nearest_point(link.joint, inputs, _inverse(X_WF) @ X_WL, q[places] + offset, limits)
    q[places] = point.q - offset
    X = X_WF @ point.pose  # of the link, where it is put
    turn = X[:3, :3] @ X_WL[:3, :3].T
    omega = turn @ wanted[1][:3]
    linear = wanted[1][3:] + np.cross(omega, turn @ (X_WL[:3, 3] - wanted[0][:3, 3]))
    carried = V_F[3:] + np.cross(V_F[:3], X[:3, 3] - X_WF[:3, 3])
    twist = np.concatenate([X[:3, :3].T @ (omega - V_F[:3]), X[:3, :3].T @ (linear - carried)])
    v[slots] = np.linalg.lstsq(point.S, twist, rcond=1e-12)[0]
    missed = np.abs(point.S @ v[slots] - twist).max(initial=0.0)
    still = any(model.coordinates[s].armature for s in slots)  # a new rotor, which is to be set going
    return point.missed < MET and not still and bool(missed <= MET * max(1.0, np.abs(twist).max()))


def _shared(model: Model, index: int) -> bool:
    own = set(model.links[index].slots)
    return any(own & set(link.slots) for i, link in enumerate(model.links) if i != index)


def _same(a: Frames, b: Frames) -> bool:
    return all(bool(np.abs(x - y).max() <= MET * max(1.0, np.abs(x).max())) for x, y in zip(a, b, strict=True))


def _frame_of(model: Model, link: Link, parent: int, now: Frames, values: Mapping[Any, float]) -> Frames:
    """Pose and twist of the frame in which a link's joint starts, whose body hangs on ``parent``."""
    placement = _number(link.placement, values)
    if link.parent == WORLD:
        return placement, np.zeros(6)
    X = now[0][parent] @ _inverse(_number(model.bodies[parent].pose, values)) @ placement
    omega = now[1][parent, :3]
    return X, np.concatenate([omega, now[1][parent, 3:] + np.cross(omega, X[:3, 3] - now[0][parent, :3, 3])])


def _number(values: np.ndarray, inputs: Mapping[Any, float]) -> np.ndarray:
    flat = np.asarray(values, dtype=object)
    return np.array(evaluate(list(flat.flat), inputs), dtype=float).reshape(flat.shape)


def _inverse(pose: np.ndarray) -> np.ndarray:
    result = np.eye(4)
    result[:3, :3], result[:3, 3] = pose[:3, :3].T, -pose[:3, :3].T @ pose[:3, 3]
    return result
