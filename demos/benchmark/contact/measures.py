"""What is measured on a state, the same for every engine, from positions and velocities alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.spatial.distance import pdist

from demos.benchmark.contact.description import Ball, Solid


def balls_energy(balls: Sequence[Solid], gravity: float, x: np.ndarray, v: np.ndarray, omega: np.ndarray) -> float:
    """Kinetic and potential energy of balls, J; x, v, omega (n, 3), heights above z = 0."""
    masses = np.array([ball.mass for ball in balls])
    moments = np.array([0.4 * ball.mass * ball.shape.radius**2 for ball in balls if isinstance(ball.shape, Ball)])
    kinetic = 0.5 * masses @ (v * v).sum(1) + 0.5 * moments @ (omega * omega).sum(1)
    return float(kinetic + gravity * masses @ x[:, 2])


def squared_penetration(radius: float, x: np.ndarray) -> float:
    """Sum of squared overlaps, m^2, of equal balls with each other and with the ground; x (n, 3)."""
    pairs = 2.0 * radius - pdist(x)
    ground = radius - x[:, 2]
    return float((pairs[pairs > 0.0] ** 2).sum() + (ground[ground > 0.0] ** 2).sum())


def mean_square(samples: np.ndarray, expected: np.ndarray | float) -> float:
    """Mean over the steps of the squared distance to what is expected; samples (k,) or (k, ...)."""
    difference = np.asarray(samples) - expected
    return float((difference**2).sum(axis=tuple(range(1, difference.ndim))).mean())
