"""Joints of the library of surfaces, and wheels, with their transforms written out once more."""

from __future__ import annotations

import numpy as np
import sympy as sp
from joint_case import ANGLE, LENGTH, Case
from transforms import ellipsoid_point, named, rigid, rodrigues, tangent_frame, torus_point, turned

from scene import joints


def _poles(rng, point):
    """(axis, the point with the local z along it): cyclic, so that the outside stays outside."""
    k = int(rng.integers(3))
    return "zxy"[k], [point[(i - k) % 3] for i in range(3)]


def _library(surface, f, uv, domain, settings):
    return Case(joints.surface(surface, **settings), uv, lambda: tangent_frame(f, *uv), domain)


def library_plane(rng, settings):
    u, v = named("u:2")
    return _library(joints.surfaces.plane(), [u, v, 0], (u, v), (LENGTH, LENGTH), settings)


def library_sphere(rng, settings):
    uv, r = named("u:2"), rng.uniform(0.4, 0.9)
    poles, f = _poles(rng, ellipsoid_point(*uv, (r, r, r)))
    return _library(joints.surfaces.sphere(r, poles=poles), f, uv, (ANGLE, (-1.0, 1.0)), settings)


def library_ellipsoid(rng, settings):
    uv, semiaxes = named("u:2"), rng.uniform(0.5, 1.0, 3)
    poles, f = _poles(rng, ellipsoid_point(*uv, semiaxes))
    along = np.roll(semiaxes, "zxy".index(poles))  # x, y, z of the parent
    return _library(joints.surfaces.ellipsoid(*along, poles=poles), f, uv, (ANGLE, (-1.0, 1.0)), settings)


def library_spheroid(rng, settings):
    uv, (a, c) = named("u:2"), rng.uniform(0.5, 1.0, 2)
    return _library(joints.surfaces.ellipsoid(a, a, c), ellipsoid_point(*uv, (a, a, c)), uv, (ANGLE, (-1, 1)), settings)


def library_torus(rng, settings):
    uv, r = named("u:2"), rng.uniform(0.2, 0.4)
    poles, f = _poles(rng, torus_point(*uv, 0.9, r))
    return _library(joints.surfaces.torus(0.9, r, poles=poles), f, uv, (ANGLE, ANGLE), settings)


def library_cylinder(rng, settings):
    (u, v), r = named("u:2"), rng.uniform(0.3, 0.8)
    poles, f = _poles(rng, [r * sp.cos(u), r * sp.sin(u), v])
    return _library(joints.surfaces.cylinder(r, poles=poles), f, (u, v), (ANGLE, LENGTH), settings)


def library_paraboloid(rng, settings):
    (u, v), (a, b) = named("u:2"), rng.uniform(0.5, 1.5, 2)
    f = [u, v, u**2 / (2 * a) + v**2 / (2 * b)]
    return _library(joints.surfaces.paraboloid(a, b), f, (u, v), (LENGTH, LENGTH), settings)


def carried_over_surface(rng, settings):
    u, v = uv = named("u:2")
    f = [u, v, u * v + u**2 / 3]
    return Case(joints.surface(f, uv, "translation", **settings), uv, lambda: rigid(None, f), (LENGTH, LENGTH))


def _library_contact(first, f1, second, f2, symbols, domain, settings, turn=0.0, spin=False):
    a, b, c, d, *angle = symbols
    turned_by = turned([0, 0, 1], turn + (angle[0] if spin else 0))

    def matrix():
        S1, S2 = tangent_frame(f1, a, b), tangent_frame(f2, c, d)
        R, p = S2[:3, :3], S2[:3, 3]
        return S1 * turned_by * sp.diag(1, -1, -1, 1) * rigid(R.T, -R.T * p)

    joint = joints.surface_on_surface(first, second, turn=turn, spin=spin, **settings)
    return Case(joint, symbols, matrix, domain)


def torus_on_cylinder(rng, settings):
    a, b, c, d = symbols = named("c:4")
    poles, f1 = _poles(rng, torus_point(a, b, 0.8, 0.3))
    first, second = joints.surfaces.torus(0.8, 0.3, poles=poles), joints.surfaces.cylinder(0.5, poles="x")
    f2 = [d, 0.5 * sp.cos(c), 0.5 * sp.sin(c)]
    return _library_contact(first, f1, second, f2, symbols, (ANGLE, (-0.9, 0.9), ANGLE, LENGTH), settings, turn=0.7)


def spinning_contact(rng, settings):
    a, b, c, d, _ = symbols = named("c:5")
    r, semiaxes = rng.uniform(0.4, 0.8), rng.uniform(0.6, 1.0, 3)
    first, second = joints.surfaces.ellipsoid(*semiaxes), joints.surfaces.sphere(r)
    f1, f2 = ellipsoid_point(a, b, semiaxes), ellipsoid_point(c, d, (r, r, r))
    domain = (ANGLE, (-0.8, 0.8), ANGLE, (-0.8, 0.8), ANGLE)
    return _library_contact(first, f1, second, f2, symbols, domain, settings, turn=0.4, spin=True)


def wheel(rng, settings):
    (q,) = named("q:1")
    r, R, inside = rng.uniform(0.25, 0.4), rng.uniform(0.5, 0.8), bool(rng.random() < 0.5)
    distance = R - r if inside else R + r
    at = [distance * sp.cos(q), distance * sp.sin(q), 0]
    angle = (-1 if inside else 1) * distance / r * q
    return Case(joints.wheel(r, R, inside, **settings), (q,), lambda: rigid(rodrigues([0, 0, 1], angle), at), (ANGLE,))


def rack(rng, settings):
    (q,), r = named("q:1"), rng.uniform(0.3, 0.5)
    return Case(joints.rack(r, **settings), (q,), lambda: rigid(rodrigues([0, 0, 1], -q / r), [q, r, 0]), (LENGTH,))


def wheel_on_parabola(rng, settings):
    (q,), r = named("q:1"), rng.uniform(0.3, 0.5)
    root = sp.sqrt(1 + q**2)
    length = (q * root + sp.asinh(q)) / 2
    at = [q - r * q / root, q**2 / 2 + r / root, 0]
    joint = joints.rolling([q, q**2 / 2], q, r, length=length, **settings)
    return Case(joint, (q,), lambda: rigid(rodrigues([0, 0, 1], sp.atan(q) - length / r), at), (LENGTH,))


MAKERS = (
    library_plane, library_sphere, library_ellipsoid, library_spheroid, library_torus, library_cylinder,
    library_paraboloid, carried_over_surface, torus_on_cylinder, spinning_contact, wheel, rack,
    wheel_on_parabola,
)  # fmt: skip
