"""Mass, centre of mass and inertia of every body by itself, as numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from recursive_dyn.graph.traversal import evaluate
from recursive_dyn.model.model import WORLD, Model


class OwnMasses(NamedTuple):
    """masses (nb,), centers (nb, 3) and inertias (nb, 3, 3) about these, in body axes."""

    masses: np.ndarray
    centers: np.ndarray
    inertias: np.ndarray


def own_masses(model: Model, parameters: Mapping[str, float]) -> OwnMasses:
    """Of every body at these values of the parameters.

    What moves by a joint is told of a link with all that is fixed to it: the others are taken off about its origin.
    """
    count, values = model.nb, {("parameter", name): x for name, x in parameters.items()}

    def of(*arrays: object) -> list[np.ndarray]:
        flat = [np.asarray(a, dtype=object) for a in arrays]
        found = iter(evaluate([x for a in flat for x in a.flat], values))
        return [np.array([next(found) for _ in range(a.size)], dtype=float).reshape(a.shape) for a in flat]

    masses, centers, inertias = np.zeros(count), np.zeros((count, 3)), np.zeros((count, 3, 3))
    sums: dict[int, tuple[float, np.ndarray, np.ndarray]] = {}  # of what is fixed to a link, about its origin
    for k, body in enumerate(model.bodies):
        if body.mass is not None and body.inertia is not None:
            pose, masses[k], centers[k], inertias[k] = of(body.pose, body.mass, body.center, body.inertia)
            if body.link != WORLD:
                R, m = pose[:3, :3], masses[k]
                at = pose[:3, 3] + R @ centers[k]
                mass, first, second = sums.get(body.link, (0.0, np.zeros(3), np.zeros((3, 3))))
                own = R @ inertias[k] @ R.T + m * _about(at)
                sums[body.link] = mass + m, first + m * at, second + own
    for k, body in enumerate(model.bodies):
        if body.mass is None and body.link != WORLD:
            link = model.links[body.link]
            pose, total, center, inertia = of(body.pose, link.mass, link.center, link.inertia)
            others, first, second = sums.get(body.link, (0.0, np.zeros(3), np.zeros((3, 3))))
            mass = float(total)
            m, R = mass - others, pose[:3, :3]
            at = (mass * center - first) / m if m > 0.0 else pose[:3, 3]
            about = inertia + mass * _about(center) - second - m * _about(at)
            masses[k], centers[k], inertias[k] = m, R.T @ (at - pose[:3, 3]), R.T @ about @ R
    return OwnMasses(masses, centers, inertias)


def _about(at: np.ndarray) -> np.ndarray:
    """The inertia (3, 3) about the origin of a unit mass at a place (3,)."""
    result: np.ndarray = at @ at * np.eye(3) - np.outer(at, at)
    return result
