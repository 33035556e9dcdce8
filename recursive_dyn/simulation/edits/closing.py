"""Joints that cannot be where bodies were, or move as these did, close as by an inelastic impulse.

The velocity of a tree is the one nearest to how all its bodies moved, in the metric of kinetic energy: M v = J^T p, p
their momenta. Where poses have jumped that is at other places. What floats keeps its momenta, then: its centre of mass
stays, by a rigid translation, and its spin, by a rigid motion, as far as that gives it no energy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.model.model import WORLD, Model
from recursive_dyn.model.own_masses import own_masses
from recursive_dyn.simulation.edits.edit import GONE, Edit
from recursive_dyn.simulation.report import Closed
from recursive_dyn.spatial.algebra import applied
from recursive_dyn.spatial.rotations import rotation_log

_Array = np.ndarray
Frames = tuple[_Array, _Array]  # poses (nb, 4, 4) and twists (nb, 6), world axes
_RIGID = 1e-8  # of a unit motion, by which it may miss one that is rigid, or a row of its size feel it


class _Moved(NamedTuple):
    """Bodies (m,) of trees that close, with ``slots`` (n,) of these, but led ones: J as turning and moving (n, m, 3),
    of centres of mass; their masses, inertias (m, 3, 3) and places now; how they moved (m, 3), turned along with the
    jump of their poses; places_then and turned (m, 3, 3) lead back; led (m, 6): what of that is given; M (n, n), and
    p (n,) of what is not; energy: twice the kinetic one of that, J."""

    bodies: _Array
    slots: list[int]
    turning: _Array
    moving: _Array
    masses: _Array
    inertias: _Array
    places: _Array
    places_then: _Array
    turned: _Array
    omega: _Array
    linear: _Array
    led: _Array
    M: _Array
    p: _Array
    energy: float


def towards_world(model: Model, index: int) -> list[int]:
    """A body's number, and those of all that it hangs on."""
    result = []
    while index != WORLD:
        result.append(index)
        index = model.bodies[index].parent
    return result


def frames(dynamics: Dynamics, q: _Array, v: _Array) -> Frames:
    """Of all bodies at a state."""
    count = dynamics.model.nb
    result = dynamics.call("frames", q, v)
    poses, twists = result[..., : 16 * count], result[..., 16 * count : 22 * count]
    lead = result.shape[:-1]
    return poses.reshape(*lead, count, 4, 4), twists.reshape(*lead, count, 6)


def close_joints(
    edit: Edit, held: Sequence[int], before: _Array, was: Frames, q: _Array, v: _Array, touched: set[int]
) -> Closed:
    """Write into v (nv,) how trees go on whose bodies ``held`` cannot be or move as they did; where these float, and
    nothing pushed them, into q (nq,), too, so that centres of mass stay.

    before (nb,): numbers of bodies then; was: where they were; touched: those of them that something pushed.
    """
    model = edit.new.model
    roots = sorted({towards_world(model, k)[-1] for k in held})
    trees = [[k for k in range(model.nb) if towards_world(model, k)[-1] == root] for root in roots]
    it = _moved(edit, [k for tree in trees for k in tree], held, before, was, q, v)
    if it.slots:
        v[it.slots] = np.linalg.solve(it.M, it.p)
        for tree in trees:
            _keep_momenta(edit, it, tree, before, q, v, touched)
    return _told(edit, it, held, before, was, q, v)


