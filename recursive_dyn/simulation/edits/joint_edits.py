"""States of free bodies with joints between them, where a scene changes or a body is put somewhere: as the joints
between them let them be, which their joint coordinates say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from recursive_dyn.contact.contact_buffer import ContactBuffer
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.dynamics.nearest_state import placed, wanted_pose, wanted_velocity
from recursive_dyn.maximal.hung_anew import put_on_joints
from recursive_dyn.maximal.maximal_dynamics import MaximalDynamics
from recursive_dyn.maximal.poses import applied, by_body, coordinates_of, poses_of
from recursive_dyn.model.model import WORLD
from recursive_dyn.model.own_masses import own_masses
from recursive_dyn.simulation.edits.carried_motion import carry_motion, hung_anew, numbers_before
from recursive_dyn.simulation.edits.closing import Frames
from recursive_dyn.simulation.edits.edit import GONE, Edit
from recursive_dyn.simulation.report import Closed
from recursive_dyn.simulation.state import State

Array = np.ndarray


def go_on(
    edit: Edit, near: Array, was: State, frames: Callable[[], Frames], state: State, contacts: ContactBuffer
) -> tuple[Array, Closed]:
    """Put what was hung anew where it goes on, in a state that holds the rest; of free bodies new ones, too, which move
    along with what they hang on.

    near: joint coordinates between free bodies; was: the state, frames: of all bodies then, contacts: of the last step.
    The joint coordinates now, and what joint coordinates tell of joints that had to close.
    """
    before, after = edit.old, edit.new
    if not (isinstance(before, MaximalDynamics) and isinstance(after, MaximalDynamics)):
        anew = hung_anew(edit)
        if not anew:
            return np.zeros(0), Closed()
        touched = contacts.pushed_bodies()
        return np.zeros(0), carry_motion(edit, anew, frames(), state.q, state.v, touched)
    own = before.to_reduced(was.q, was.v, _known(before, near))
    reduced = Edit.between(before.reduced, after.reduced)
    coordinates, anew, q, v = reduced.configuration(own[0]), hung_anew(reduced), *_by_link(state)
    if (clock := after.tree.clock) is not None:
        coordinates[clock[0]] = state.time
    if anew:
        _as_bodies_moved(edit, after.inertias, anew, frames(), q, v)
    bodies, coordinates = after.model.bodies, after.extended(coordinates)[0].copy()
    came = {bodies[k].link for k in set(range(len(bodies))) - set(edit.bodies.tolist()) if bodies[k].jointed}
    put_on_joints(after.joints, came, {bodies[k].link for k in anew if bodies[k].jointed}, q, v, coordinates)
    return coordinates, Closed()


def _known(free: MaximalDynamics, near: Array) -> Array | None:
    """The scene's coordinates among those of all joints, where these are known."""
    return near[: free.reduced.nq] if np.isfinite(near).all() else None


def _by_link(state: State) -> tuple[Array, Array]:
    """(q (n, 7), v (n, 6)) of free bodies, which are the state's own numbers."""
    return by_body(state.q, 7), by_body(state.v, 6)


def _as_bodies_moved(edit: Edit, inertias: Array, anew: Sequence[int], was: Frames, q: Array, v: Array) -> None:
    """Give links that were parts of others their pose and twist, and those that others became parts of the twist of
    all their momenta together; inertias (n, 6, 6): of links now."""
    model, before, known = edit.new.model, numbers_before(edit), set(edit.slots.tolist())
    for k in anew:
        link, (X, V) = model.bodies[k].link, (was[0][before[k]], was[1][before[k]])
        if model.bodies[k].jointed and 6 * link not in known:
            q[link], v[link] = coordinates_of(X), applied(X[:3, :3].T, V.reshape(2, 3)).reshape(-1)
    masses = own_masses(model, dict(edit.new.parameters))
    for link in {model.bodies[k].link for k in anew if not model.bodies[k].jointed} - {WORLD}:
        momentum, X = np.zeros(6), poses_of(q[link])
        for k in (k for k, body in enumerate(model.bodies) if body.link == link and before[k] != GONE):
            Y, V = was[0][before[k]], was[1][before[k]]
            arm = Y[:3, :3] @ masses.centers[k]
            p = masses.masses[k] * (V[3:] + np.cross(V[:3], arm))
            spin = Y[:3, :3] @ masses.inertias[k] @ Y[:3, :3].T @ V[:3]
            momentum += np.concatenate([spin + np.cross(Y[:3, 3] + arm - X[:3, 3], p), p])
        own = applied(X[:3, :3].T, momentum.reshape(2, 3)).reshape(-1)
        v[link] = np.linalg.solve(inertias[link], own)


def put(
    dynamics: Dynamics, state: State, near: Array, body: Any, pose: Any, velocity: Any,
    rechart: Callable[[Array, Array], bool] | None = None,
) -> None:  # fmt: skip
    """Let a body be at a pose, and move so, see ``PlacedState.place``; near: joint coordinates between free bodies;
    rechart: as for ``placed``."""
    index = dynamics.model.body_index(body)
    free = dynamics if isinstance(dynamics, MaximalDynamics) else None
    q, v = state.q.copy(), state.v.copy()
    if free is not None:
        dynamics = free.reduced
        q, v = free.to_reduced(q, v, _known(free, near))
    wanted = None if pose is None else wanted_pose(dynamics, q, index, pose)
    speed = None if velocity is None else wanted_velocity(velocity)
    q, v = placed(dynamics, q, v, index, wanted, speed, rechart)
    if free is not None:
        near[:] = free.extended(q)[0]
        q, v = free.from_reduced(q, v)
    state.q[:], state.v[:] = q, v
