"""Where joints are on their bodies, at the present parameters."""

from __future__ import annotations

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.integrators.integrator import numbers
from recursive_dyn.maximal.poses import inverse
from recursive_dyn.model.model import WORLD, Model

Array = np.ndarray


def joint_frames(reduced: Dynamics) -> tuple[Array, Array]:
    """(X_AP, X_CB), each (n, 4, 4), at the present parameters; see ``Joints.frames``."""
    model = reduced.model
    bodies = moving_bodies(model)
    placements = numbers(reduced, np.array([link.placement for link in model.links], dtype=object).reshape(-1, 4, 4))
    poses = numbers(reduced, np.array([model.bodies[k].pose for k in bodies], dtype=object).reshape(-1, 4, 4))
    parents = np.array([link.parent for link in model.links], dtype=np.int64)
    back = inverse(poses)[parents] if len(parents) else poses
    back[parents == WORLD] = np.eye(4)
    return back @ placements, poses


def moving_bodies(model: Model) -> list[int]:
    """The body of each link that its joint moves."""
    found = {body.link: k for k, body in enumerate(model.bodies) if body.jointed and body.link != WORLD}
    return [found[i] for i in range(model.nl)]
