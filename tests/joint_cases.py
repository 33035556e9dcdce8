"""Every joint type with its transform written out once more for the tests.

Each is a ``Case``: the joint under test, the same transform in plain SymPy (straight from the definition, by
sympy.diff where a curve or surface is involved), and a benign domain: coordinate ranges in which the joint's frame
exists and its motion subspace keeps full rank with room to spare, so that rounding is not magnified without bound.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import curve_cases
import numpy as np
import sympy as sp

import recursive_dyn as rd
from scene import joints

ANGLE = (-2.5, 2.5)
LENGTH = (-0.6, 0.6)
QUATERNION = "quaternion"  # a domain entry that spans four coordinates
KINDS: dict[str, Callable[[np.random.Generator, dict], Case]] = {}


@dataclass(frozen=True, eq=False)
class Case:
    """A joint, one symbol a configuration coordinate, its transform as a SymPy matrix (built on demand), its domain.

    What SymPy cannot write has a function of q instead, which gives the transform as numbers.
    """

    joint: joints.Joint
    symbols: tuple
    matrix: Callable[[], sp.Matrix] | None
    domain: tuple
    numbers: Callable[..., np.ndarray] | None = None

    @property
    def nq(self) -> int:
        return len(self.symbols)

    @property
    def nv(self) -> int:
        return self.nq - self.domain.count(QUATERNION)

    @cached_property
    def pose(self) -> Callable[..., np.ndarray]:
        """G(q) as a (4, 4) float array."""
        if self.numbers is not None:
            return self.numbers
        function = sp.lambdify(self.symbols, self.matrix(), "numpy", cse=True)
        return lambda q: np.array(function(*q), dtype=float)

    def sample(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Configurations (count, nq) in the domain, quaternions of unit length."""
        columns = [np.zeros((count, 0))]
        for entry in self.domain:
            if entry == QUATERNION:
                q = rng.normal(size=(count, 4))
                columns.append(q / np.linalg.norm(q, axis=1, keepdims=True))
            else:
                columns.append(rng.uniform(*entry, (count, 1)))
        return np.hstack(columns)


def kind(make):
    KINDS[make.__name__] = make
    return make


def product(matrices) -> sp.Matrix:
    total = sp.eye(4)
    for m in matrices:
        total = total * m
    return total


def random_pose(rng: np.random.Generator, reach: float = 0.4) -> np.ndarray:
    """A general pose, or one of the structured ones (identity, translation, quarter turns) that code may exploit."""
    style = rng.integers(4)
    if style == 0:
        return rd.pose(xyz=rng.uniform(-reach, reach, 3) * rng.integers(0, 2, 3))
    if style == 1:
        return rd.pose(xyz=rng.uniform(-reach, reach, 3), rpy=rng.integers(-1, 3, 3) * np.pi / 2)
    return rd.pose(xyz=rng.uniform(-reach, reach, 3), rpy=rng.uniform(-3, 3, 3))


def named(names: str) -> tuple:
    return tuple(sp.symbols(f"{names}", real=True, seq=True))


def rigid(R=None, p=(0, 0, 0)) -> sp.Matrix:
    G = sp.eye(4)
    G[:3, :3] = sp.eye(3) if R is None else R
    G[:3, 3] = sp.Matrix(list(p))
    return G


