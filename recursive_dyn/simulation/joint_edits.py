"""States of free bodies with joints between them, where a scene changes or a body is put somewhere: as the joints
between them let them be, which their joint coordinates say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.dynamics.nearest_state import placed, wanted_pose, wanted_velocity
from recursive_dyn.maximal.maximal_dynamics import MaximalDynamics
from recursive_dyn.maximal.poses import applied
from recursive_dyn.simulation.carried_motion import Frames, carry_motion, hung_anew
from recursive_dyn.simulation.edits import Edit
from recursive_dyn.simulation.state import State
from recursive_dyn.spatial.rotations import quaternion_to_matrix

Array = np.ndarray

_OPEN = 1e-6  # m or rad: a joint that is open by more was hung where its body was not


def go_on(edit: Edit, near: Array, was: State, frames: Callable[[], Frames], state: State) -> Array:
    """Put what was hung anew where it goes on, in a state that holds the rest; of free bodies new ones, too, which move
    along with what they hang on.

    near: joint coordinates between free bodies; was: the state, frames: of all bodies then. The joint coordinates now.
    """
    before, after = edit.old, edit.new
    if not (isinstance(before, MaximalDynamics) and isinstance(after, MaximalDynamics)):
        anew = hung_anew(edit)
        if anew:
            carry_motion(edit, anew, frames(), state.q, state.v)
        return np.zeros(0)
    own = before.to_reduced(was.q, was.v, near if np.isfinite(near).all() else None)
    reduced = Edit.between(before.reduced, after.reduced)
    Q, V = reduced.configuration(own[0]), reduced.velocity(own[1])
    anew = hung_anew(reduced)
    if anew:
        carry_motion(reduced, anew, frames(), Q, V)
    places, twists = (x.reshape(after.model.nl, -1) for x in after.from_reduced(Q, V))
    model, q, v = after.model, state.q.reshape(-1, 7), state.v.reshape(-1, 6)
    came = {model.bodies[k].link for k in set(range(model.nb)) - set(edit.bodies.tolist())}
    gaps = np.abs(after.joint_errors(state.q, None, Q)[0]).max(axis=-1, initial=0.0)
    moved = {model.bodies[k].link for k in anew if gaps[model.bodies[k].link] > _OPEN}
    for i, parent in enumerate(after.joints.parents[: after.joints.links].tolist()):
        if i in came:
            q[i], v[i] = places[i], twists[i]
        elif i in moved or parent in moved:
            moved.add(i)
            turn = quaternion_to_matrix(places[i, 3:]).T @ quaternion_to_matrix(q[i, 3:])
            q[i], v[i] = places[i], applied(turn, v[i].reshape(2, 3)).reshape(-1)
    return Q


def put(dynamics: Dynamics, state: State, near: Array, body: Any, pose: Any, velocity: Any) -> None:
    """Let a body be at a pose, and move so, see ``PlacedState.place``; near: joint coordinates between free bodies."""
    index = dynamics.model.body_index(body)
    free = dynamics if isinstance(dynamics, MaximalDynamics) else None
    q, v = state.q.copy(), state.v.copy()
    if free is not None:
        dynamics = free.reduced
        q, v = free.to_reduced(q, v, near if np.isfinite(near).all() else None)
    wanted = None if pose is None else wanted_pose(dynamics, q, index, pose)
    speed = None if velocity is None else wanted_velocity(velocity)
    q, v = placed(dynamics, q, v, index, wanted, speed)
    if free is not None:
        near[:] = q
        q, v = free.from_reduced(q, v)
    state.q[:], state.v[:] = q, v
