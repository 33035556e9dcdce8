"""What was hung anew goes on from where it was, as it moved, as far as its new joint lets it.

Coordinates: those at which the joint comes nearest to the pose that the body had; all others stay as they are.
Velocity: where the joint has the body's twist, exactly that, and nothing else changes. Where it has not, the velocity
of its tree is the one nearest to how all its bodies moved, in the metric of kinetic energy: M v = J^T (momenta of the
bodies). This is what the impulse of an inelastic closing of the joint makes of it, so that energy never rises.
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
from recursive_dyn.model.own_masses import own_masses
from recursive_dyn.simulation.edits.edit import GONE, Edit
from recursive_dyn.spatial.algebra import applied

Frames = tuple[np.ndarray, np.ndarray]  # poses (nb, 4, 4) and twists (nb, 6), world axes


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


def carry_motion(edit: Edit, moved: Sequence[int], was: Frames, q: np.ndarray, v: np.ndarray) -> None:
    """Write into q (nq,) and v (nv,) of the new dynamics, which hold what is known by name, what goes on of bodies that
    were hung anew; was: of all bodies of the old dynamics."""
    new, before = edit.new, numbers_before(edit)
    held, waiting = [], list(moved)
    while waiting:  # those whose parents are where they will be
        last = set(waiting)
        ready = [k for k in waiting if not last.intersection(_towards_world(new.model, k)[1:])]
        poses, twists = _frames(new, q, v)
        wanted = {k: (was[0][before[k]], was[1][before[k]]) for k in ready}
        held += [k for k in ready if not _placed(new, k, wanted[k], (poses, twists), q, v)]
        waiting = [k for k in waiting if k not in wanted]
    if held:
        _project(edit, held, before, was, q, v)


def _hung(model: Model, index: int) -> tuple[object, ...]:
    body = model.bodies[index]
    parent = "" if body.parent == WORLD else model.bodies[body.parent].name
    link = model.links[body.link] if body.jointed else None
    return parent, link and (link.joint.key, tuple(model.coordinates[s].name for s in link.slots))


def _towards_world(model: Model, index: int) -> list[int]:
    result = []
    while index != WORLD:
        result.append(index)
        index = model.bodies[index].parent
    return result


def numbers_before(edit: Edit) -> np.ndarray:
    """By number now (nb,) the number before, GONE of what is new."""
    result = np.full(edit.new.model.nb, GONE)
    old = (edit.bodies >= 0).nonzero()[0]
    result[edit.bodies[old]] = old
    return result


def _frames(dynamics: Dynamics, q: np.ndarray, v: np.ndarray) -> Frames:
    count = dynamics.model.nb
    result = dynamics.call("frames", q, v)
    poses, twists = result[..., : 16 * count], result[..., 16 * count : 22 * count]
    lead = result.shape[:-1]
    return poses.reshape(*lead, count, 4, 4), twists.reshape(*lead, count, 6)


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


def _project(edit: Edit, held: Sequence[int], before: np.ndarray, was: Frames, q: np.ndarray, v: np.ndarray) -> None:
    """The velocity of trees with bodies that cannot move as they did, nearest to how all their bodies moved."""
    new, model = edit.new, edit.new.model
    roots = {_towards_world(model, k)[-1] for k in held}
    bodies = [k for k in range(model.nb) if _towards_world(model, k)[-1] in roots]
    links = {model.bodies[k].link for k in bodies} - {WORLD}
    slots = sorted({slot for i in links for slot in model.links[i].slots})
    poses, twists = _frames(new, q, v)
    known = own_masses(model, dict(new.parameters))
    # (slots, nb, 6): twists of unit velocities, one by one: no other code is made for a single edit
    J = np.array([_frames(new, q, unit)[1] for unit in np.eye(model.nv)[slots]]).reshape(-1, model.nb, 6)
    rotor = np.array([model.coordinates[slot].armature for slot in slots])
    fresh = {slot for k in held if model.bodies[k].jointed for slot in model.links[model.bodies[k].link].slots}
    M, p = np.diag(rotor), rotor * [0.0 if slot in fresh else v[slot] for slot in slots]
    R, masses = poses[bodies, :3, :3], known.masses[bodies]
    arms, inertias = applied(R, known.centers[bodies]), R @ known.inertias[bodies] @ np.swapaxes(R, 1, 2)
    omega, linear = twists[bodies, :3], twists[bodies, 3:] + np.cross(twists[bodies, :3], arms)
    old = before[bodies]
    stayed = (old != GONE).nonzero()[0]
    X, V = was[0][old[stayed], :3, :3], was[1][old[stayed]]
    omega[stayed] = applied(R[stayed] @ np.swapaxes(X, 1, 2), V[:, :3])
    linear[stayed] = V[:, 3:] + np.cross(V[:, :3], applied(X, known.centers[bodies][stayed]))
    turning = J[:, bodies, :3]
    moving = J[:, bodies, 3:] + np.cross(turning, arms)
    momenta = np.einsum("smi,mij->smj", turning, inertias)
    M = M + np.einsum("smi,tmi->st", momenta, turning) + np.einsum("smi,m,tmi->st", moving, masses, moving)
    p = p + np.einsum("smi,mi->s", momenta, omega) + np.einsum("smi,m,mi->s", moving, masses, linear)
    v[slots] = np.linalg.solve(M, p) if slots else v[slots]


def _number(values: np.ndarray, inputs: Mapping[Any, float]) -> np.ndarray:
    flat = np.asarray(values, dtype=object)
    return np.array(evaluate(list(flat.flat), inputs), dtype=float).reshape(flat.shape)


def _inverse(pose: np.ndarray) -> np.ndarray:
    result = np.eye(4)
    result[:3, :3], result[:3, 3] = pose[:3, :3].T, -pose[:3, :3].T @ pose[:3, 3]
    return result
