"""Joints that are singular at a configuration: their motions depend on each other, or they have no frame, there."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from recursive_dyn.graph.expression import is_constant
from recursive_dyn.joint.chart import Chart, measures
from recursive_dyn.joint.joint_program import Carried
from recursive_dyn.model.model import Link, Model, once

# Share of its usual volume and roundness at which M, of the square of S, has nothing but rounding in S's weakest
# direction: the square root of 1e-16, and ten times that.
_SINGULAR = 1e-7
_ZEROS = "the quaternion of zeros from coordinate '{}' on is no rotation; any other length will do"
_MESSAGE = (
    "the joint of coordinate '{}' is singular at this configuration, as at a gimbal lock: its motions depend on each"
    " other, or it has no frame; keep away from there, or use joints.charts or a ball"
)


def singular(model: Model, q: np.ndarray, parameters: Mapping[str, float]) -> tuple[int, str] | None:
    """(row, what is singular there and what to do) of the first row of q (n, nq) with a singular joint, or None.

    Quaternions are singular where they are zeros; of other joints those with coordinates of their own are looked at.
    """
    found = []
    if model.units:
        first, end = np.array(model.units).T
        before = np.pad(np.cumsum(q != 0.0, axis=1), ((0, 0), (1, 0)))  # how many are not 0
        zeros = before[:, end] == before[:, first]
        for unit in np.flatnonzero(zeros.any(axis=0)).tolist():
            found.append((int(zeros[:, unit].argmax()), _ZEROS.format(model.coordinate_names[first[unit]])))
    for link in _watched(model):
        name = model.coordinates[link.slots[0]].name if link.slots else ""
        found += [(row, _MESSAGE.format(name)) for row in _singular_rows(link, q, parameters)]
    return min(found, default=None)


@once
def _watched(model: Model) -> list[Link]:
    """The links whose joints may be singular somewhere: not those with an S that is the same everywhere, as hinges, nor
    what time moves, which may stand still."""
    timed = -1 if model.clock is None else model.clock[1]
    return [link for link in model.links if timed not in link.slots and (link.chart is not None or _varies(link))]


def _varies(link: Link) -> bool:
    joint = link.joint
    if link.drive is not None or not joint.nv or not all(f.space.flat for f in joint.factors):
        return False
    return not all(map(is_constant, joint.kinematics().subspace.flat))


def _singular_rows(link: Link, q: np.ndarray, parameters: Mapping[str, float]) -> list[int]:
    joint = link.joint if link.chart is None else link.joint.charts[round(parameters[link.chart])]
    if link.drive is not None or not joint.nv or not all(f.space.flat for f in joint.factors):
        return []
    chart = _chart(joint.key, tuple((name, parameters[name]) for name in sorted(joint.parameters)), Carried(joint))
    if chart is None:
        return []
    with np.errstate(all="ignore"):
        quality = chart.quality(measures(chart.at(q[:, link.places] + link.offset)[1]))
    return [int(row) for row in np.flatnonzero(~(quality > _SINGULAR))[:1]]


@lru_cache(maxsize=256)
def _chart(key: str, parameters: tuple[tuple[str, float], ...], carrier: Carried) -> Chart | None:
    """None for a joint whose S is the same everywhere, as a hinge's."""
    if all(map(is_constant, carrier.joint.kinematics().subspace.flat)):
        return None
    return Chart(carrier.joint, dict(parameters))
