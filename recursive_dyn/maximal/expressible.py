"""What maximal coordinates cannot express, refused by name."""

from __future__ import annotations

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.maximal.holding import PENALTY
from recursive_dyn.maximal.joint_rows.joint_solve import solved
from recursive_dyn.maximal.joint_rows.light_bodies import LightBodies
from recursive_dyn.maximal.jointed_bodies import JointedBodies

_INSTEAD = "use method='recursive' or 'lagrangian' for this scene"
_ALONE, _TIMES = 0.9, 3  # of a body's motion: what is left by joints that put nothing upon it, each time


def check_light(light: LightBodies, free: JointedBodies, method: str, inertias: np.ndarray, rotors: np.ndarray) -> None:
    """ModelError naming a light body that joints put no inertia of others upon, or that springs are to hold; inertias
    (nl, 6, 6): of bodies, rotors (n, 6): along joints' rows."""
    links = free.model.links
    if method == PENALTY:
        raise ModelError(
            f"body '{links[light.links[0]].name}' has no mass, or no moment of inertia, of its own about some axis, and"
            " its joints leave nothing for others to lend it: springs cannot hold what is as light as that; use"
            f" method='velocity_constraints', give it a mass and shapes or an inertia, or {_INSTEAD}"
        )
    own = free.reduced.random(3)
    rows, shape = free.joint_rows(free.from_reduced(own)[0], None, free.extended(own)[0]), (free.joints.links, 6)
    soft = np.where(free.structural, 0.0, np.divide(1.0, rotors, out=np.full_like(rotors, np.inf), where=rotors > 0.0))
    x = np.random.default_rng(2).normal(size=shape)
    for _ in range(_TIMES):
        last, push = x, np.zeros(shape)
        push[light.links] = light.inertia * last[light.links]
        given = np.linalg.solve(inertias, push[..., None])[..., 0], soft, np.zeros(rows.bias.shape)
        x = solved(free.joints, rows, inertias, *given)[0]
    for i in light.links[_sizes(light, x) > _ALONE * _sizes(light, last)]:
        raise ModelError(
            f"body '{links[i].name}' has no mass, or no moment of inertia, of its own about some axis, and its joints"
            " put none of others upon it, while in maximal coordinates every body moves by its own; give it a mass and"
            f" shapes or an inertia, or {_INSTEAD}"
        )


def _sizes(light: LightBodies, x: np.ndarray) -> np.ndarray:
    """(m,): of motions x (n, 6) of light bodies, by their energy."""
    return np.asarray(np.sqrt((light.inertia * x[light.links] ** 2).sum(axis=-1)))
