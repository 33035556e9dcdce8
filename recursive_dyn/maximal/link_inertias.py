"""Mass matrices of links by themselves."""

from __future__ import annotations

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.integrators.integrator import numbers

Array = np.ndarray


def link_inertias(dynamics: Dynamics) -> Array:
    """Of every link by itself, (n, 6, 6) on twists [omega; v] at its origin, own axes, at the present parameters."""
    links, n = dynamics.model.links, dynamics.model.nl
    mass = numbers(dynamics, np.array([link.mass for link in links], dtype=object))
    center = numbers(dynamics, np.array([link.center for link in links], dtype=object).reshape(n, 3))
    own = numbers(dynamics, np.array([link.inertia for link in links], dtype=object).reshape(n, 3, 3))
    x, y, z = (mass[:, None] * center).T
    first, M = np.zeros((n, 3, 3)), np.zeros((n, 6, 6))
    first[:, 0, 1], first[:, 0, 2], first[:, 1, 2] = -z, y, -x
    first -= np.swapaxes(first, -1, -2)
    square = (center * center).sum(axis=-1)[:, None, None] * np.eye(3) - center[:, :, None] * center[:, None, :]
    M[:, :3, :3], M[:, :3, 3:], M[:, 3:, :3] = own + mass[:, None, None] * square, first, -first
    M[:, 3:, 3:] = mass[:, None, None] * np.eye(3)
    return M
