"""What maximal coordinates cannot express, refused by name."""

from __future__ import annotations

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.errors import ModelError
from recursive_dyn.model.model import Model

_INSTEAD = "use method='recursive' or 'lagrangian' for this scene"
_LEAST = 1e-12  # of the largest principal inertia, that the least one must have


def check_joints(model: Model) -> None:
    """ModelError naming the joint that has no form between free bodies."""
    for link in model.charted:
        if any(model.coordinates[s].turn is not None for s in link.slots):
            raise ModelError(
                f"joint of '{link.name}' has several charts and limits of its turn, which maximal coordinates do not"
                f" have; {_INSTEAD}, or take the limits away"
            )


def check_masses(free: Dynamics, inertias: np.ndarray) -> None:
    """ModelError naming a body without mass or inertia of its own; inertias (nl, 6, 6)."""
    for link, M in zip(free.model.links, inertias, strict=True):
        values = np.linalg.eigvalsh(M)
        if not values[0] > _LEAST * values[-1]:
            raise ModelError(
                f"body '{link.name}' has no mass, or no moment of inertia, of its own about some axis, and in maximal"
                f" coordinates every body moves by its own; give it a mass and shapes or an inertia, or {_INSTEAD}"
            )
