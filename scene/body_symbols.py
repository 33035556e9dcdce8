"""SymPy symbols of what a body does: coordinates and rates, position, rotation, velocity, spin, for constraints."""

from __future__ import annotations

from typing import Any

from recursive_dyn.errors import ModelError
from recursive_dyn.joint.coordinate import Coordinate
from recursive_dyn.model.constraint import POSITION, ROTATION, SPIN, VELOCITY, rate_name
from scene.joints.parametric_joint import Joint

_AXES = "xyz"


def rate(coordinate: Any) -> Any:
    """The symbol of the rate of a coordinate, a symbol of ``scene.coordinate`` or ``body.q``; ModelError for others."""
    if not getattr(coordinate, "is_Symbol", False):
        raise ModelError(f"rate takes the symbol of a coordinate (body.q, scene.coordinate), not {coordinate!r}")
    return _symbol(rate_name(coordinate.name))


class BodySymbols:
    """What is known of a moving body by name: all vectors are (3, 1) SymPy matrices in world axes, SI units.

    Points and directions given in the body's frame may be numbers or expressions of coordinates.
    """

    name: str
    joint: Joint | None

    @property
    def q(self) -> tuple[Any, ...]:
        """This body's own plain coordinates."""
        joint = self._own_joint()
        plain = [f for f in joint.program.factors if f.space.flat]
        return tuple(self._coordinate(joint.coordinates[f.first_v + j]) for f in plain for j in range(f.nv))

    @property
    def v(self) -> tuple[Any, ...]:
        """This body's own velocity coordinates, as in ``dynamics.velocity_coordinates``."""
        return tuple(rate(self._coordinate(c)) for c in self._own_joint().coordinates)

    @property
    def position(self) -> Any:
        """Origin."""
        return self._vector(POSITION)

    @property
    def rotation(self) -> Any:
        """Rotation matrix (3, 3), body to world axes."""
        import sympy

        return sympy.Matrix(3, 3, lambda i, j: _symbol(f"{self.name}.{ROTATION}.{_AXES[i]}{_AXES[j]}"))

    @property
    def velocity(self) -> Any:
        """Velocity of the origin."""
        return self._vector(VELOCITY)

    @property
    def spin(self) -> Any:
        """Angular velocity."""
        return self._vector(SPIN)

    def point(self, place: Any) -> Any:
        """World position of a point of the body."""
        return self.position + self.direction(place)

    def direction(self, vector: Any) -> Any:
        """World components of a vector in body axes."""
        import sympy

        entries = list(vector)
        if len(entries) != 3 or any(isinstance(x, str) for x in entries):  # SymPy would execute text
            raise ModelError(f"body '{self.name}': a point or direction has three components, not {entries!r:.60}")
        return self.rotation * sympy.Matrix(entries)

    def point_velocity(self, place: Any) -> Any:
        """Velocity of the material point of the body that is at ``place`` of its frame."""
        return self.velocity + self.spin.cross(self.direction(place))

    def _vector(self, kind: str) -> Any:
        import sympy

        return sympy.Matrix([_symbol(f"{self.name}.{kind}.{axis}") for axis in _AXES])

    def _coordinate(self, c: Coordinate) -> Any:
        return _symbol(f"{self.name}.{c.name}")

    def _own_joint(self) -> Joint:
        joint = self.joint
        if joint is None:
            raise ModelError(f"body '{self.name}' has no coordinates before it is attached")
        if joint.coupling or joint.drive:
            raise ModelError(f"body '{self.name}' is driven by other coordinates; use those")
        return joint


def _symbol(name: str) -> Any:
    import sympy

    return sympy.Symbol(name, real=True)
