"""Where Bullet's bodies were put, which of them must be put elsewhere, and how far they have moved; compiled."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, NamedTuple

import numpy as np

from bridge.bodies.bullet_groups import OTHERS, STATICS
from bridge.orientations import quaternion_of
from recursive_dyn.codegen.compiled import Flags, Floats, Integers, compiled

Many = Sequence[float] | np.ndarray


class Placing(NamedTuple):
    """Bullet's bodies that follow the scene's, a row each.

    ids, bodies (n,): Bullet's id, the scene's number; poses (n, 4, 4), quaternions (n, 4), twists (n, 6): where they
    were put last, NaN where that is not known; due (n,): rows that must be put elsewhere, waiting (1,) of them.
    dormant (n,): 1 for those that meet nothing that stands still, -1 where that is to be said anew. seen (n, 4, 4):
    where they were when Bullet last looked twice; reach (n,), m: how far a turn of 1 rad moves their
    surfaces; forgiven (1,), m: how far they may move until Bullet forgets points of contact that still are there.
    groups, masks (n,): Bullet's collision groups and masks of those that are not dormant; regrouped (1,): 1 if any came
    or changed its group since all were put into theirs in their order, on which Bullet's order of pairs depends.
    """

    ids: Integers
    bodies: Integers
    poses: Annotated[np.ndarray, float, 4, 4]
    quaternions: Annotated[np.ndarray, float, 4]
    twists: Annotated[np.ndarray, float, 6]
    due: Integers
    waiting: Integers
    dormant: Integers
    seen: Annotated[np.ndarray, float, 4, 4]
    reach: Floats
    forgiven: Floats
    groups: Integers
    masks: Integers
    regrouped: Integers


def placing_of(ids: Many, bodies: Many, reach: Many, groups: Many, masks: Many) -> Placing:
    """Bullet's bodies of these ids, of the scene's of these numbers, of which nobody knows where they are."""
    n, unknown = len(ids), np.full((len(ids), 4, 4), np.nan)
    return Placing(
        np.array(ids, dtype=np.int64), np.array(bodies, dtype=np.int64), unknown, np.zeros((n, 4)), np.zeros((n, 6)),
        np.zeros(n, dtype=np.int64), np.zeros(1, dtype=np.int64), np.zeros(n, dtype=np.int64), unknown.copy(),
        np.array(reach, dtype=float), np.zeros(1), np.array(groups, dtype=np.int64), np.array(masks, dtype=np.int64),
        np.ones(1, dtype=np.int64),
    )  # fmt: skip


class Placement(NamedTuple):
    """Where bodies belong: poses (nb, 4, 4) and twists (nb, 6) of the scene's, and Bullet's bodies that follow them."""

    placing: Placing
    poses: Annotated[np.ndarray, float, 4, 4]
    twists: Annotated[np.ndarray, float, 6]


@compiled
def note_due(placement: Placement) -> int:
    """How many of Bullet's bodies are not where they belong; they are noted as put there."""
    placing, poses, twists = placement
    count = 0
    for k in range(len(placing.ids)):
        body = placing.bodies[k]
        if not _is_there(placing.poses[k], poses[body], placing.twists[k], twists[body]):
            placing.poses[k] = poses[body]
            placing.twists[k] = twists[body]
            q = placing.quaternions[k]
            q[0], q[1], q[2], q[3] = quaternion_of(poses[body])
            placing.due[count] = k
            count += 1
    placing.waiting[0] = count
    return count


@compiled
def note_dormant(placing: Placing, asleep: Integers, gathering: Flags) -> bool:
    """Note which of Bullet's bodies sleep now, or do no more, as due to be regrouped; whether any does not sleep.

    asleep (nb,): 1 for the scene's bodies that do. Those that wake are looked at twice, as Bullet forgot their points;
    gathering: by Bullet's id, those of which it would not find all of them again.
    """
    count, awake = 0, False
    for k in range(len(placing.ids)):
        now = asleep[placing.bodies[k]]
        awake = awake or now == 0
        if placing.dormant[k] != now and not (now != 0 and gathering[placing.ids[k]]):
            placing.dormant[k] = now
            placing.due[count] = k
            count += 1
            if now == 0:
                placing.seen[k, 0, 3] = np.nan
    placing.waiting[0] = count
    if count > 0:
        placing.regrouped[0] = 1
    return awake


@compiled
def groups_of(placing: Placing, k: int) -> tuple[int, int]:
    """A body's collision group and mask in Bullet, where it meets another if either's group is in the other's mask."""
    if placing.dormant[k] != 0:
        return STATICS, placing.masks[k] & OTHERS
    return placing.groups[k], placing.masks[k]


@compiled
def _is_there(A: Annotated[np.ndarray, float, 4], B: Annotated[np.ndarray, float, 4], a: Floats, b: Floats) -> bool:
    same = True
    for i in range(3):
        for j in range(4):
            same = same and A[i, j] == B[i, j]
    for i in range(6):
        same = same and a[i] == b[i]
    return same


@compiled
def has_moved(placing: Placing, touched: Flags) -> bool:
    """Whether Bullet must look twice for where the mirror's own bodies are.

    As a body that touched anything when it looked last, which touched tells by Bullet's id, is farther from where it
    was seen than is forgiven; others have no points of contact that could be in the way of new ones.
    """
    for k in range(len(placing.ids)):
        X, Y = placing.poses[k], placing.seen[k]
        shift, turn = 0.0, 0.0
        for i in range(3):
            shift += (X[i, 3] - Y[i, 3]) ** 2
            for j in range(3):
                turn += (X[i, j] - Y[i, j]) ** 2  # 8 sin(angle / 2)^2
        way = math.sqrt(shift) + placing.reach[k] * math.sqrt(0.5 * turn)
        if np.isnan(way) or (way > placing.forgiven[0] and touched[placing.ids[k]]):
            return True
    return False
