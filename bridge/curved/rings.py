"""Tori as circles with a radius: every place where one is nearer to B than beside it, and where it is level; compiled.

Everything is in B's frame. The slope of the distance from B along the circle is looked at all around, and followed to
where it is zero. Two rings that hang in each other are nearest at two places as soon as their planes are within 45
degrees or so; these come out of one, between which the gap hardly varies. What pressed at the nearest place alone would
be turned about that, into the other: so balls of the circle that stay where they are on it are told beside it.
"""

from __future__ import annotations

import math

import numpy as np

from bridge.curved.distances import BOX, CYLINDER, TORUS, distance_to
from bridge.curved.manifold_points import Found, crossed, dot, normalized
from bridge.curved.rounded_curves import (
    Curve,
    Target,
    level_between,
    point_at,
    radius_of,
    slope_at,
    tell_ball,
    tell_crossings,
    tell_like,
)
from recursive_dyn.codegen.compiled import Floats, compiled

_SAMPLES, _FINE = 32, 64  # of a circle, and where B is another torus, which light ones turn about by degrees in a step
_FEW, _MANY = 6, 10  # balls that stay on the circle, at most
_LEVEL = 1e-10  # share of the circle's radius: slope of a distance along it below which it is level
_INWARDS = 1e-4  # rad from one of these, where it is seen whether a slope gets nearer to zero between them
_HALVINGS = 24  # of golden sections: where a slope is largest, to 1e-6 rad
_GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)
_LEAN = 0.3  # slope of the gap along the circle, up to which what is beside the nearest places carries with them
_STANDING = 0.9  # share of the slope beside where a circle stands on a plane, from which on it leaves B at once, too
_RISE = 0.1  # share of the circle's radius by which it may be farther off
_BESIDE = 0.6  # of a sample's step: the angle between two balls, from which on both are told
_FACE = 1.0 - 1e-9  # cosine of the angle to a face's normal, up to which a point is on the face
_CROSSING = 0.3  # sine of an angle between two circles, from which on it says what is across both


@compiled
def ring_meets(curve: Curve, target: Target, margin: float, found: Found) -> None:
    """Every ball of a torus's circle that is nearer to B than those beside it and than ``margin``, and those that carry
    with it."""
    count = _FINE if target.kind == TORUS else _SAMPLES
    x, n, slopes, gaps = np.empty(3), np.empty(3), np.empty(count), np.empty(count)
    for i in range(3):
        x[i] = curve.centre[i]
    reach = curve.size[0] + curve.size[1] + margin
    if distance_to(target.kind, target.size, target.solids, target.hull, x, n) > reach:
        return
    for k in range(count):
        gaps[k], slopes[k] = _sample(curve, target, k * _step(slopes))
    angles, told = np.empty(2 * count), 0
    for k in range(_nearest_places(curve, target, slopes, angles)):
        if tell_ball(curve, target, angles[k], margin, found, x, n):
            angles[told] = angles[k]
            told += 1
            if BOX <= target.kind <= CYLINDER:
                _around(curve, target, angles[k], margin, found, n)
    if told > 0:
        _beside(curve, target, slopes, gaps, angles, told, margin, found)


@compiled
def _step(slopes: Floats) -> float:
    """The angle from one sample to the next, rad."""
    return 2.0 * math.pi / len(slopes)


@compiled
def _sample(curve: Curve, target: Target, t: float) -> tuple[float, float]:
    """The gap of the ball at an angle, and its slope there."""
    x, w, n = np.empty(3), np.empty(3), np.empty(3)
    point_at(curve, t, x, w)
    distance = distance_to(target.kind, target.size, target.solids, target.hull, x, n)
    return distance - radius_of(curve), dot(n, w)


@compiled
def _nearest_places(curve: Curve, target: Target, slopes: Floats, angles: Floats) -> int:
    """Angles where the slope gets from below zero to above it; how many. Where it is level all along, one of those."""
    level, count, step = _LEVEL * curve.size[0], 0, _step(slopes)
    for k in range(len(slopes)):
        here, after, high = slopes[k], slopes[(k + 1) % len(slopes)], (k + 1) * step
        if here < -level and after > level:
            angles[count] = level_between(curve, target, k * step, high, here, after)
            count += 1
        elif here < -level and after >= -level:
            angles[count] = high
            count += 1
        elif -level <= here <= level and after > level and count == 0:
            angles[count] = k * step
            count += 1
        if here * after > 0.0 and min(abs(here), abs(after)) > level:
            t = _turned_between(curve, target, slopes, k, level)
            if here < 0.0 and t < high:
                angles[count] = level_between(curve, target, k * step, t, here, slope_at(curve, target, t))
                count += 1
            elif t < high:
                angles[count] = level_between(curve, target, t, high, slope_at(curve, target, t), after)
                count += 1
    if count == 0 and abs(slopes[0]) <= level:
        angles[0] = 0.0
        count = 1
    return count