def _moved(
    edit: Edit, bodies: list[int], held: Sequence[int], before: _Array, was: Frames, q: _Array, v: _Array
) -> _Moved:
    """How bodies of trees moved, and can."""
    new, model = edit.new, edit.new.model
    links = {model.bodies[k].link for k in bodies} - {WORLD}
    slots = sorted({slot for i in links for slot in model.links[i].slots} - model.prescribed)
    poses, twists = frames(new, q, v)
    known = own_masses(model, dict(new.parameters))
    given, units = np.zeros(len(v)), np.eye(model.nv)[slots]
    given[sorted(model.prescribed)] = v[sorted(model.prescribed)]
    led = frames(new, q, given)[1]  # as it moves whatever closes
    # (slots, nb, 6): twists of unit velocities, one by one: no other code is made for a single edit
    J = np.array([frames(new, q, given + unit)[1] - led for unit in units]).reshape(-1, model.nb, 6)
    rotor = np.array([model.coordinates[slot].armature for slot in slots])
    fresh = {slot for k in held if model.bodies[k].jointed for slot in model.links[model.bodies[k].link].slots}
    spinning = np.array([0.0 if slot in fresh else v[slot] for slot in slots])
    R, masses = poses[bodies, :3, :3], known.masses[bodies]
    arms, inertias = applied(R, known.centers[bodies]), R @ known.inertias[bodies] @ np.swapaxes(R, 1, 2)
    omega, linear = twists[bodies, :3], twists[bodies, 3:] + np.cross(twists[bodies, :3], arms)
    old = before[bodies]
    stayed = (old != GONE).nonzero()[0]
    X, V = was[0][old[stayed], :3, :3], was[1][old[stayed]]
    omega[stayed] = applied(R[stayed] @ np.swapaxes(X, 1, 2), V[:, :3])
    linear[stayed] = V[:, 3:] + np.cross(V[:, :3], applied(X, known.centers[bodies][stayed]))
    led = led[bodies]
    led[:, 3:] += np.cross(led[:, :3], arms)
    turning = J[:, bodies, :3]
    moving = J[:, bodies, 3:] + np.cross(turning, arms)
    momenta = np.einsum("smi,mij->smj", turning, inertias)
    M = np.diag(rotor) + np.einsum("smi,tmi->st", momenta, turning)
    M = M + np.einsum("smi,m,tmi->st", moving, masses, moving)
    turned_by, moved_by = omega - led[:, :3], linear - led[:, 3:]
    p = np.einsum("smi,mi->s", momenta, turned_by) + np.einsum("smi,m,mi->s", moving, masses, moved_by)
    p = p + rotor * spinning
    energy = np.einsum("mi,mij,mj", turned_by, inertias, turned_by) + np.einsum("mi,m,mi", moved_by, masses, moved_by)
    energy += rotor @ spinning**2
    places, turned = poses[bodies, :3, 3] + arms, np.tile(np.eye(3), (len(bodies), 1, 1))
    then = places.copy()
    turned[stayed] = X @ np.swapaxes(R[stayed], 1, 2)
    then[stayed] = was[0][old[stayed], :3, 3] + applied(X, known.centers[bodies][stayed])
    return _Moved(
        np.array(bodies), slots, turning, moving, masses, inertias, places, then, turned, omega, linear, led, M, p,
        float(energy),
    )  # fmt: skip


def _keep_momenta(
    edit: Edit, it: _Moved, tree: Sequence[int], before: _Array, q: _Array, v: _Array, touched: set[int]
) -> None:
    """Let a tree that floats, and has the bodies that it had, keep the momenta and the centre of mass that it had."""
    own = np.isin(it.bodies, tree)
    masses, inertias = np.where(own, it.masses, 0.0), it.inertias * own[:, None, None]
    if not masses.any() or not _as_it_was(edit, tree, before):
        return
    center, then = masses @ it.places / masses.sum(), masses @ it.places_then / masses.sum()
    arms = it.places - center
    spins = np.einsum("smi,mij->sj", it.turning, inertias)
    spins += np.einsum("smi,m->si", np.cross(arms, it.moving), masses)
    A = np.hstack([spins, np.einsum("smi,m->si", it.moving, masses)])  # momenta (6,) are A^T v
    T = np.linalg.solve(it.M, A)  # of what floats its rigid motions: A = M T
    if not _rigid(it, T, own, arms) or not _unfelt(edit.new, q, it.slots, T):
        return
    spin = (it.turned @ inertias @ it.omega[:, :, None]).sum(axis=0)[:, 0]
    spin += masses @ np.cross(it.places_then - then, it.linear)
    led = (inertias @ it.led[:, :3, None]).sum(axis=0)[:, 0] + masses @ np.cross(arms, it.led[:, 3:])
    wanted = np.append(spin - led, masses @ (it.linear - it.led[:, 3:]))
    v[it.slots] = _with_momenta(it, own, T, A, wanted, v[it.slots])
    if not touched.intersection(before[list(tree)].tolist()):
        model, way = edit.new.model, np.zeros(len(v))
        places = [place for i in {model.bodies[k].link for k in tree} for place in model.links[i].places]
        way[it.slots] = T[:, 3:] @ (then - center)
        q[places] = edit.new.integrate(q, way, 1.0)[places]


