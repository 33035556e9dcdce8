"""Every joint type with its transform written out once more for the tests.

Each is a ``Case``: the joint under test, the same transform in plain SymPy (straight from the definition, by
sympy.diff where a curve or surface is involved), and a benign domain: coordinate ranges in which the joint's frame
exists and its motion subspace keeps full rank with room to spare, so that rounding is not magnified without bound.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import curve_cases
import library_joint_cases
import numpy as np
import sympy as sp
from joint_case import ANGLE, LENGTH, QUATERNION, Case
from transforms import (
    cross_matrix,
    ellipsoid_point,
    frenet,
    from_quaternion,
    named,
    product,
    random_pose,
    rigid,
    rodrigues,
    slid,
    tangent_frame,
    torus_point,
    turned,
)

from scene import joints

KINDS: dict[str, Callable[[np.random.Generator, dict], Case]] = {}


def kind(make):
    KINDS[make.__name__] = make
    return make


def some_axis(rng):
    """(what a person writes, unit vector): a coordinate axis of either sign half of the time."""
    if rng.random() < 0.5:
        letter, sign = rng.choice(list("xyz")), rng.choice([-1, 1])
        return ("-" if sign < 0 else "") + str(letter), [int(sign) * int(letter == a) for a in "xyz"]
    vector = rng.normal(size=3)
    return vector, list(vector / np.linalg.norm(vector))


@kind
def fixed(rng, settings):
    X = random_pose(rng)
    return Case(joints.fixed(X), (), lambda: sp.Matrix(X), ())


@kind
def revolute(rng, settings):
    axis, n = some_axis(rng)
    q = named("q:1")
    return Case(joints.revolute(axis, **settings), q, lambda: turned(n, q[0]), (ANGLE,))


@kind
def prismatic(rng, settings):
    axis, n = some_axis(rng)
    q = named("q:1")
    return Case(joints.prismatic(axis, **settings), q, lambda: slid(n, q[0]), (LENGTH,))


@kind
def screw(rng, settings):
    axis, n = some_axis(rng)
    q, pitch = named("q:1"), rng.uniform(-0.3, 0.3)
    return Case(joints.screw(axis, pitch, **settings), q, lambda: turned(n, q[0], pitch * q[0]), (ANGLE,))


@kind
def cylindrical(rng, settings):
    axis, n = some_axis(rng)
    q = named("q:2")
    return Case(joints.cylindrical(axis, **settings), q, lambda: slid(n, q[0]) * turned(n, q[1]), (LENGTH, ANGLE))


@kind
def universal(rng, settings):
    i, j = rng.permutation(3)[:2]
    a, b = np.eye(3, dtype=int)[i].tolist(), np.eye(3, dtype=int)[j].tolist()
    q = named("q:2")
    return Case(
        joints.universal("xyz"[i], "xyz"[j], **settings), q, lambda: turned(a, q[0]) * turned(b, q[1]), (ANGLE, ANGLE)
    )


@kind
def planar(rng, settings):
    k = rng.integers(3)
    x, y, n = np.roll(np.eye(3, dtype=int), k, axis=1).tolist()  # cyclic: the normal z has the plane's axes x, y
    q = named("q:3")
    return Case(
        joints.planar("zxy"[k], **settings),
        q,
        lambda: slid(x, q[0]) * slid(y, q[1]) * turned(n, q[2]),
        (LENGTH, LENGTH, ANGLE),
    )


@kind
def euler(rng, settings):
    order = str(rng.choice(["xyz", "zyx", "zyz", "xzx", "yzx", "xz"]))
    q = named(f"q:{len(order)}")
    axes = {letter: np.eye(3, dtype=int)[i].tolist() for i, letter in enumerate("xyz")}
    middle = ANGLE if len(order) == 2 else (0.5, 2.6) if order[0] == order[2] else (-1.0, 1.0)  # off the gimbal lock
    return Case(
        joints.euler(order, **settings),
        q,
        lambda: product([turned(axes[a], x) for a, x in zip(order, q, strict=True)]),
        (ANGLE, middle, ANGLE)[: len(order)],
    )


@kind
def ball(rng, settings):
    q = named("q:4")
    return Case(joints.ball(**settings), q, lambda: rigid(from_quaternion(q)), (QUATERNION,))


@kind
def free(rng, settings):
    q = named("q:7")
    return Case(
        joints.free(**settings), q, lambda: rigid(from_quaternion(q[3:]), q[:3]), (LENGTH, LENGTH, LENGTH, QUATERNION)
    )


def _curve(f, s, domain, settings):
    return Case(joints.curve(f, s, **settings), (s,), lambda: frenet(f, s), (domain,))


@kind
def helix(rng, settings):
    (s,) = named("s:1")
    r, pitch = rng.uniform(0.3, 0.8), rng.uniform(0.1, 0.3)
    return _curve([r * sp.cos(s), r * sp.sin(s), pitch * s], s, ANGLE, settings)


@kind
def parabola(rng, settings):
    (s,) = named("s:1")
    return _curve([s, 0, rng.uniform(0.5, 1.5) * s**2], s, (-1.0, 1.0), settings)


@kind
def twisted_cubic(rng, settings):
    (s,) = named("s:1")
    return _curve([s, s**2, s**3 / 2], s, (-0.8, 0.8), settings)


def _surface(f, uv, domain, settings):
    return Case(joints.surface(f, uv, **settings), uv, lambda: tangent_frame(f, *uv), domain)


@kind
def ellipsoid(rng, settings):
    uv = named("u:2")
    return _surface(ellipsoid_point(*uv, rng.uniform(0.5, 1.0, 3)), uv, (ANGLE, (-1.0, 1.0)), settings)  # off the poles


@kind
def paraboloid(rng, settings):
    u, v = named("u:2")
    a, b = rng.uniform(0.5, 1.5, 2)
    return _surface([u, v, a * u**2 / 2 - b * v**2 / 3], (u, v), (LENGTH, LENGTH), settings)


@kind
def torus(rng, settings):
    uv = named("u:2")
    return _surface(torus_point(*uv, 0.9, rng.uniform(0.2, 0.4)), uv, (ANGLE, ANGLE), settings)


def _contact(f1, c1, f2, c2, domain, settings):
    flip = sp.diag(1, -1, -1, 1)

    def matrix():
        second = tangent_frame(f2, *c2)
        R, p = second[:3, :3], second[:3, 3]
        return tangent_frame(f1, *c1) * flip * rigid(R.T, -R.T * p)

    return Case(joints.surface_on_surface(f1, c1, f2, c2, **settings), (*c1, *c2), matrix, domain)


@kind
def ellipsoid_on_ellipsoid(rng, settings):
    # Two convex surfaces touching from outside: their curvatures add up, so the contact point's motion is regular.
    a, b, c, d = named("c:4")
    first, second = (ellipsoid_point(*x, rng.uniform(0.6, 1.0, 3)) for x in ((a, b), (c, d)))
    return _contact(first, (a, b), second, (c, d), (ANGLE, (-0.8, 0.8), ANGLE, (-0.8, 0.8)), settings)


@kind
def torus_on_torus(rng, settings):
    # Outer halves (|angle about the tube| < pi / 2) are convex.
    a, b, c, d = named("c:4")
    first, second = torus_point(a, b, 0.8, 0.3), torus_point(c, d, 0.7, 0.25)
    return _contact(first, (a, b), second, (c, d), (ANGLE, (-0.9, 0.9), ANGLE, (-0.9, 0.9)), settings)


def _custom(G, symbols, domain, settings):
    return Case(joints.Joint(G, symbols, **settings), symbols, lambda: G, domain)


@kind
def wandering_hinge(rng, settings):
    """A rotation about an oblique axis whose place depends on the angle, as a knee's does."""
    (q,) = named("q:1")
    n = rng.normal(size=3)
    G = rigid(rodrigues(list(n / np.linalg.norm(n)), q), (q**2 / 4, sp.sin(q) / 2, q / 3))
    return _custom(G, (q,), (ANGLE,), settings)


