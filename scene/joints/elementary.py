"""Fixed, revolute, prismatic, screw, cylindrical, universal, planar, euler, ball and free joints."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Graph, array, cos, sin
from recursive_dyn.joint import joint_program as core
from recursive_dyn.spatial.algebra import warn_of_degrees
from recursive_dyn.spatial.spaces import Flat, RigidMotion, Rotation, Space
from scene.joints.parametric_joint import Joint, Origin, composed
from scene.number_checks import SIZE_RANGE, as_floats

_AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


def unit_axis(axis: Any) -> np.ndarray:
    """Unit vector (3,) of "x", "y", "z" or any 3-vector that is not zero."""
    if isinstance(axis, str):
        if axis.lstrip("-") not in _AXES:
            raise ModelError(f"axis {axis!r} is not 'x', 'y', 'z' or a 3-vector")
        return np.array(_AXES[axis.lstrip("-")]) * (-1.0 if axis.startswith("-") else 1.0)
    vector = as_floats(axis)
    if vector.shape == (3,) and SIZE_RANGE[1] < np.abs(vector).max() < np.inf:
        vector = vector / np.abs(vector).max()  # whose square does not overflow
    if vector.shape != (3,) or not np.all(np.isfinite(vector)) or np.linalg.norm(vector) < 1e-12:
        raise ModelError(f"axis {axis!r} must be 'x', 'y', 'z' or a finite 3-vector that is not zero")
    return vector / np.linalg.norm(vector)


def fixed(transform: Any = None) -> Joint:
    """No motion: the child is welded to the parent, optionally at a 4 x 4 pose."""
    pose = np.eye(4) if transform is None else as_floats(transform)
    if pose.shape != (4, 4) or not np.isfinite(pose).all():
        raise ModelError(f"joints.fixed takes a finite 4 x 4 pose, not {transform!r:.200} of shape {pose.shape}")
    origin = Origin("fixed", {"transform": None if transform is None else pose})
    return Joint.made(origin, core.build(Graph(), [(Flat(0), pose)]), [], {})


def revolute(axis: Any, **settings: Any) -> Joint:
    """Rotation about an axis through the origin; coordinate: angle, rad (a UserWarning tells of limits in degrees)."""
    joint = _about_axis(Origin("revolute", {"axis": _given(axis)}), lambda q: (q, 0.0), "angle", settings)
    if "limits" in settings:
        warn_of_degrees("limits of a revolute joint", joint.coordinates[0].limits, 3)
    return joint


def prismatic(axis: Any, **settings: Any) -> Joint:
    """Translation along an axis; coordinate: distance, m."""
    return _about_axis(Origin("prismatic", {"axis": _given(axis)}), lambda q: (0.0, q), "distance", settings)


def screw(axis: Any, pitch: float, **settings: Any) -> Joint:
    """Rotation about an axis with ``pitch`` metres of advance along it a radian; coordinate: angle."""
    advance = as_floats(pitch)
    if advance.shape != () or not np.isfinite(advance):
        raise ModelError(f"a screw's pitch must be finite (m/rad), not {pitch}")
    origin = Origin("screw", {"axis": _given(axis), "pitch": float(advance)})
    return _about_axis(origin, lambda q: (q, q * float(advance)), "angle", settings)


def _given(axis: Any) -> str | np.ndarray:
    """An axis that was checked, as it was given: its letter or its three numbers."""
    unit_axis(axis)
    return axis if isinstance(axis, str) else as_floats(axis)


def _about_axis(origin: Origin, motion: Any, name: str, settings: dict[str, Any]) -> Joint:
    graph = Graph()
    angle, distance = motion(graph.input(("q", 0)))
    to_axis, local = _coordinate_axis(unit_axis(origin.arguments["axis"]))
    moving = _elementary(local, angle, distance)
    factors: list[tuple[Space, np.ndarray]] = [(Flat(1), moving)]
    if to_axis is not None:
        factors = [(Flat(0), to_axis), *factors, (Flat(0), to_axis.T)]
    return Joint.made(origin, core.build(graph, factors), [name], settings)


def _coordinate_axis(axis: np.ndarray) -> tuple[np.ndarray | None, np.ndarray]:
    """(None, axis) for a coordinate axis, else (rotation (4, 4) that takes z to the axis, z)."""
    if np.abs(axis).max() > 1.0 - 1e-15:
        return None, np.round(axis)
    helper = np.eye(3)[np.argmin(np.abs(axis))]
    x = np.cross(helper, axis)
    x /= np.linalg.norm(x)
    rotation = np.eye(4)
    rotation[:3, :3] = np.column_stack([x, np.cross(axis, x), axis])
    return rotation, np.array([0.0, 0.0, 1.0])


def _elementary(axis: np.ndarray, angle: Any, distance: Any) -> np.ndarray:
    """Rotation by an angle and translation by a distance along a signed coordinate axis."""
    k = int(np.argmax(np.abs(axis)))
    i, j, sign = (k + 1) % 3, (k + 2) % 3, float(axis[k])
    G = array(np.eye(4))
    c, s = cos(angle), sin(angle) * sign
    G[i, i], G[j, j], G[i, j], G[j, i] = c, c, -s, s
    G[k, 3] = distance * sign
    return G


def cylindrical(axis: Any = "z", **settings: Any) -> Joint:
    """Translation along an axis and rotation about it; coordinates: distance, angle."""
    return _product("cylindrical", {"axis": _given(axis)}, [prismatic(axis), revolute(axis)], settings)


def universal(first: Any = "x", second: Any = "y", **settings: Any) -> Joint:
    """Rotation about ``first``, then about ``second`` carried along; coordinates: angle, angle_2."""
    given = {"first": _given(first), "second": _given(second)}
    joint = _product("universal", given, [revolute(first), revolute(second)], settings)
    if "limits" in settings:
        warn_of_degrees("limits of a universal joint", [x for c in joint.coordinates for x in c.limits], 3)
    return joint


def planar(normal: Any = "z", **settings: Any) -> Joint:
    """Two translations in a plane and the rotation about its normal; coordinates: distance, distance_2, angle."""
    n = unit_axis(normal)
    helper = np.eye(3)[(int(np.argmax(np.abs(n))) + 1) % 3]
    x = helper - n * (helper @ n)
    x /= np.linalg.norm(x)
    parts = [prismatic(x), prismatic(np.cross(n, x)), revolute(n)]
    return _product("planar", {"normal": _given(normal)}, parts, settings)


def euler(order: str = "xyz", **settings: Any) -> Joint:
    """Rotations about the moving axes named by ``order``, two or three letters, neighbours different."""
    letters = order if isinstance(order, str) else ""
    if not 2 <= len(letters) <= 3 or set(letters) - set("xyz") or any(a == b for a, b in pairwise(letters)):
        raise ModelError(f"euler order {order!r} must be two or three of x, y, z with neighbours different, as 'zyx'")
    joint = _product("euler", {"order": letters}, [revolute(a) for a in letters], settings)
    if "limits" in settings:
        warn_of_degrees("limits of a euler joint", [x for c in joint.coordinates for x in c.limits], 3)
    return joint


def _product(name: str, arguments: dict[str, Any], joints: list[Joint], settings: dict[str, Any]) -> Joint:
    total = composed(*joints)
    return Joint.made(Origin(name, arguments), total.program, [c.name for c in total.coordinates], settings)


def ball(**settings: Any) -> Joint:
    """Any rotation, as a quaternion x, y, z, w; velocity: omega in child axes, rad/s.

    stiffness, N m/rad: of a spring with the energy k |phi|^2 / 2, phi the rotation vector from where it rests; rest:
    that place as a rotation vector. limits: :class:`TurnLimits`, a cone and a twist.
    """
    return _on("ball", Rotation(), ["wx", "wy", "wz"], settings)


def free(**settings: Any) -> Joint:
    """Any motion, as position and quaternion x, y, z, w; velocity: [omega; v] in child axes.

    stiffness, rest and limits: as of :func:`ball`; springs, then, N/m and m, of the position along the axes of the
    joint's place too.
    """
    return _on("free", RigidMotion(), ["wx", "wy", "wz", "vx", "vy", "vz"], settings)


def _on(name: str, space: Rotation | RigidMotion, names: list[str], settings: dict[str, Any]) -> Joint:
    """The joint whose pose is the point of a space."""
    return Joint.made(Origin(name, {}), _of_space(space), names, settings)


@cache
def _of_space(space: Rotation | RigidMotion) -> core.JointProgram:
    """One program for as many bodies as have such a joint."""
    graph = Graph()
    return core.build(graph, [(space, space.pose(graph.inputs("q", space.size)))])
