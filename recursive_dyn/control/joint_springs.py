"""Springs and dampers of joints as an implicit step has them: what acts, and what it adds to the inertia."""

from __future__ import annotations

import numpy as np

from recursive_dyn.model.model import Model

Array = np.ndarray


class JointSprings:
    """-damping v' - stiffness (q + h v' - rest) of a model at a step's end, v' = v + h a: forces - added a."""

    def __init__(self, model: Model) -> None:
        self._places, self._slots = np.array(model.plain_slots, dtype=int).reshape(-1, 2).T
        self._damping, self._stiffness, self._rest = (
            np.array([(c.damping, c.stiffness, c.rest) for c in model.coordinates]).reshape(-1, 3).T
        )

    def of_step(self, q: Array, v: Array, h: float) -> tuple[Array, Array]:
        """(forces (nv,), added (nv,)) at q (nq,), v (nv,) for a step of h s."""
        stretch = -self._rest
        stretch[self._slots] += q[self._places]
        forces = -self._damping * v - self._stiffness * (stretch + h * v)
        return forces, h * self._damping + h * h * self._stiffness
