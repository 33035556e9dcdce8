"""Elements that pull and push between points of bodies, as measures and strengths over what bodies do by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Graph, Scalar, array, exp, less, log, maximum, reciprocal, select, sqrt
from recursive_dyn.model.constraint import POSITION, ROTATION, SPIN, VELOCITY
from recursive_dyn.model.force_element import OWN_RATE, ElementSpec
from recursive_dyn.spatial.algebra import cross, dot
from scene.body import Body
from scene.number_checks import numbers
from scene.scalars import carried, lowered

_AXES = "xyz"
_LEAST = float(np.nextafter(0.0, 1.0))  # what is above 0
_TINY = 1e-9  # m, m/s: below it a length has no direction
_WIDTH, _STRAIN, _SHAPE = 0.45, 0.6, 4.0  # of a muscle's active and passive curves: Thelen (2003), table 1
_STEEP = _SHAPE / _STRAIN
_FAST, _SHIFT = 8.149, 0.374  # of its force by speed: De Groote et al. (2016), d2 and d3


@dataclass(frozen=True, eq=False)
class Point:
    """A material point, by name of its body (None: the world) and place in its frame."""

    body: str | None
    place: np.ndarray

    def position(self, graph: Graph) -> np.ndarray:
        """World position (3,)."""
        if self.body is None:
            return array(self.place)
        return _vector(graph, self.body, POSITION) + rotation(graph, self.body) @ array(self.place)

    def velocity(self, graph: Graph) -> np.ndarray:
        """World velocity (3,)."""
        if self.body is None:
            return array(np.zeros(3))
        r = rotation(graph, self.body) @ array(self.place)
        return _vector(graph, self.body, VELOCITY) + cross(_vector(graph, self.body, SPIN), r)


def point(what: str, node: Any, place: Any) -> Point:
    """A point of a body, or of the world. ModelError begins with ``what``."""
    return Point(node.name if isinstance(node, Body) else None, numbers(what, "a point", place, (3,)))


def rotation(graph: Graph, body: str | None) -> np.ndarray:
    """Rotation (3, 3) of a body, to world axes."""
    if body is None:
        return array(np.eye(3))
    return array([[graph.input(("parameter", f"{body}.{ROTATION}.{i}{j}")) for j in _AXES] for i in _AXES])


def spin(graph: Graph, body: str) -> np.ndarray:
    """Angular velocity (3,) of a body, world axes."""
    return _vector(graph, body, SPIN)


def scalars(what: str, graph: Graph, *values: Any) -> list[Scalar]:
    """Numbers or SymPy expressions in a graph. ModelError begins with ``what``."""
    return list(carried(lowered(list(values), what), graph))


def ranged(what: str, low: float = 0.0, high: float = np.inf, **given: Scalar) -> None:
    """ModelError where one of these, given as a number, is not within low and high; ``what`` it is of."""
    for label, value in given.items():
        if isinstance(value, float) and not low <= value <= high:
            wanted = f"between {low:g} and {high:g}" if high < np.inf else "not negative" if low == 0.0 else "above 0"
            drives = "; for what drives or pushes away there are scene.force and scene.potential"
            raise ModelError(
                f"{what}: {label.replace('_', ' ')} is {wanted}, not {value:g}{drives if value < 0.0 else ''}"
            )


def own_rate(graph: Graph) -> Scalar:
    """The rate of the measure that a strength is of."""
    return graph.input(("parameter", OWN_RATE))


def length(graph: Graph, path: Sequence[Point]) -> Scalar:
    """Length of the way through points; where two of them meet, there is no force instead of none known."""
    total: Scalar = 0.0
    for a, b in pairwise(path):
        d = b.position(graph) - a.position(graph)
        total = total + sqrt(dot(d, d) + _TINY**2)
    return total


def spring(name: str, a: Point, b: Point, stiffness: Any, damping: Any, rest: Any) -> ElementSpec:
    """stiffness (length - rest)^2 / 2, and damping length-dot against it."""
    graph, what = Graph(), f"force element '{name}'"
    k, c, l0 = scalars(what, graph, stiffness, damping, rest)
    ranged(what, stiffness=k, damping=c)
    l = length(graph, (a, b))
    energy = (l - l0) * (l - l0) * k * 0.5 if _there(k) else None
    across = [] if _there(l0) or energy is None else list(b.position(graph) - a.position(graph))
    return ElementSpec(name, _damped(l, c, graph), energy, tuple(x * _root(k) for x in across))


def _damped(measure: Scalar, damping: Scalar, graph: Graph) -> tuple[tuple[Scalar, Scalar], ...]:
    return ((measure, -damping * own_rate(graph)),) if _there(damping) else ()


def _root(stiffness: Scalar) -> Scalar:
    return sqrt(maximum(stiffness, 0.0))


def _there(value: Scalar) -> bool:
    return type(value) is not float or value != 0.0


def string(name: str, path: Sequence[Point], stiffness: Any, damping: Any, rest: Any) -> ElementSpec:
    """A spring along a path that pulls only: where taut, max(0, stiffness (length - rest) + damping length-dot)."""
    graph, what = Graph(), f"force element '{name}'"
    k, c, l0 = scalars(what, graph, stiffness, damping, rest)
    ranged(what, stiffness=k, damping=c, length=l0)
    l = length(graph, path)
    stretch = maximum(l - l0, 0.0)
    energy = stretch * stretch * k * 0.5
    if not _there(c):
        return ElementSpec(name, (), energy)
    lost = maximum(c * own_rate(graph), -(k * stretch))  # it never pushes
    return ElementSpec(name, ((l, -select(less(l0, l), lost, 0.0)),), energy)


def gas_spring(name: str, a: Point, b: Point, force: Any, ratio: Any, extended: Any, compressed: Any) -> ElementSpec:
    """A column of gas at one temperature: force where it is extended, ratio times as much where it is compressed."""
    graph, what = Graph(), f"force element '{name}'"
    f, r, long, short = (x.item() for x in (numbers(what, n, v, ()) for n, v in (
        ("force", force), ("ratio", ratio), ("extended", extended), ("compressed", compressed))))  # fmt: skip
    if not (r >= 1.0 and long > short >= 0.0):
        raise ModelError(f"{what}: a gas spring has ratio >= 1 and extended > compressed >= 0, not {ratio!r}, "
                         f"{extended!r} and {compressed!r}")  # fmt: skip
    l, share = length(graph, (a, b)), (1.0 - 1.0 / r) / (long - short)
    if share == 0.0:
        return ElementSpec(name, (), (long - l) * f)
    return ElementSpec(name, (), -log(1.0 - (long - l) * share) * (f / share))


def bushing(name: str, a: Point, b: Point, settings: Sequence[Any]) -> ElementSpec:
    """Six springs and dampers along and about the axes of a: displacement of b there, and 2 tan(angle / 2) of its turn.

    settings: stiffness, torsion, damping, torsional damping, a number or three each.
    """
    graph, what = Graph(), f"force element '{name}'"
    k, kt, c, ct = (scalars(what, graph, *np.broadcast_to(np.asarray(x, dtype=object), 3)) for x in settings)
    for stiff, turning, lost, slowing in zip(k, kt, c, ct, strict=True):
        ranged(what, stiffness=stiff, torsion=turning, damping=lost, torsional_damping=slowing)
    A, B = rotation(graph, a.body), rotation(graph, b.body)
    d, R = A.T @ (b.position(graph) - a.position(graph)), A.T @ B
    half = reciprocal(R[0, 0] + R[1, 1] + R[2, 2] + 1.0) * 2.0
    turn = [(R[2, 1] - R[1, 2]) * half, (R[0, 2] - R[2, 0]) * half, (R[1, 0] - R[0, 1]) * half]
    energy: Scalar = 0.0
    terms: tuple[tuple[Scalar, Scalar], ...] = ()
    stretches: tuple[Scalar, ...] = ()
    for x, stiff, loss in zip([*d, *turn], [*k, *kt], [*c, *ct], strict=True):
        energy = energy + x * x * stiff * 0.5
        stretches += (x * _root(stiff),) if _there(stiff) else ()
        terms += _damped(x, loss, graph)
    return ElementSpec(name, terms, energy if _there(energy) else None, stretches)


def drag(name: str, at: Point, area: Any, coefficient: Any, density: Any, wind: Any) -> ElementSpec:
    """density coefficient area |u| u / 2 against the velocity u of a point in the wind."""
    graph, what = Graph(), f"force element '{name}'"
    S, C, rho, *w = scalars(what, graph, area, coefficient, density, *np.asarray(wind, dtype=object).ravel())
    if len(w) != 3:
        raise ModelError(f"{what}: wind is a velocity (3,), not {wind!r}")
    ranged(what, area=S, coefficient=C, density=rho)
    velocity = at.velocity(graph)
    u = velocity - array(w)
    size = sqrt(dot(u, u) + _TINY**2) * (rho * C * S * 0.5)
    return ElementSpec(name, tuple((v, -size * x) for v, x in zip(velocity, u, strict=True)))


def gravitation(name: str, bodies: Sequence[Body], constant: Any) -> ElementSpec:
    """-constant m m' / distance of every two centres of mass."""
    graph, what = Graph(), f"force element '{name}'"
    (G,) = scalars(what, graph, constant)
    centers, masses = [], []
    for body in bodies:
        mass, *place = scalars(what, graph, body.properties.mass, *body.properties.center_of_mass)
        centers.append(_vector(graph, body.name, POSITION) + rotation(graph, body.name) @ array(place))
        masses.append(mass)
    energy: Scalar = 0.0
    for i, m in enumerate(masses):
        for j in range(i):
            d = centers[i] - centers[j]
            energy = energy - m * masses[j] * G * reciprocal(sqrt(dot(d, d)))
    return ElementSpec(name, (), energy)


