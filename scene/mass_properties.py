"""Mass, centre of mass and inertia of a body: moved, scaled, added by parallel axes, and completed from its shapes."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Graph
from recursive_dyn.graph.recent import Recent
from recursive_dyn.graph.traversal import evaluate
from scene.number_checks import Array, FloatArray, Scalar, entries, is_symbolic, positive
from scene.scalars import carried, lowered, names_of

DEFAULT_DENSITY = 1000.0  # kg/m^3, water: what a body of shapes weighs when nobody says otherwise
INERTIA_TOLERANCE = 1e-9  # relative; far above rounding, far below any mistake in a measured inertia


def _symmetrised(matrix: Array) -> Array:
    return (matrix + matrix.T) * 0.5


def _parallel_axis(mass: Scalar, offset: Array) -> Array:
    """Inertia of a point mass at `offset`: m (d.d 1 - d d^T), Steiner's term."""
    term: Array = (np.eye(3) * (offset @ offset) - np.outer(offset, offset)) * mass
    return term


@dataclass(frozen=True, eq=False)
class MassProperties:
    """Mass, centre of mass and inertia of a rigid body in the body's frame.

    `mass` in kg; `center_of_mass` (3,) in m from the body's origin; `inertia` (3, 3) in kg m^2 about the centre of
    mass, along the body's axes. Entries may be graph scalars over scene parameters: the array is then of objects.
    Raises ModelError for a wrong array shape or an entry that is not a number.
    """

    mass: Scalar
    center_of_mass: Array
    inertia: Array

    def __post_init__(self) -> None:
        where = "mass properties"
        object.__setattr__(self, "mass", entries(where, "mass", self.mass, ()).item())
        object.__setattr__(self, "center_of_mass", entries(where, "center_of_mass", self.center_of_mass, (3,)))
        object.__setattr__(self, "inertia", entries(where, "inertia", self.inertia, (3, 3)))

    def scaled(self, factor: Scalar) -> MassProperties:
        """The same distribution with its density multiplied by `factor`."""
        return MassProperties(self.mass * factor, self.center_of_mass, self.inertia * factor)

    def moved(self, X_BA: FloatArray) -> MassProperties:
        """These properties, given in frame A, expressed in frame B; `X_BA` is a 4x4 pose."""
        rotation = X_BA[:3, :3]
        inertia = _symmetrised(rotation @ self.inertia @ rotation.T)
        return MassProperties(self.mass, X_BA[:3, 3] + rotation @ self.center_of_mass, inertia)

    def check(self, name: str) -> None:
        """Raise ModelError, naming body `name`, unless a rigid body can have these properties.

        The mass is positive, or all is zero (a massless frame). The inertia is symmetric and either zero (a point
        mass) or positive definite with principal moments that satisfy the triangle inequality. Parts that depend on
        scene parameters have no value yet and are only checked for symmetry.
        """
        where = f"body {name!r}"
        for what, values in (("mass", [self.mass]), ("center_of_mass", self.center_of_mass), ("inertia", self.inertia)):
            _refuse_infinite(where, what, np.ravel(values))
        if not is_symbolic(self.mass) and self.mass < 0.0:
            raise ModelError(f"{where}: mass must be positive, not {self.mass}")
        _check_inertia(where, self.mass, self.inertia)


def _refuse_infinite(where: str, what: str, values: Iterable[Scalar]) -> None:
    if not all(math.isfinite(value) for value in values if not is_symbolic(value)):
        raise ModelError(f"{where}: {what} has an entry that is NaN or infinite; give finite numbers")


def _check_inertia(where: str, mass: Scalar, inertia: Array) -> None:
    if not _is_symmetric(inertia):
        raise ModelError(f"{where}: inertia must be symmetric; give both I[i, j] and I[j, i]:\n{inertia}")
    if inertia.dtype == object or not inertia.any():
        return
    if not is_symbolic(mass) and mass == 0.0:
        raise ModelError(f"{where}: a massless body cannot have an inertia; give a mass too")
    low, middle, high = np.linalg.eigvalsh(_symmetrised(inertia))
    rounding = 8.0 * np.finfo(np.float64).eps * max(abs(low), abs(high))
    principal = f"its principal moments are {low:.6g}, {middle:.6g}, {high:.6g} kg m^2"
    if low <= rounding:
        raise ModelError(
            f"{where}: inertia must be positive definite (or all zero for a point mass), but {principal}; "
            "a thin rod too has a small moment about its axis"
        )
    if high > (low + middle) * (1.0 + INERTIA_TOLERANCE):
        raise ModelError(
            f"{where}: no mass distribution has this inertia: the largest principal moment exceeds the sum of the "
            f"others, {principal}; check that it is about the centre of mass and in kg m^2"
        )


def _is_symmetric(inertia: Array) -> bool:
    scale = max((abs(entry) for entry in inertia.flat if not is_symbolic(entry)), default=0.0)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        a, b = inertia[i, j], inertia[j, i]
        if is_symbolic(a) or is_symbolic(b):
            if not _are_equal(a, b):
                return False
        elif abs(a - b) > INERTIA_TOLERANCE * scale:
            return False
    return True


def _are_equal(a: Scalar, b: Scalar) -> bool:
    """Whether two scalars are equal for random parameters, where both are finite."""
    rng = np.random.default_rng(5)
    inputs = {("parameter", name): rng.uniform(0.5, 1.5, 8) for name in names_of([a, b])}
    first, second = (np.broadcast_to(x, (8,)) for x in evaluate(list(carried([a, b], Graph())), inputs))
    known = np.isfinite(first) & np.isfinite(second)
    return bool(np.allclose(first[known], second[known], INERTIA_TOLERANCE, INERTIA_TOLERANCE))


