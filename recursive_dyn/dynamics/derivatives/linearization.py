"""Linear models of a motion near a state, of the rates of the state or of one timestep."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from recursive_dyn.dynamics.derivatives.jacobians import Jacobians
from recursive_dyn.dynamics.derivatives.step_derivatives import StepDerivatives
from recursive_dyn.dynamics.derivatives.tangents import velocities_of
from recursive_dyn.dynamics.model_evaluator import ModelEvaluator
from recursive_dyn.graph.differentiate import directional_derivative
from recursive_dyn.graph.expression import Graph, Scalar
from recursive_dyn.graph.traversal import evaluate
from recursive_dyn.integrators.integrator import joint_forces
from recursive_dyn.model.model import Model
from recursive_dyn.spatial.spaces import RigidMotion, Rotation, Space

Array = np.ndarray
Pair = tuple[Array, Array]


def of_rates(it: ModelEvaluator, q: Array, v: Array, tau: Array) -> Pair:
    """A (..., 2 nv, 2 nv), B (..., 2 nv, nv) with x-dot = A x + B u for the deviations x = [dq, dv], u = dtau."""
    model = it.model
    nv, own = model.nv, joint_forces(model)
    lead = np.broadcast_shapes(*(a.shape[:-1] for a in (q, v, tau)))
    at = [q, v, tau + it.call("passive_forces", q, v)]
    by_q, by_v, by_tau = Jacobians(it).all("forward_dynamics", at, False)
    if model.elastic:
        pull, loss = Jacobians(it).all("passive_forces", [q, v], False)
        by_q, by_v = by_q + by_tau @ pull, by_v + by_tau @ loss
    else:
        by_q, by_v = by_q - by_tau * own.stiffness, by_v - by_tau * own.damping
    A, B = np.zeros((*lead, 2 * nv, 2 * nv)), np.zeros((*lead, 2 * nv, nv))
    A[..., :nv, :nv] = turning(model, q, v)
    A[..., :nv, nv:] = np.eye(nv)
    A[..., nv:, :nv] = by_q
    A[..., nv:, nv:] = by_v
    B[..., nv:, :] = by_tau
    return A, B


def of_step(it: ModelEvaluator, arrays: Sequence[Array], integrator: str) -> Pair:
    """A (..., 2 nv, 2 nv), B (..., 2 nv, nv) with x' = A x + B u, arrays being q, v, tau, dt."""
    by_q, by_v, by_tau, *_ = StepDerivatives(it, arrays, False).of(integrator)
    return np.concatenate([by_q, by_v], axis=-1), by_tau


def turning(model: Model, q: Array, v: Array) -> Array:
    """How deviations d of q turn as q-dot = N(q) v moves on, (..., nv, nv): d-dot = dv + turning d.

    N d-dot = N dv + N'[N d] v - N'[N v] d: -ad_v for rotations and rigid motions, 0 where q-dot = v.
    """
    lead = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
    result = np.zeros((*lead, model.nv, model.nv))
    for _, factor, q0, v0 in model.owners:
        n = factor.nv
        places, slots = slice(q0, q0 + factor.nq), slice(v0, v0 + n)
        if isinstance(factor.space, Rotation | RigidMotion):
            result[..., slots, slots] = -_adjoint(v[..., slots])
            continue
        inputs = _named("point", q[..., None, places]) | _named("v", v[..., None, slots]) | _named("d", np.eye(n))
        seen = np.stack(np.broadcast_arrays(*evaluate(_bracket(factor.space), inputs)), axis=-1)
        rates = np.zeros((*lead, n, model.nq))
        rates[..., places] = seen
        result[..., slots, slots] = np.swapaxes(velocities_of(model, q, rates)[..., slots], -1, -2)
    return result


def _adjoint(v: Array) -> Array:
    """ad_v of angular velocities (..., 3), or of twists (..., 6)."""
    n = v.shape[-1]
    result = np.zeros((*v.shape, n))
    result[..., :3, :3] = turn = np.swapaxes(np.cross(v[..., None, :3], np.eye(3)), -1, -2)
    if n > 3:
        result[..., 3:, :3], result[..., 3:, 3:] = np.swapaxes(np.cross(v[..., None, 3:], np.eye(3)), -1, -2), turn
    return result


@lru_cache(maxsize=64)
def _bracket(space: Space) -> list[Scalar]:
    """N'[N d] v - N'[N v] d at a point, over the inputs "point", "v" and "d"."""
    graph = Graph()
    point, v, d = (
        graph.inputs(name, n) for name, n in (("point", space.size), ("v", space.dimension), ("d", space.dimension))
    )
    along_v, along_d = space.rate(point, v), space.rate(point, d)
    first = directional_derivative(list(along_v), dict(zip(point, along_d, strict=True)))
    second = directional_derivative(list(along_d), dict(zip(point, along_v, strict=True)))
    return [a - b for a, b in zip(first, second, strict=True)]


def _named(name: str, values: Array) -> dict[tuple[str, int], Array]:
    return {(name, i): values[..., i] for i in range(values.shape[-1])}
