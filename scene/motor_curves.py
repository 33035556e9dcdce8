"""A motor's force by its speed: a smooth curve through a table of pairs, which overshoots none of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Graph, Scalar, less, select
from recursive_dyn.model.force_element import ElementSpec
from scene.force_elements import own_rate, ranged, scalars
from scene.number_checks import numbers


def motor(name: str, measure: Any, curve: Any, throttle: Any, ratio: Any) -> ElementSpec:
    """throttle ratio f(ratio rate) along a measure; below throttle 0 with f of the other direction."""
    graph, what = Graph(), f"force element '{name}'"
    points = numbers(what, "a curve", curve, (len(np.atleast_1d(curve)), 2))
    if len(points) < 2 or not (np.diff(points[:, 0]) > 0.0).all():
        raise ModelError(f"{what}: a curve is pairs (speed, force), two at least, of rising speeds, not {curve!r:.80}")
    along, share, gear = scalars(what, graph, measure, throttle, ratio)
    ranged(what, -1.0, 1.0, throttle=share)
    speed = gear * own_rate(graph)
    ahead = select(less(share, 0.0), -speed, speed)
    return ElementSpec(name, ((along, share * gear * through(points, ahead)),))


def through(points: np.ndarray, x: Scalar) -> Scalar:
    """f(x) through points (n, 2), piecewise cubic, monotone where they are; straight beyond the first and the last."""
    places, values = points.T.tolist()
    slopes = _slopes(points).tolist()
    result: Scalar = values[0] + slopes[0] * (x - places[0])
    if len(points) == 2:
        return result
    for (a, f, m), (b, g, n) in zip(
        *(list(zip(places, values, slopes, strict=True))[k:] for k in (0, 1)), strict=False
    ):
        h, d = b - a, (g - f) / (b - a)
        u = x - a
        piece = f + u * (m + u * ((3.0 * d - 2.0 * m - n) / h + u * ((m + n - 2.0 * d) / (h * h))))
        result = select(less(x, a), result, piece)
    return select(less(x, places[-1]), result, values[-1] + slopes[-1] * (x - places[-1]))


def _slopes(points: np.ndarray) -> np.ndarray:
    """f' at the points (n,): 0 at peaks and flats, else harmonic means of what is around (Fritsch & Butland 1984, A
    method for constructing local monotone piecewise cubic interpolants); at the ends those of the chords there."""
    h, d = np.diff(points[:, 0]), np.diff(points[:, 1]) / np.diff(points[:, 0])
    result = np.concatenate([d[:1], np.zeros(len(d) - 1), d[-1:]])
    for k in np.flatnonzero(d[1:] * d[:-1] > 0.0):
        before, after = 2.0 * h[k + 1] + h[k], h[k + 1] + 2.0 * h[k]
        result[k + 1] = (before + after) / (before / d[k] + after / d[k + 1])
    return result
