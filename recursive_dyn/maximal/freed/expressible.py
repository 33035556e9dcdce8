"""What maximal coordinates cannot express, refused by name."""

from __future__ import annotations

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.errors import ModelError
from recursive_dyn.maximal.freed.lent_masses import whole

_INSTEAD = "use method='recursive' or 'lagrangian' for this scene"


def check_masses(free: Dynamics, inertias: np.ndarray) -> None:
    """ModelError naming a body without mass or inertia of its own; inertias (nl, 6, 6)."""
    for link, moves in zip(free.model.links, whole(inertias), strict=True):
        if not moves:
            raise ModelError(
                f"body '{link.name}' has no mass, or no moment of inertia, of its own about some axis, and its joints"
                " leave nothing for others to lend it, while in maximal coordinates every body moves by its own;"
                f" give it a mass and shapes or an inertia, or {_INSTEAD}"
            )
