"""Mass matrices of links by themselves."""

from __future__ import annotations

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.integrators.integrator import numbers
from recursive_dyn.maximal.freed.lent_masses import flattened, mass_matrices

Array = np.ndarray


def link_inertias(dynamics: Dynamics) -> Array:
    """Of every link by itself, with what others lend it, (n, 6, 6) on twists [omega; v] at its origin, own axes, at the
    present parameters."""
    moments = [m for link in dynamics.model.links if (m := link.moments) is not None]
    return mass_matrices(numbers(dynamics, flattened(moments)))
