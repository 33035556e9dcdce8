"""Derivatives of methods that are made of several compiled functions: with external wrenches, of a body's point."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recursive_dyn.dynamics.derivatives.jacobians import Jacobians
from recursive_dyn.dynamics.model_evaluator import ModelEvaluator
from recursive_dyn.dynamics.point_jacobian import changed_jacobian

Array = np.ndarray


def with_external(
    it: ModelEvaluator, made: Jacobians, function: str, arrays: Sequence[Array], wrenches: Array, parameters: bool
) -> list[Array]:
    """Of forward or inverse dynamics by q, v, tau or a, wrenches (..., 6 nb), and the parameters if asked for."""
    q, v, last = arrays
    if function == "forward_dynamics":
        arrays = q, v, last + it.call("external_forces", q, wrenches)
    by_q, by_v, by_last, *by_parameters = made.all(function, arrays, parameters)
    forces = made.all("external_forces", [arrays[0], wrenches], parameters)
    share = by_last if function == "forward_dynamics" else -np.eye(by_q.shape[-1])
    own_q, own_wrenches, *own_parameters = (share @ J for J in forces)
    more = [a + b for a, b in zip(by_parameters, own_parameters, strict=True)]
    return [by_q + own_q, by_v, by_last, own_wrenches, *more]


def of_point(it: ModelEvaluator, made: Jacobians, q: Array, body: int, point: Array, parameters: bool) -> list[Array]:
    """Of the Jacobian of a body's point (..., 3) by q, the point, and by the parameters if asked for."""
    screws, X = it.call("screws", q), it.call("poses", q)[..., body, :, :]
    R = X[..., :3, :3]
    place = X[..., :3, 3] + (R @ point[..., None])[..., 0]

    def changed(screw_rates: Array, place_rates: Array) -> Array:
        return changed_jacobian(it.model, body, screws, place, screw_rates, place_rates)

    result = []
    for dS, dX in zip(made.all("screws", [q], parameters), made.all("poses", [q], parameters), strict=True):
        dX = dX[..., body, :, :, :]
        result.append(changed(dS, dX[..., :3, 3, :] + np.einsum("...ijd,...j->...id", dX[..., :3, :3, :], point)))
    result.insert(1, changed(np.zeros((*screws.shape, 3)), R))
    return result
