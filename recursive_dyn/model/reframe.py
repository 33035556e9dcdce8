"""Frames and mass parameters in which a recursion needs the fewest operations; the motion is exactly the same.

For a joint that turns about one axis of its link frame the frame may be turned about that axis and slid along it, on
either side of the joint: consecutive frames then differ by one elementary rotation and two components of translation
(Denavit & Hartenberg), the angle by a constant. Points of the link that the joint does not move belong to its parent as
well: the link's mass, and for a single axis its first and second moment along the axis, are regrouped there (the base
inertial parameters of Khalil & Dombre, Modeling, Identification and Control of Robots, section 9.4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from recursive_dyn.graph.expression import Expression, array, is_constant
from recursive_dyn.model.model import WORLD, BodyFrame, Link, MassMoments
from recursive_dyn.spatial.algebra import inverse_pose, mirrored
from recursive_dyn.spatial.displacement import AxisRotation, rotations_of

NEARLY = 0.999  # cosine: common normals of axes that are nearer to each other are far away
_UPRIGHT = np.eye(3)
TINY = 1e-14  # m: what is nearer to 0 is there by rounding


def turning_axis(link: Link) -> int | None:
    """The coordinate axis 0, 1, 2 through the link's origin about which its joint turns, and does nothing else."""
    transforms = link.joint.kinematics().transforms
    if len(transforms) != 1 or link.joint.nv != 1 or not _still(transforms[0][:3, 3]):
        return None
    rotations = rotations_of(transforms[0][:3, :3])
    if len(rotations) != 1 or not isinstance(rotations[0], AxisRotation):
        return None
    column = link.joint.kinematics().subspace[:, 0]
    axis = rotations[0].axis
    plain = all(is_constant(x) and abs(x) == (1.0 if i == axis else 0.0) for i, x in enumerate(column))
    cosine = rotations[0].c
    own_angle = type(cosine) is Expression and cosine.op == "cos" and cosine.args[0].op == "input"
    return axis if plain and own_angle else None


def _still(p: np.ndarray) -> bool:
    return all(is_constant(x) and x == 0.0 for x in p)


def canonical_frames(links: Sequence[Link], bodies: Sequence[BodyFrame]) -> tuple[list[Link], list[BodyFrame]]:
    """The same links and bodies with turned and slid link frames."""
    result, moved = list(links), list(bodies)
    axes = [turning_axis(link) for link in result]
    carried: list[list[int]] = [[] for _ in result]
    for k, link in enumerate(result):
        if link.parent != WORLD:
            carried[link.parent].append(k)
    fixed: list[list[int]] = [[] for _ in result]
    for k, body in enumerate(moved):
        if body.link != WORLD:
            fixed[body.link].append(k)
    for i in range(len(result)):
        axis = axes[i]
        if axis is None or not _constant(result[i].placement):
            continue
        children = carried[i]
        before = _turn_before(result[i], axis, axes)
        after = _turn_after([(result[k], axes[k]) for k in children], axis)
        parent = result[i].parent
        helped = [(result[k], axes[k]) for k in children]
        if parent != WORLD:
            near = result[parent].parent == WORLD and axes[parent] is not None
            helped = [(child, last) for child, last in helped if near and _crossing(child, last, axis)]
        slide = _slide(result[i], helped, axis, None if parent == WORLD else axes[parent])
        _move(result, moved, i, axis, before, after, slide, children, fixed[i])
    return result, moved


def _constant(X: np.ndarray) -> bool:
    return all(is_constant(x) for x in X.flat)


def axis_turn(axis: int, angle: float) -> np.ndarray:
    """Rotation matrix (3, 3) about a coordinate axis."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R = np.eye(3)
    R[i, i] = R[j, j] = np.cos(angle)
    R[j, i] = np.sin(angle)
    R[i, j] = -R[j, i]
    return R


def _angles(R: np.ndarray, first: int, last: int) -> tuple[float, float, float, int]:
    """a, b, c, m with R = R_first(a) R_m(b) R_last(c), m a third axis."""
    middle = (first + 1) % 3 if first == last else 3 - first - last
    # R e_last = R_first(a) R_m(b) e_last: b and a follow from where the last axis points, c from what remains
    i, j = (first + 1) % 3, (first + 2) % 3
    pointing = R[:, last]
    reference = axis_turn(middle, 1.0)[:, last]
    if np.hypot(pointing[i], pointing[j]) < 1e-12 and first == last:
        a = 0.0
    elif first == last:
        a = np.arctan2(pointing[j], pointing[i]) - np.arctan2(reference[j], reference[i])
    else:
        a = np.arctan2(pointing[j], pointing[i]) - (0.0 if last == i else np.pi / 2)
    rest = axis_turn(first, a).T @ R
    n, o = (middle + 1) % 3, (middle + 2) % 3
    start = 0.0 if last == n else np.pi / 2
    b = np.arctan2(rest[o, last], rest[n, last]) - start
    rest = axis_turn(middle, b).T @ rest
    k, l = (last + 1) % 3, (last + 2) % 3
    return float(a), float(b), float(np.arctan2(rest[l, k], rest[k, k])), middle


def _turn_before(link: Link, own: int, axes: Sequence[int | None]) -> float:
    """Angle psi about the link's own axis that strips R_own(c) from its placement."""
    R = np.array(link.placement[:3, :3], dtype=float)
    if _elementary(R):
        return 0.0
    first = axes[link.parent] if link.parent != WORLD else None
    return -_angles(R, (own + 1) % 3 if first is None else first, own)[2]


