"""Springs of ball and free joints between free bodies: what ``forces.joint_torsion`` says, at coordinates found."""

from __future__ import annotations

from math import atan2, cos, sin
from typing import Annotated, NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.model.model import Model, once
from recursive_dyn.spatial.rotations import quaternion_exp

Threes = Annotated[np.ndarray, float, 3]

_SMALL = 1e-4  # square of an angle below which its functions are taken by their series


class TurnSprings(NamedTuple):
    """t springs: slots, places: of the first of their velocities, and of their coordinates; free (t,): 1 of a free
    joint, whose position has springs, too. back (t, 4): quaternions that undo the turns of rest; moved (t, 3):
    positions of rest; torsion, stiffness (t, 3)."""

    slots: Integers
    places: Integers
    free: Integers
    back: Annotated[np.ndarray, float, 4]
    moved: Threes
    torsion: Threes
    stiffness: Threes


@once
def turn_springs(model: Model) -> TurnSprings:
    """Those of a model's joints."""
    found = []
    for link in model.links:
        for f in link.joint.factors if link.drive is None else ():
            own = [model.coordinates[s] for s in link.slots[f.first_v : f.first_v + f.nv]]
            if any(c.torsion for c in own):
                free, rest, k = len(own) == 6, np.zeros(6), np.zeros(6)
                rest[: len(own)], k[: len(own)] = [c.rest for c in own], [c.torsion for c in own]
                at = link.slots[f.first_v], link.places[f.first_q], int(free)
                found.append((*at, quaternion_exp(-rest[:3]).astype(float), rest[3:], k[:3], k[3:]))
    if not found:
        none = np.zeros(0, dtype=np.int64)
        return TurnSprings(none, none, none, np.zeros((0, 4)), *np.zeros((3, 0, 3)))
    slots, places, free, *others = zip(*found, strict=True)
    return TurnSprings(np.array(slots), np.array(places), np.array(free), *map(np.array, others))


@compiled
def turn_pull(it: TurnSprings, k: int, q: Floats, out: Floats) -> None:
    """What spring k takes, (3,) or (6,), at the coordinates q: its energy's gradient along its velocities."""
    at = it.places[k] + (3 if it.free[k] == 1 else 0)
    e, pull, once, twice = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    _rotation_vector(it.back[k], q[at : at + 4], e)
    square = e[0] * e[0] + e[1] * e[1] + e[2] * e[2]
    c = 1.0 / 12.0 + square / 720.0
    if square > _SMALL:
        half = 0.5 * np.sqrt(square)
        c = (1.0 - half * cos(half) / sin(half)) / square
    for i in range(3):
        pull[i] = it.torsion[k, i] * e[i]
    _cross(e, pull, once)
    _cross(e, once, twice)
    for i in range(3):
        out[i] = pull[i] - 0.5 * once[i] + c * twice[i]
    if it.free[k] == 1:
        _back_turned(q[at : at + 4], it.stiffness[k], it.moved[k], q[at - 3 : at], out)


@compiled
def turn_energy(it: TurnSprings, k: int, q: Floats) -> float:
    """Energy of spring k at the coordinates q."""
    at, e, total = it.places[k] + (3 if it.free[k] == 1 else 0), np.empty(3), 0.0
    _rotation_vector(it.back[k], q[at : at + 4], e)
    for i in range(3):
        total += it.torsion[k, i] * e[i] * e[i]
        if it.free[k] == 1:
            away = q[at - 3 + i] - it.moved[k, i]
            total += it.stiffness[k, i] * away * away
    return 0.5 * total


@compiled
def _rotation_vector(back: Floats, q: Floats, out: Floats) -> None:
    """log(back q), at most pi long."""
    x = back[3] * q[0] + back[0] * q[3] + back[1] * q[2] - back[2] * q[1]
    y = back[3] * q[1] + back[1] * q[3] + back[2] * q[0] - back[0] * q[2]
    z = back[3] * q[2] + back[2] * q[3] + back[0] * q[1] - back[1] * q[0]
    w = back[3] * q[3] - back[0] * q[0] - back[1] * q[1] - back[2] * q[2]
    if w < 0.0:
        x, y, z, w = -x, -y, -z, -w
    sine = np.sqrt(x * x + y * y + z * z)
    scale = 2.0 * atan2(sine, w) / sine if sine > 1e-8 else 2.0 / w
    out[0], out[1], out[2] = scale * x, scale * y, scale * z


@compiled
def _cross(a: Floats, b: Floats, out: Floats) -> None:
    out[0], out[1], out[2] = a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@compiled
def _back_turned(turn: Floats, stiffness: Floats, rest: Floats, place: Floats, out: Floats) -> None:
    """out[3:] <- R^T K (place - rest)."""
    x, y, z, w = turn[0], turn[1], turn[2], turn[3]
    size = x * x + y * y + z * z + w * w
    a, b, c = (
        stiffness[0] * (place[0] - rest[0]), stiffness[1] * (place[1] - rest[1]), stiffness[2] * (place[2] - rest[2])
    )  # fmt: skip
    # R^T f = f + 2 u x (u x f - w f) / |q|^2, u = (x, y, z)
    i, j, k = y * c - z * b - w * a, z * a - x * c - w * b, x * b - y * a - w * c
    out[3] = a + 2.0 * (y * k - z * j) / size
    out[4] = b + 2.0 * (z * i - x * k) / size
    out[5] = c + 2.0 * (x * j - y * i) / size
