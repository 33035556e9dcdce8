"""The Jacobian of a body's point from the screws of joints, and how it changes with them and with the point."""

from __future__ import annotations

import numpy as np

from recursive_dyn.dynamics.functions import columns
from recursive_dyn.model.model import Model

Array = np.ndarray


def point_jacobian(model: Model, body: int, screws: Array, place: Array) -> Array:
    """J (..., 6, nv) with [omega; v] = J v of the point of a body that is at ``place`` (..., 3), world axes.

    screws: (..., columns, 6), as the compiled function of that name gives them.
    """
    lead = np.broadcast_shapes(screws.shape[:-2], place.shape[:-1])
    J = np.zeros((*lead, 6, model.nv))
    chain = set(model.chain(model.bodies[body].link))
    for k, (owner, slot) in enumerate(columns(model)):
        if owner in chain:
            omega = screws[..., k, :3]
            J[..., :3, slot] += omega
            J[..., 3:, slot] += screws[..., k, 3:] + np.cross(omega, place)
    return J


def changed_jacobian(
    model: Model, body: int, screws: Array, place: Array, screw_rates: Array, place_rates: Array
) -> Array:
    """How it changes, (..., 6, nv, directions), as its arguments do, (..., columns, 6, directions) and
    (..., 3, directions)."""
    turned = point_jacobian(model, body, np.moveaxis(screw_rates, -1, 0), place)
    moved = point_jacobian(model, body, screws, np.moveaxis(place_rates, -1, 0))
    still = point_jacobian(model, body, screws, np.zeros(3))
    return np.moveaxis(turned + moved - still, 0, -1)