def _turn_after(children: Sequence[tuple[Link, int | None]], axis: int) -> float:
    """Angle phi of the link frame that strips R_own(a) from the first turning child's placement."""
    for child, last in children:
        if last is not None and _constant(child.placement):
            R = np.array(child.placement[:3, :3], dtype=float)
            return 0.0 if _elementary(R) else _angles(R, axis, last)[0]
    return 0.0


def _elementary(R: np.ndarray) -> bool:
    rotations = rotations_of(array(R))
    return not rotations or isinstance(rotations[0], AxisRotation)


def _slide(link: Link, children: Sequence[tuple[Link, int | None]], axis: int, before: int | None) -> float:
    """Distance along the own axis that leaves the fewest components in the placement, best along the axis before.

    children: of a link whose own placement costs little, as the root's and the next one's do: the first of them is
    helped instead.
    """
    for child, last in children:
        if is_constant(child.placement[axis, 3]):
            return _towards(child, last, axis)
    if link.parent == WORLD:
        return 0.0
    p = np.array(link.placement[:3, 3], dtype=float)
    d = np.array(link.placement[:3, :3], dtype=float)[:, axis]
    candidates = [0.0] + [-p[j] / d[j] for j in range(3) if abs(d[j]) > 1e-6]
    across = [j for j in range(3) if j != before]

    def components(slide: float) -> tuple[int, int, float]:
        left = np.abs(p + slide * d) > 1e-14
        return int(np.count_nonzero(left)), int(np.count_nonzero(left[across])), abs(slide)

    return float(min(candidates, key=components))


def _towards(child: Link, last: int | None, axis: int) -> float:
    """How far along the axis its common normal with that of a child is, which a slide of the child's frame will meet;
    of a child that does not turn, or about a parallel axis, how far its origin."""
    height = float(child.placement[axis, 3])
    if not _crossing(child, last, axis):
        return height
    p, d = (np.array(child.placement[:3, column], dtype=float) for column in (3, last))
    return float((height - d[axis] * (p @ d)) / (1.0 - d[axis] ** 2))


def _crossing(child: Link, last: int | None, axis: int) -> bool:
    """Whether a child turns about an axis that is not nearly parallel to this one."""
    return last is not None and _constant(child.placement) and abs(child.placement[axis, last]) < NEARLY


def _move(
    links: list[Link],
    bodies: list[BodyFrame],
    i: int,
    axis: int,
    before: float,
    after: float,
    slide: float,
    children: Sequence[int],
    own_bodies: Sequence[int],
) -> None:
    if before == after == slide == 0.0:
        return
    link = links[i]
    T, frame = np.eye(4), np.eye(4)
    T[:3, :3], frame[:3, :3] = axis_turn(axis, before), axis_turn(axis, after)
    T[axis, 3] = frame[axis, 3] = slide
    back = inverse_pose(frame)
    inverse = array(back)
    placement = snap(link.placement @ array(T))
    direction = float(np.sign(link.joint.kinematics().subspace[axis, 0]))
    links[i] = replace(
        link,
        placement=placement,
        offset=link.offset + direction * (after - before),
        center=inverse[:3, :3] @ link.center + inverse[:3, 3],
        inertia=_rotated(back[:3, :3], link.inertia),
    )
    for k in children:
        links[k] = replace(links[k], placement=snap(inverse @ links[k].placement))
    for k in own_bodies:
        bodies[k] = replace(bodies[k], pose=snap(inverse @ bodies[k].pose))


def _rotated(R: np.ndarray, inertia: np.ndarray) -> np.ndarray:
    if np.array_equal(R, np.eye(3)):
        return inertia
    return mirrored(array(R) @ inertia @ array(R.T))


def snap(X: np.ndarray) -> np.ndarray:
    """The pose with a rotation that misses an elementary one by rounding only put right: recursions exploit it."""
    X = X.copy()
    if not _constant(X[:3]):
        return X
    R = X[:3, :3].astype(float)
    upright = bool((R == _UPRIGHT).all())
    for axis in range(3):
        i, j = (axis + 1) % 3, (axis + 2) % 3
        nearest = _UPRIGHT if upright else axis_turn(axis, float(np.arctan2(R[j, i], R[i, i])))
        nearest = np.where(np.abs(nearest) < 1e-15, 0.0, nearest)
        if np.abs(R - nearest).max() < 1e-13:
            X[:3, :3] = array(nearest)
            break
    X[:3, 3] = [0.0 if abs(x) < TINY else x for x in X[:3, 3]]
    return X


def mass_moments(links: Sequence[Link]) -> list[MassMoments]:
    """Each link's moments after regrouping what its joint does not move into its parent, leaves first."""
    moments = [MassMoments.of(link.mass, link.center, link.inertia) for link in links]
    for i in reversed(range(len(links))):
        link, own = links[i], moments[i]
        transforms = link.joint.kinematics().transforms
        if not all(_still(t[:3, 3]) for t in transforms):
            continue
        axis = turning_axis(link)
        kept = replace(own, mass=0.0)
        line_first, line_second = 0.0, 0.0
        d = link.placement[:3, 0] * 0.0
        if axis is not None:
            line_first, line_second = own.first[axis], own.second[axis, axis]
            first, second = own.first.copy(), own.second.copy()
            first[axis] = second[axis, axis] = 0.0
            kept = MassMoments(0.0, first, second)
            d = link.placement[:3, axis]
        moments[i] = kept
        if link.parent != WORLD:
            p = link.placement[:3, 3]
            host = moments[link.parent]
            mixed = np.outer(p, d) * line_first
            moments[link.parent] = MassMoments(
                host.mass + own.mass,
                host.first + p * own.mass + d * line_first,
                host.second + np.outer(p, p) * own.mass + mixed + mixed.T + np.outer(d, d) * line_second,
            )
    return moments
