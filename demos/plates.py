"""Flat pieces for the mechanisms: outlines in the xy-plane made into closed meshes about z, toothed or not."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from trimesh import Trimesh

Points: TypeAlias = npt.NDArray[np.float64]

_SLOPE = 0.32  # of a tooth's flanks: half its change of thickness over its height; 20 degrees is 0.36


def prism(outline: Points, width: float) -> Trimesh:
    """A plate of a counterclockwise outline (n, 2), m, of which its mean point sees every corner."""
    n = len(outline)
    corners = np.vstack([outline, outline.mean(axis=0)])
    vertices = np.vstack([np.column_stack([corners, np.full(n + 1, z)]) for z in (-width / 2, width / 2)])
    here = np.arange(n)
    there, up = np.roll(here, -1), n + 1
    middle = np.full(n, n)
    below = np.column_stack([there, here, middle])
    above = np.column_stack([here, there, middle]) + up
    sides = np.vstack([np.column_stack([here, there, there + up]), np.column_stack([here, there + up, here + up])])
    return Trimesh(vertices, np.vstack([below, above, sides]), process=False)


def band(inner: Points, outer: Points, width: float, closed: bool) -> Trimesh:
    """A plate between two counterclockwise lines of n points each (n, 2), m: a ring, or the part of one."""
    n = len(inner)
    lines = [np.column_stack([line, np.full(n, z)]) for z in (-width / 2, width / 2) for line in (inner, outer)]
    here = np.arange(n if closed else n - 1)
    there = (here + 1) % n
    corners = [0, n, 3 * n, 2 * n]  # around a cut: inner and outer below, outer and inner above
    faces = []
    for a, b in zip(corners, np.roll(corners, -1), strict=True):
        faces += [np.column_stack([here + a, here + b, there + b]), np.column_stack([here + a, there + b, there + a])]
    if not closed:
        a, b, c, d = corners
        faces += [[[a, c, b], [a, d, c]], [[a + n - 1, b + n - 1, c + n - 1], [a + n - 1, c + n - 1, d + n - 1]]]
    return Trimesh(np.vstack(lines), np.vstack(faces)[:, ::-1], process=False)


def sector(inner: float, outer: float, start: float, stop: float, width: float, points: int = 48) -> Trimesh:
    """The part of a flat ring between two angles, rad; all of it when they are a full turn apart."""
    closed = stop - start > 2 * np.pi - 1e-9
    angle = np.linspace(start, stop, points, endpoint=not closed)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    return band(inner * circle, outer * circle, width, closed)


def _tooth(pitch: float, addendum: float, dedendum: float) -> Points:
    """One tooth of straight flanks about zero (4, 2): where along the pitch line, and how far above it."""
    heights = np.array([-dedendum, addendum, addendum, -dedendum])
    along = 0.24 * pitch - _SLOPE * heights  # a little less than a quarter: play between the teeth
    return np.column_stack([along * (-1, -1, 1, 1), heights])


def gear(teeth: int, radius: float, hole: float, width: float) -> Trimesh:
    """A gear wheel of that pitch radius, m, the middle of a tooth on the x axis."""
    module = 2 * radius / teeth
    tooth = _tooth(2 * np.pi * radius / teeth, 0.9 * module, 1.1 * module)
    angle = (2 * np.pi * np.arange(teeth)[:, None] / teeth + tooth[:, 0] / radius).ravel()
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    return band(hole * circle, circle * (radius + np.tile(tooth[:, 1], teeth))[:, None], width, closed=True)


def rack(teeth: int, module: float, depth: float, width: float) -> Trimesh:
    """A toothed bar along x, its teeth towards +y, the pitch line y = 0 in the middle of a gap at x = 0."""
    pitch = np.pi * module
    tooth = _tooth(pitch, 0.9 * module, 1.1 * module)
    middles = pitch * (np.arange(teeth) - (teeth - 1) / 2)  # an even number of teeth leaves a gap at zero
    top = np.column_stack([(middles[:, None] + tooth[:, 0]).ravel(), np.tile(tooth[:, 1], teeth)])
    bottom = np.column_stack([top[:, 0], np.full(len(top), -depth)])
    return band(bottom[::-1], top[::-1], width, closed=False)  # counterclockwise about a centre below