@kind
def gibbs_six(rng, settings):
    """All six coordinates in one transform: Gibbs vector g, and a position that depends on g."""
    *g, x, y, z = symbols = named("q:6")
    K = cross_matrix(g)
    R = sp.eye(3) + (2 * K + 2 * K * K) / (1 + sum(a * a for a in g))
    return _custom(rigid(R, (x + g[0] * y, y, z - g[1] ** 2)), symbols, (LENGTH,) * 6, settings)


@kind
def rocking_pair(rng, settings):
    """Two coordinates with powers, exponentials and an inverse function."""
    a, b = symbols = named("q:2")
    R = rodrigues([0, 1, 0], sp.atan(a) + b) * rodrigues([1, 0, 0], b / 2)
    return _custom(rigid(R, (sp.exp(-(a**2)) / 2, sp.sqrt(1 + b**2), a * b)), symbols, (LENGTH, ANGLE), settings)


def _composed(parts: Sequence[Case]):
    symbols = named(f"q:{sum(p.nq for p in parts)}")
    total = parts[0].joint
    for part in parts[1:]:
        total = total @ part.joint

    def matrix():
        rest, factors = list(symbols), []
        for part in parts:
            own = [rest.pop(0) for _ in part.symbols]
            factors.append(part.matrix().subs(dict(zip(part.symbols, own, strict=True)), simultaneous=True))
        return product(factors)

    return Case(total, symbols, matrix, sum((p.domain for p in parts), ()))


@kind
def spinning_bead(rng, settings):
    return _composed([KINDS["helix"](rng, settings), KINDS["revolute"](rng, {})])


@kind
def carried_ball(rng, settings):
    return _composed([KINDS["prismatic"](rng, settings), KINDS["ball"](rng, {})])


@kind
def telescope(rng, settings):
    return _composed([KINDS["ball"](rng, {}), KINDS["fixed"](rng, {}), KINDS["prismatic"](rng, settings)])


@kind
def spinning_glider(rng, settings):
    return _composed([KINDS["paraboloid"](rng, {}), KINDS["revolute"](rng, settings), KINDS["fixed"](rng, {})])


def _numeric(make):
    def made(rng, settings):
        joint, numbers, domain = make(rng, settings)
        return Case(joint, named(f"q:{len(domain)}"), None, domain, numbers)

    return made


KINDS |= {make.__name__: make for make in library_joint_cases.MAKERS}
KINDS |= {make.__name__: _numeric(make) for make in curve_cases.MAKERS}
MOVING = tuple(k for k in KINDS if k != "fixed")