def _lowered(where: str, what: str, value: Any) -> Any:
    """SymPy expressions of scene parameters as graph scalars; everything else as it is."""
    flat = np.ravel(np.asarray(value, dtype=object))
    if not any(map(is_symbolic, flat)):
        return value
    _refuse_infinite(where, what, flat)
    result = lowered(value, f"{where}: {what}")
    return result if result.shape else result.item()


class HasMass(Protocol):
    """What a body is made of."""

    def mass_properties(self, density: float) -> MassProperties:
        """Mass properties in the body's frame at ``density``, kg/m^3."""


def combine(parts: Iterable[MassProperties]) -> MassProperties:
    """One rigid body made of `parts`, all given in the same frame, by the parallel axis theorem; no parts, no mass."""
    parts = list(parts)
    mass = sum(part.mass for part in parts)
    if not is_symbolic(mass) and mass == 0.0:
        return MassProperties(0.0, np.zeros(3), sum((part.inertia for part in parts), np.zeros((3, 3))))
    if len(parts) == 1:
        return parts[0]
    center = sum((part.center_of_mass * part.mass for part in parts), np.zeros(3)) / mass
    about_center = (part.inertia + _parallel_axis(part.mass, part.center_of_mass - center) for part in parts)
    return MassProperties(mass, center, sum(about_center, np.zeros((3, 3))))


def of_body(
    name: str,
    shapes: Sequence[HasMass] = (),
    mass: object = None,
    density: object = None,
    center_of_mass: object = None,
    inertia: object = None,
) -> MassProperties:
    """Mass properties of body `name`: what is given stands, the rest follows from its shapes.

    Every shape counts, whether or not it collides or shows; overlaps count twice. The shapes are uniform, of
    `density` (kg/m^3, 1000 if neither it nor `mass` is given) or of the one density that makes up `mass` (kg).
    `center_of_mass` (3,) in m; `inertia` (3, 3) in kg m^2 about the centre of mass in body axes. Where the centre of
    mass is given and the inertia is not, the centre given is authoritative: the shapes' inertia about their own
    centre is taken as the inertia about the given one, without a Steiner term.

    Without shapes that have volume, `mass` alone is a point mass at the body's origin. Nothing at all is a massless
    frame. Numbers may be SymPy expressions of scene parameters; such values are not validated.
    Raises ModelError, naming the body, for contradictory, missing or impossible values and for a mesh that is needed
    here but is not a closed solid.
    """
    shapes = _checked_shapes(f"body {name!r}", shapes)
    key = None if center_of_mass is not None or inertia is not None else _content(shapes, mass, density)
    known = None if key is None else _KNOWN.get(key)
    if known is not None:
        return known
    found = _made_of(name, shapes, mass, density, center_of_mass, inertia)
    return found if key is None else _KNOWN.keep(key, found)


_KNOWN = Recent[MassProperties](256)  # of bodies of equal solids, which come by the hundred


def _content(shapes: Sequence[HasMass], mass: object, density: object) -> Hashable | None:
    """All that mass properties follow from; None where that is not known."""
    if not all(number is None or type(number) in (int, float) for number in (mass, density)):
        return None
    solids = [getattr(shape, "content", None) for shape in shapes]
    return None if None in solids else (tuple(solids), mass, density)


def _made_of(
    name: str, shapes: Sequence[HasMass], mass: object, density: object, center_of_mass: object, inertia: object
) -> MassProperties:
    """``of_body``, worked out."""
    where = f"body {name!r}"
    if mass is not None and density is not None:
        raise ModelError(f"{where}: mass and density are both given; give one of them")
    if isinstance(mass, int | float) and mass == 0.0:
        raise ModelError(f"{where}: mass must be positive, not {mass}; leave it out where a body has none, as a frame")
    mass = None if mass is None else positive(where, "mass", mass)
    density = None if density is None else positive(where, "density", density)
    center = None if center_of_mass is None else entries(where, "center_of_mass", center_of_mass, (3,))
    moments = None if inertia is None else entries(where, "inertia", inertia, (3, 3))
    given = {"mass": mass, "density": density, "center_of_mass": center, "inertia": moments}
    mass, density, center, moments = (_lowered(where, what, value) for what, value in given.items())

    # An open mesh may be shown on a body whose mass properties are all known, so shapes are asked only when needed.
    known = mass is not None and center is not None and moments is not None
    uniform = combine([]) if known else _at_unit_density(where, shapes)
    if mass is None and uniform.mass == 0.0:
        if density is not None or center is not None or moments is not None:
            raise ModelError(f"{where}: no shape has volume to take the mass from; give mass=")
        return uniform
    if mass is None:
        uniform = uniform.scaled(DEFAULT_DENSITY if density is None else density)
        mass = uniform.mass
    elif uniform.mass > 0.0:
        uniform = uniform.scaled(mass / uniform.mass)

    properties = MassProperties(
        mass, uniform.center_of_mass if center is None else center, uniform.inertia if moments is None else moments
    )
    properties.check(name)
    if properties.inertia.dtype == object:
        return properties
    return MassProperties(mass, properties.center_of_mass, _symmetrised(properties.inertia))


def _checked_shapes(where: str, shapes: object) -> list[HasMass]:
    if not isinstance(shapes, (list, tuple)) or not all(hasattr(shape, "mass_properties") for shape in shapes):
        raise ModelError(f"{where}: shapes must be a list of shapes such as [shapes.Sphere(0.1)], not {shapes!r}")
    return list(shapes)


def _at_unit_density(where: str, shapes: Sequence[HasMass]) -> MassProperties:
    try:
        return combine(shape.mass_properties(1.0) for shape in shapes)
    except ModelError as error:
        raise ModelError(f"{where}: {error}; or give mass, center_of_mass and inertia") from error
