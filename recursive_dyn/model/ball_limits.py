"""Limits of a model's balls, as arrays."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Integers
from recursive_dyn.joint.turn_limits import TurnLimits
from recursive_dyn.model.model import Link, Model, once
from recursive_dyn.spatial.rotations import quaternion_conjugate, quaternion_exp, quaternion_log, quaternion_product
from recursive_dyn.spatial.spaces import RigidMotion

SPEEDS = 3  # of what turns
MOST = 6  # coordinates of a joint
_QUATERNION = 4


class BallLimits(NamedTuple):
    """Balls with limits (t,) in the order of their slots, and joints of several charts with such.

    slots, places: of the first of their velocities in v, of which there are ``counts``, and of their quaternions in q;
    centers (t, 4), frames (t, 3, 3): see TurnLimits; swing (t, 2): half-angles, twist (t, 2): middle and half of the
    range, infinite where there are none. motions: where "chart_motion" has the angular rows of S of a joint of several
    charts, which has its quaternion in ``places``; -1 of balls, whose velocities are the turning itself. afloat (t,):
    1 for those of free joints.
    """

    slots: Integers
    places: Integers
    counts: Integers
    motions: Integers
    afloat: Integers
    centers: Annotated[np.ndarray, float, 4]
    frames: Annotated[np.ndarray, float, 3, 3]
    swing: Annotated[np.ndarray, float, 2]
    twist: Annotated[np.ndarray, float, 2]

    @property
    def own_places(self) -> list[tuple[int, int]]:
        """(number, place) of those whose quaternion is in q."""
        return [
            (k, p) for k, (p, at) in enumerate(zip(self.places.tolist(), self.motions.tolist(), strict=True)) if at < 0
        ]


def turning_size(link: Link) -> int:
    """How many numbers "chart_motion" has of a link: quaternion, S (3, d), position, and the rest of S."""
    return 0 if link.chart is None else _QUATERNION + SPEEDS + 2 * SPEEDS * len(link.slots)


@once
def turning_places(model: Model) -> dict[int, int]:
    """Where "chart_motion" has the numbers of each joint of several charts, by its first slot."""
    charted = [link for link in model.links if link.chart is not None]
    ends = np.cumsum([0, *map(turning_size, charted)]).tolist()
    return {link.slots[0]: at for link, at in zip(charted, ends, strict=False)}


@once
def ball_limits(model: Model) -> BallLimits:
    """The balls, and joints of several charts, of a model that have limits."""
    found = _of_parts(model) if model.parts else _of_one(model)
    charted = np.flatnonzero(found.motions >= 0)
    if len(charted):
        at = turning_places(model)
        found.places[charted] = [at[slot] for slot in found.slots[charted].tolist()]
        found.motions[charted] = found.places[charted] + _QUATERNION
    return found


def _of_one(model: Model) -> BallLimits:
    found = []
    for _, factor, place, slot in model.owners:
        limits = model.coordinates[slot].turn
        if limits is not None:
            free = isinstance(factor.space, RigidMotion)
            found.append((slot, place + (3 if free else 0), SPEEDS, -1, int(free), limits))
    for link in model.charted:
        limits = model.coordinates[link.slots[0]].turn
        if limits is not None:
            found.append((link.slots[0], 0, len(link.slots), 0, 0, limits))
    return _packed(sorted(found, key=lambda own: own[0])) if found else NONE


def _packed(found: list[tuple[int, int, int, int, int, TurnLimits]]) -> BallLimits:
    *numbers, limits = zip(*found, strict=True)
    slots, places, counts, motions, afloat = np.array(numbers, dtype=np.int64)
    middles = [(0.5 * (x.twist[0] + x.twist[1]), 0.5 * (x.twist[1] - x.twist[0])) if x.twist else _FREE for x in limits]
    return BallLimits(
        slots, places, counts, motions, afloat, np.array([quaternion_exp(x.center) for x in limits], dtype=float),
        np.array([x.frame for x in limits]), np.array([x.swing or _FREE for x in limits]), np.array(middles),
    )  # fmt: skip


def _of_parts(model: Model) -> BallLimits:
    parts, found = model.parts, [NONE]
    if not any(parts.facts.bounded):
        return NONE
    for k in np.flatnonzero(parts.facts.bounded).tolist():
        if len((own := ball_limits(parts.models[k])).slots):
            slots, places = parts.slots.all[parts.slots.first[k] + own.slots], own.places.copy()
            turn = own.motions < 0
            places[turn] = parts.places.all[parts.places.first[k] + places[turn]]
            found.append(own._replace(slots=slots, places=places))
    if len(found) == 1:
        return NONE
    columns = [np.concatenate(own) for own in zip(*found, strict=True)]
    order = np.argsort(columns[0])
    return BallLimits(*[column[order] for column in columns])


def brought_inside(it: BallLimits, k: int, q: np.ndarray) -> np.ndarray:
    """The quaternion (4,) near to one of ball k that is within its limits, itself if it is."""
    axis, first, second = it.frames[k]
    own = np.asarray(quaternion_product(quaternion_conjugate(it.centers[k]), q), dtype=float)
    turn = np.array([*axis * (axis @ own[:3]), own[3]])
    size = np.linalg.norm(turn)
    turn = turn / size if size > 0.0 else np.array([0.0, 0.0, 0.0, 1.0])
    swing = np.asarray(quaternion_log(quaternion_product(own, quaternion_conjugate(turn))), dtype=float)
    out = float(np.hypot(first @ swing / it.swing[k, 0], second @ swing / it.swing[k, 1]))
    angle, (middle, half) = 2.0 * np.arctan2(axis @ turn[:3], turn[3]), it.twist[k]
    twist = angle
    if np.isfinite(middle):
        away = float(np.remainder(angle - middle + np.pi, 2.0 * np.pi) - np.pi)
        twist = angle if abs(away) <= half else middle + float(np.clip(away, -half, half))
    return q if out <= 1.0 and twist == angle else _turned(it, k, swing / max(out, 1.0), twist)


def somewhere_inside(it: BallLimits, k: int, rng: np.random.Generator) -> np.ndarray:
    """A quaternion (4,) within the limits of ball k: any swing in its ellipse alike, and any twist."""
    _, first, second = it.frames[k]
    around, far = rng.uniform(0.0, 2.0 * np.pi), np.sqrt(rng.uniform())
    a, b = np.minimum(it.swing[k], np.pi)
    middle, half = it.twist[k] if np.isfinite(it.twist[k, 0]) else (0.0, np.pi)
    swing = far * (a * np.cos(around) * first + b * np.sin(around) * second)
    return _turned(it, k, swing, middle + half * rng.uniform(-1.0, 1.0))


def _turned(it: BallLimits, k: int, swing: np.ndarray, twist: float) -> np.ndarray:
    """C Swing Twist as a quaternion."""
    turn = quaternion_product(quaternion_exp(swing), quaternion_exp(twist * it.frames[k, 0]))
    return np.asarray(quaternion_product(it.centers[k], turn), dtype=float)


_FREE = (np.inf, np.inf)
_NOWHERE = np.zeros(0, dtype=np.int64)
NONE = BallLimits(
    _NOWHERE, _NOWHERE, _NOWHERE, _NOWHERE, _NOWHERE, np.zeros((0, 4)), np.zeros((0, 3, 3)), np.zeros((0, 2)),
    np.zeros((0, 2)),
)  # fmt: skip