def cross_matrix(a) -> sp.Matrix:
    return sp.Matrix([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def rodrigues(axis, angle) -> sp.Matrix:
    K = cross_matrix(axis)
    return sp.eye(3) + sp.sin(angle) * K + (1 - sp.cos(angle)) * K * K


def turned(axis, angle, advance=0) -> sp.Matrix:
    return rigid(rodrigues(axis, angle), [advance * x for x in axis])


def slid(axis, distance) -> sp.Matrix:
    return rigid(None, [distance * x for x in axis])


def from_quaternion(q) -> sp.Matrix:
    return sp.eye(3) + 2 * q[3] * cross_matrix(q) + 2 * cross_matrix(q) ** 2


def normed(v: sp.Matrix) -> sp.Matrix:
    return v / sp.sqrt(v.dot(v))


def frenet(f, s) -> sp.Matrix:
    point = sp.Matrix(f)
    tangent, binormal = normed(point.diff(s)), normed(point.diff(s).cross(point.diff(s, 2)))
    return rigid(sp.Matrix.hstack(tangent, binormal.cross(tangent), binormal), f)


def tangent_frame(f, u, v) -> sp.Matrix:
    point = sp.Matrix(f)
    x, normal = normed(point.diff(u)), normed(point.diff(u).cross(point.diff(v)))
    return rigid(sp.Matrix.hstack(x, normal.cross(x), normal), f)


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


def ellipsoid_point(u, v, axes):
    a, b, c = axes
    return [a * sp.cos(u) * sp.cos(v), b * sp.sin(u) * sp.cos(v), c * sp.sin(v)]


def torus_point(u, v, R, r):
    return [(R + r * sp.cos(v)) * sp.cos(u), (R + r * sp.cos(v)) * sp.sin(u), r * sp.sin(v)]


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


def _poles(rng, point):
    """(axis, the point with the local z along it): cyclic, so that the outside stays outside."""
    k = int(rng.integers(3))
    return "zxy"[k], [point[(i - k) % 3] for i in range(3)]


def _library(surface, f, uv, domain, settings):
    return Case(joints.surface(surface, **settings), uv, lambda: tangent_frame(f, *uv), domain)


@kind
def library_plane(rng, settings):
    u, v = named("u:2")
    return _library(joints.surfaces.plane(), [u, v, 0], (u, v), (LENGTH, LENGTH), settings)


@kind
def library_sphere(rng, settings):
    uv, r = named("u:2"), rng.uniform(0.4, 0.9)
    poles, f = _poles(rng, ellipsoid_point(*uv, (r, r, r)))
    return _library(joints.surfaces.sphere(r, poles=poles), f, uv, (ANGLE, (-1.0, 1.0)), settings)


@kind
def library_ellipsoid(rng, settings):
    uv, semiaxes = named("u:2"), rng.uniform(0.5, 1.0, 3)
    poles, f = _poles(rng, ellipsoid_point(*uv, semiaxes))
    along = np.roll(semiaxes, "zxy".index(poles))  # x, y, z of the parent
    return _library(joints.surfaces.ellipsoid(*along, poles=poles), f, uv, (ANGLE, (-1.0, 1.0)), settings)


@kind
def library_spheroid(rng, settings):
    uv, (a, c) = named("u:2"), rng.uniform(0.5, 1.0, 2)
    return _library(joints.surfaces.ellipsoid(a, a, c), ellipsoid_point(*uv, (a, a, c)), uv, (ANGLE, (-1, 1)), settings)


@kind
def library_torus(rng, settings):
    uv, r = named("u:2"), rng.uniform(0.2, 0.4)
    poles, f = _poles(rng, torus_point(*uv, 0.9, r))
    return _library(joints.surfaces.torus(0.9, r, poles=poles), f, uv, (ANGLE, ANGLE), settings)


@kind
def library_cylinder(rng, settings):
    (u, v), r = named("u:2"), rng.uniform(0.3, 0.8)
    poles, f = _poles(rng, [r * sp.cos(u), r * sp.sin(u), v])
    return _library(joints.surfaces.cylinder(r, poles=poles), f, (u, v), (ANGLE, LENGTH), settings)


@kind
def library_paraboloid(rng, settings):
    (u, v), (a, b) = named("u:2"), rng.uniform(0.5, 1.5, 2)
    f = [u, v, u**2 / (2 * a) + v**2 / (2 * b)]
    return _library(joints.surfaces.paraboloid(a, b), f, (u, v), (LENGTH, LENGTH), settings)


@kind
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


@kind
def torus_on_cylinder(rng, settings):
    a, b, c, d = symbols = named("c:4")
    poles, f1 = _poles(rng, torus_point(a, b, 0.8, 0.3))
    first, second = joints.surfaces.torus(0.8, 0.3, poles=poles), joints.surfaces.cylinder(0.5, poles="x")
    f2 = [d, 0.5 * sp.cos(c), 0.5 * sp.sin(c)]
    return _library_contact(first, f1, second, f2, symbols, (ANGLE, (-0.9, 0.9), ANGLE, LENGTH), settings, turn=0.7)


@kind
def spinning_contact(rng, settings):
    a, b, c, d, _ = symbols = named("c:5")
    r, semiaxes = rng.uniform(0.4, 0.8), rng.uniform(0.6, 1.0, 3)
    first, second = joints.surfaces.ellipsoid(*semiaxes), joints.surfaces.sphere(r)
    f1, f2 = ellipsoid_point(a, b, semiaxes), ellipsoid_point(c, d, (r, r, r))
    domain = (ANGLE, (-0.8, 0.8), ANGLE, (-0.8, 0.8), ANGLE)
    return _library_contact(first, f1, second, f2, symbols, domain, settings, turn=0.4, spin=True)


@kind
def wheel(rng, settings):
    (q,) = named("q:1")
    r, R, inside = rng.uniform(0.25, 0.4), rng.uniform(0.5, 0.8), bool(rng.random() < 0.5)
    distance = R - r if inside else R + r
    at = [distance * sp.cos(q), distance * sp.sin(q), 0]
    angle = (-1 if inside else 1) * distance / r * q
    return Case(joints.wheel(r, R, inside, **settings), (q,), lambda: rigid(rodrigues([0, 0, 1], angle), at), (ANGLE,))


@kind
def rack(rng, settings):
    (q,), r = named("q:1"), rng.uniform(0.3, 0.5)
    return Case(joints.rack(r, **settings), (q,), lambda: rigid(rodrigues([0, 0, 1], -q / r), [q, r, 0]), (LENGTH,))


@kind
def wheel_on_parabola(rng, settings):
    (q,), r = named("q:1"), rng.uniform(0.3, 0.5)
    root = sp.sqrt(1 + q**2)
    length = (q * root + sp.asinh(q)) / 2
    at = [q - r * q / root, q**2 / 2 + r / root, 0]
    joint = joints.rolling([q, q**2 / 2], q, r, length=length, **settings)
    return Case(joint, (q,), lambda: rigid(rodrigues([0, 0, 1], sp.atan(q) - length / r), at), (LENGTH,))


def _numeric(make):
    def made(rng, settings):
        joint, numbers, domain = make(rng, settings)
        return Case(joint, named(f"q:{len(domain)}"), None, domain, numbers)

    return made


KINDS |= {make.__name__: _numeric(make) for make in curve_cases.MAKERS}
MOVING = tuple(k for k in KINDS if k != "fixed")