@compiled
def _turned_between(curve: Curve, target: Target, slopes: Floats, k: int, level: float) -> float:
    """An angle between the k-th and the next, where the slope has the other sign than at both; or that of the next."""
    step = _step(slopes)
    low, high, here, after = k * step, (k + 1) * step, slopes[k], slopes[(k + 1) % len(slopes)]
    side, change = 1.0 if here < 0.0 else -1.0, abs(here - slopes[(k - 1) % len(slopes)])
    if abs(here) > change and abs(after) > abs(slopes[(k + 2) % len(slopes)] - after):
        return high
    if side * (slope_at(curve, target, low + _INWARDS) - here) <= 0.0:
        return high
    if side * (slope_at(curve, target, high - _INWARDS) - after) <= 0.0:
        return high
    t = _largest(curve, target, low, high, side, level)
    return t if side * slope_at(curve, target, t) > level else high


@compiled
def _largest(curve: Curve, target: Target, low: float, high: float, side: float, enough: float) -> float:
    """Where between two angles side * slope is largest, or more than enough, by golden sections."""
    one, other = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_one, at_other = side * slope_at(curve, target, one), side * slope_at(curve, target, other)
    for _ in range(_HALVINGS):
        if max(at_one, at_other) > enough:
            break
        if at_one > at_other:
            high, other, at_other = other, one, at_one
            one = high - _GOLDEN * (high - low)
            at_one = side * slope_at(curve, target, one)
        else:
            low, one, at_one = one, other, at_other
            other = low + _GOLDEN * (high - low)
            at_other = side * slope_at(curve, target, other)
    return one if at_one > at_other else other


@compiled
def _beside(
    curve: Curve, target: Target, slopes: Floats, gaps: Floats, angles: Floats, told: int, margin: float, found: Found
) -> None:  # fmt: skip
    """Balls that stay where they are on the circle, where the gap hardly varies, a few of all that are so."""
    x, n, least, level, stride = np.empty(3), np.empty(3), np.inf, 0, 1
    apart, carries = np.full(len(slopes), np.inf), np.zeros(len(slopes), dtype=np.bool_)
    step = _step(slopes)
    for k in range(len(slopes)):
        least = min(least, gaps[k])
    for k in range(len(slopes)):
        for m in range(told):
            apart[k] = min(apart[k], abs(math.sin(0.5 * (k * step - angles[m]))))
        lean = abs(slopes[k]) / curve.size[0]
        carries[k] = gaps[k] < min(margin, least + _RISE * curve.size[0]) and lean <= _LEAN
        if carries[k] and lean > 2.0 * _STANDING * apart[k]:
            carries[k] = _is_hooked(curve, target, k * step)
        level += 1 if carries[k] else 0
    while level > (_MANY if target.kind == TORUS else _FEW) * stride:
        stride *= 2
    for j in range(len(slopes) // stride):
        k = j * stride
        if carries[k] and apart[k] > math.sin(0.5 * _BESIDE * step) and found.size[0] < len(found.rows):
            if tell_ball(curve, target, k * step, margin, found, x, n) and _is_on_face(target, n):
                found.size[0] -= 1
            elif target.kind == TORUS:
                _across(curve, k * step, found.rows[found.size[0] - 1])


@compiled
def _is_hooked(curve: Curve, target: Target, t: float) -> bool:
    """Whether B is another torus, and inside of the circle."""
    x, w, n, inwards = np.empty(3), np.empty(3), np.empty(3), 0.0
    if target.kind != TORUS:
        return False
    point_at(curve, t, x, w)
    distance_to(target.kind, target.size, target.solids, target.hull, x, n)
    for i in range(3):
        inwards += (curve.centre[i] - x[i]) * n[i]
    return inwards < 0.0


@compiled
def _across(curve: Curve, t: float, row: Floats) -> None:
    """Have a contact of the ball at t with another torus, about the z axis, press across both circles where these are
    not along each other, so that it turns neither torus about its axis."""
    x, w, along, n = np.empty(3), np.empty(3), np.zeros(3), np.empty(3)
    point_at(curve, t, x, w)
    along[0], along[1] = -x[1], x[0]
    if normalized(along) == 0.0:
        return
    crossed(w, along, n)
    if normalized(n) < _CROSSING * curve.size[0]:
        return
    side = 1.0 if dot(n, row[3:6]) > 0.0 else -1.0
    for i in range(3):
        row[3 + i] = side * n[i]
        row[i] = x[i] - (curve.size[1] + row[6]) * row[3 + i]


@compiled
def _is_on_face(target: Target, n: Floats) -> bool:
    """Whether a normal of B is that of a face or a cap, on which what carries is told by ``_around``."""
    if target.kind == CYLINDER:
        return abs(n[2]) > _FACE
    if BOX <= target.kind < CYLINDER:
        for f in range(target.solids.ranges[target.hull, 4], target.solids.ranges[target.hull, 5]):
            if dot(target.solids.normals[f], n) > _FACE:
                return True
    return False


@compiled
def _around(curve: Curve, target: Target, t: float, margin: float, found: Found, normal: Floats) -> None:
    """Points that carry together with the one at t: quarters of the circle on, and over the sides of a face."""
    for quarter in range(1, 4):
        tell_like(curve, target, t + 0.5 * math.pi * quarter, margin, found, normal)
    tell_crossings(curve, target, margin, found, normal)