def muscle(
    name: str, path: Sequence[Point], force: Any, optimal: Any, activation: Any, tendon: Any, speed: Any
) -> ElementSpec:
    """Hill's muscle on a tendon that does not stretch, through points: it pulls with
    force (activation active(l) rate(l-dot) + passive(l)), l = (length - tendon) / optimal.

    All curves are smooth where a muscle works, as De Groote et al. (2016), Evaluation of direct collocation optimal
    control problem formulations for solving the muscle redundancy problem, have them: passive is the exponential of
    Thelen (2003), Adjustment of muscle mechanics model parameters to simulate dynamic contractions in older adults,
    from no length on, 0.018 at the optimal one; rate is 0 at the fastest shortening, 1 at rest, 1.79 at as fast
    a lengthening.
    """
    graph, what = Graph(), f"force element '{name}'"
    F, l0, a, slack, fastest = scalars(what, graph, force, optimal, activation, tendon, speed)
    ranged(what, force=F, tendon=slack)
    ranged(what, _LEAST, optimal_length=l0, fastest=fastest)
    ranged(what, high=1.0, activation=a)
    whole = length(graph, path)
    l = (whole - slack) * reciprocal(l0)
    v = own_rate(graph) * reciprocal(l0 * fastest)
    active = exp(-((l - 1.0) * (l - 1.0)) * (1.0 / _WIDTH))
    x = maximum(v, -1.0) * _FAST + _SHIFT  # shortening faster, it is slack
    none, still = (float(np.arcsinh(_FAST * share + _SHIFT)) for share in (-1.0, 0.0))
    rate = (log(x + sqrt(x * x + 1.0)) - none) * (1.0 / (still - none))
    passive = (exp(l * _STEEP) - 1.0) * (1.0 / float(np.expm1(_STEEP * (1.0 + _STRAIN))))
    return ElementSpec(name, ((whole, -F * (a * active * rate + passive)),))


def _vector(graph: Graph, body: str, kind: str) -> np.ndarray:
    return array([graph.input(("parameter", f"{body}.{kind}.{axis}")) for axis in _AXES])
