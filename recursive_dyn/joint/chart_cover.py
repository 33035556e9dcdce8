"""Whether the charts of a joint leave a hole: a pose at which every one of them is singular, or which none has.

A motion that comes there cannot go on. Where one chart is badly conditioned another one is to serve; the poses at which
the best is worst are followed downhill.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from recursive_dyn.joint.chart import Chart, measures
from recursive_dyn.joint.joint_program import Carried, JointProgram

_POOREST = 48  # samples of each chart that are looked at
_SUSPICIOUS = 0.5  # of a typical quality, below which a hole may be near
_GONE = 0.02  # what is left of it in a hole
_ROUNDS, _NEARBY, _REACH, _SHRINKAGE = 24, 16, 0.5, 0.7  # of the search: rad or m at first
_PATIENCE, _GAIN = 4, 0.9  # rounds in which a tenth is gained, or it is given up
_MET = 1e-9


def hole(joint: JointProgram, parameters: Mapping[str, float]) -> tuple[int, np.ndarray] | None:
    """(A chart's number, its coordinates (d,)) near a hole between a joint's charts at the parameters' values."""
    values = tuple(sorted((p, float(parameters[p])) for p in joint.parameters))
    return _hole(joint.key, values, Carried(joint))


@lru_cache(maxsize=256)
def _hole(key: str, parameters: tuple[tuple[str, float], ...], carrier: Carried) -> tuple[int, np.ndarray] | None:
    charts = [Chart(joint, dict(parameters)) for joint in carrier.joint.charts]
    rng = np.random.default_rng(20110808)
    for k, chart in enumerate(charts):
        q = _poorest(chart)
        best = _best(charts, k, q)
        if len(q) == 0 or best.min() > _SUSPICIOUS:
            continue
        at, left, reach, before = q[np.argmin(best)], best.min(), _REACH, np.inf
        for turn in range(_ROUNDS):
            near = at + rng.uniform(-reach, reach, (_NEARBY, len(at)))
            found = _best(charts, k, near)
            if found.min() < left:
                at, left = near[np.argmin(found)], found.min()
            reach *= _SHRINKAGE
            if turn % _PATIENCE == _PATIENCE - 1:
                if left > _GAIN * before:
                    break  # a place where the best is worst, and not bad
                before = left
        if left < _GONE:
            return k, at
    return None


def _poorest(chart: Chart) -> np.ndarray:
    """Coordinates (n, d) at which a chart is worst, though it has a pose there."""
    _, S = chart.at(chart.samples)
    quality = np.where(chart.usable, chart.quality(measures(S)), np.inf)
    order = np.argsort(quality, kind="stable")[:_POOREST]
    return chart.samples[order[np.isfinite(quality[order])]]


def _best(charts: Sequence[Chart], k: int, q: np.ndarray) -> np.ndarray:
    """Quality (n,) of the best chart at the poses that chart k has at q (n, d); infinite where it has none."""
    poses, S = charts[k].at(q)
    best = np.nan_to_num(charts[k].quality(measures(S)), nan=0.0)
    known = np.isfinite(poses).all(axis=(1, 2))
    for j, other in enumerate(charts):
        if j != k and known.any():
            there, missed = other.locate(poses[known])
            found = other.quality(measures(other.at(there.reshape(-1, other.size))[1])).reshape(missed.shape)
            found = np.where(missed < _MET, np.nan_to_num(found, nan=0.0), 0.0).max(axis=1)
            best[known] = np.maximum(best[known], found)
    return np.where(known, best, np.inf)
