"""Joints on curves and patches of control points, with poses that are computed in another way than the joints do.

Each maker gives (joint, pose of q, domain). The poses come from de Casteljau's algorithm and from SciPy's B-splines and
their derivatives; only what a table stands for by definition, a rotation-minimising normal and the inverse of a length,
is taken from the joint's own path. Domains keep to where all derivatives exist, which laws of motion are tested with.
"""

from __future__ import annotations

from math import comb

import numpy as np
from scipy.interpolate import BSpline

from scene import joints


def normed(v):
    return v / np.linalg.norm(v)


def pose(x, y, z, origin):
    G = np.eye(4)
    G[:3] = np.column_stack([x, y, z, origin])
    return G


def up_pose(position, velocity, up):
    x = normed(velocity)
    y = normed(np.cross(up, x))
    return pose(x, y, np.cross(x, y), position)


def frenet_pose(position, velocity, bend):
    x, z = normed(velocity), normed(np.cross(velocity, bend))
    return pose(x, np.cross(z, x), z, position)


def tangent_pose(position, du, dv):
    x, z = normed(du), normed(np.cross(du, dv))
    return pose(x, np.cross(z, x), z, position)


def casteljau(points, t):
    while len(points) > 1:
        points = (1.0 - t) * points[:-1] + t * points[1:]
    return points[0]


def slope(points, t):
    """Derivative of the Bezier arc."""
    return (len(points) - 1) * casteljau(np.diff(points, axis=0), t)


def ring(rng, count, wave=0.3):
    """Points around the z axis, never steep."""
    angle = 2.0 * np.pi * np.arange(count) / count
    r = rng.uniform(0.9, 1.1, count)
    return np.column_stack([r * np.cos(angle), r * np.sin(angle), wave * rng.uniform(-1, 1, count)])


def cyclic(points, t):
    n = len(points)
    k = (n - 1) // 2
    weights = (1.0 + np.cos(t - 2.0 * np.pi * np.arange(n) / n)) ** k
    slopes = (
        -k * (1.0 + np.cos(t - 2.0 * np.pi * np.arange(n) / n)) ** (k - 1) * np.sin(t - 2.0 * np.pi * np.arange(n) / n)
    )
    scale = 2.0**k / (n * comb(2 * k, k))
    return scale * weights @ points, scale * slopes @ points


def terrain(rng, rows, columns, height=0.2):
    x, y = np.meshgrid(np.linspace(-1, 1, rows), np.linspace(-1, 1, columns), indexing="ij")
    return np.stack([x, y, height * rng.uniform(-1, 1, (rows, columns))], axis=2)


def bezier_arc(rng, settings):
    points = np.array([[0, 0, 0], [0.4, 0.5, 0.1], [0.9, 0.3, 0.4], [1.2, -0.3, 0.2], [1.5, 0.2, 0]], dtype=float)
    points += rng.uniform(-0.05, 0.05, points.shape)
    up = normed(np.array([0, 0, 1]) + rng.uniform(-0.3, 0.3, 3))
    joint = joints.bezier(points, frame="up", up=up, **settings)
    return joint, lambda q: up_pose(casteljau(points, q[0]), slope(points, q[0]), up), ((0.1, 0.9),)


def long_bezier_arc(rng, settings):
    """Degree 11, in several pieces, which are one polynomial."""
    points = np.column_stack([np.linspace(0, 2, 12), *rng.uniform(-0.4, 0.4, (2, 12))])
    joint = joints.bezier(points, frame="translation", **settings)

    def at(q):
        return pose(*np.eye(3), casteljau(points, q[0]))

    return joint, at, ((0.05, 0.95),)


def cyclic_bezier(rng, settings):
    points = ring(rng, 7)
    joint = joints.bezier(points, closed=True, frame="up", **settings)
    return joint, lambda q: up_pose(*cyclic(points, q[0]), [0, 0, 1]), ((-3.0, 9.0),)


def bspline_ring(rng, settings):
    points = ring(rng, 8, wave=0.1)  # bent everywhere, as a Frenet frame wants
    joint = joints.bspline(points, degree=4, closed=True, frame="frenet", **settings)
    spline = BSpline(np.arange(-4, 13.0), np.roll(points, 1, axis=0)[np.arange(12) % 8], 4)
    return joint, lambda q: frenet_pose(*(spline(q[0] - 8, nu) for nu in range(3))), ((10.05, 10.95),)


def minimal_wire(rng, settings):
    points = np.array([[0, 0, 0], [4, 1.6, 0.8], [8, -1.6, 1.6], [12, 0.8, 0], [16, 0, 0], [20, 0.8, 0.8]])
    joint = joints.bspline(points + rng.uniform(-0.05, 0.05, points.shape), arc_length=True, **settings)
    return joint, lambda q: joint.path.frames(q[0]), ((1.95, 2.1),)


def measured_ring(rng, settings):
    joint = joints.bspline(4.0 * ring(rng, 6), closed=True, arc_length=True, frame="up", **settings)
    return joint, lambda q: joint.path.frames(q[0]), ((0.05, 0.17),)


def banked_ring(rng, settings):
    points, up = ring(rng, 8), np.array([0, 0, 1]) + rng.uniform(-0.6, 0.6, (8, 3))
    joint = joints.bspline(points, degree=4, closed=True, frame="up", up=up, **settings)
    position, upward = (BSpline(np.arange(-4, 13.0), np.roll(x, 1, axis=0)[np.arange(12) % 8], 4) for x in (points, up))
    return joint, lambda q: up_pose(position(q[0]), position(q[0], 1), upward(q[0])), ((3.05, 3.95),)


def bezier_patch(rng, settings):
    points = terrain(rng, 5, 5)

    def at(q):
        u, v = q
        rows = np.array([casteljau(row, v) for row in points])
        across = np.array([slope(row, v) for row in points])
        return tangent_pose(casteljau(rows, u), slope(rows, u), casteljau(across, u))

    return joints.bezier_surface(points, **settings), at, ((0.1, 0.9), (0.1, 0.9))


def bspline_patch(rng, settings):
    points = terrain(rng, 6, 5)
    knots = [np.r_[[0.0] * 3, np.arange(n - 2), [n - 3.0] * 3] for n in (6, 5)]

    def at(q):
        u, v = q
        tables = [BSpline(knots[1], np.moveaxis(points, 1, 0), 3)(v, nu) for nu in (0, 1)]
        along = [BSpline(knots[0], tables[0], 3)(u, nu) for nu in (0, 1)]
        return tangent_pose(along[0], along[1], BSpline(knots[0], tables[1], 3)(u))

    return joints.bspline_surface(points, **settings), at, ((1.05, 1.95), (1.05, 1.95))


MAKERS = (bezier_arc, long_bezier_arc, cyclic_bezier, bspline_ring, minimal_wire, measured_ring, banked_ring,
          bezier_patch, bspline_patch)  # fmt: skip