def _as_it_was(edit: Edit, tree: Sequence[int], before: _Array) -> bool:
    """Whether a tree has the bodies of one that there was."""
    old, model = set(before[list(tree)].tolist()), edit.old.model
    if GONE in old:
        return False
    root = towards_world(model, min(old))[-1]
    return {k for k in range(model.nb) if towards_world(model, k)[-1] == root} == old


def _rigid(it: _Moved, T: _Array, own: _Array, arms: _Array) -> bool:
    """Whether velocities (n, 6) turn and shift a tree's bodies as one, along axes of the world, and nothing else."""
    turning, moving = (np.einsum("smi,sk->kmi", part, T) for part in (it.turning, it.moving))
    wanted_turning, wanted_moving = np.zeros_like(turning), np.zeros_like(moving)
    wanted_turning[:3], wanted_moving[3:] = np.eye(3)[:, None], np.eye(3)[:, None]
    wanted_moving[:3] = np.cross(np.eye(3)[:, None], arms)
    off = np.abs([turning - wanted_turning * own[:, None], moving - wanted_moving * own[:, None]]).max()
    return bool(off <= _RIGID * (1.0 + np.abs(arms[own]).max()))


def _unfelt(dynamics: Dynamics, q: _Array, slots: list[int], T: _Array) -> bool:
    """Whether no constraint feels these velocities (n, 6)."""
    if not dynamics.model.constraints:
        return True
    C = dynamics.constraint_jacobian(q)
    sizes = 1.0 + np.linalg.norm(C, axis=1)[:, None] * np.linalg.norm(T, axis=0)
    return bool((np.abs(C[:, slots] @ T) <= _RIGID * sizes).all())


def _with_momenta(it: _Moved, own: _Array, T: _Array, A: _Array, wanted: _Array, v: _Array) -> _Array:
    """Velocities (n,) with the momenta (6,) that a tree of bodies ``own`` had, by rigid motions T. Where that would
    give energy its bodies move less against each other; where it still does, it has what momenta it can have."""
    inner = np.where(it.turning[:, own].any(axis=(1, 2)) | it.moving[:, own].any(axis=(1, 2)), v, 0.0)
    inner = inner - T @ np.linalg.solve(A.T @ T, A.T @ v)
    change = T @ np.linalg.solve(A.T @ T, wanted - A.T @ v)
    for start, way in ((v + change - inner, inner), (v, change)):
        a, b, c = way @ it.M @ way, start @ it.M @ way, start @ it.M @ start - it.energy
        if c <= 0.0 or start is v:
            share = 1.0 if a + 2.0 * b + c <= 0.0 else (np.sqrt(max(b * b - a * min(c, 0.0), 0.0)) - b) / a
            return start + share * way
    return v


def _told(edit: Edit, it: _Moved, held: Sequence[int], before: _Array, was: Frames, q: _Array, v: _Array) -> Closed:
    """What joints did that closed."""
    result, (poses, twists) = Closed(), frames(edit.new, q, v)
    for k in held:
        X, V = was[0][before[k]], was[1][before[k]]
        turned = rotation_log(X[:3, :3].T @ poses[k, :3, :3])
        jump = max(float(np.linalg.norm(x)) for x in (turned, poses[k, :3, 3] - X[:3, 3]))
        stop = max(float(np.linalg.norm(x)) for x in (twists[k] - V).reshape(2, 3))
        result = result.with_body(edit.new.bodies[k], jump, stop)
    now = v[it.slots]
    return result._replace(lost=0.5 * (it.energy - float(now @ it.M @ now)))
