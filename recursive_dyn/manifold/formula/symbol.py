"""Symbols: what was declared under a name, and its derivatives and variations."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from recursive_dyn.errors import OperandError
from recursive_dyn.manifold.formula.nodes import Formula, Shape
from recursive_dyn.spatial.spaces import Flat, Rotation, Space, UnitSphere

_SCALARS = Flat(1)


@dataclass(frozen=True, eq=False, repr=False)
class Base:
    """What was declared under a name; ``Symbol`` adds the order of time derivative and whether it is varied.

    space: what its values are points of, R^n, S^2 or SO(3); rate, virtual: Omega and eta of a rotation, None and xi of
    a unit vector; definition: the formula that the name abbreviates; rank: order of
    declaration, for printing.
    """

    name: str
    shape: Shape
    constant: bool = False
    space: Space = _SCALARS
    symmetric: bool = False
    is_virtual: bool = False
    rate: Symbol | None = None
    virtual: Symbol | None = None
    definition: Formula | None = None
    rank: int = 0

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Base) and self._identity == other._identity)

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> Any:
        return Base, tuple(getattr(self, f.name) for f in fields(self))

    @property
    def is_unit(self) -> bool:
        """Whether it is a unit vector."""
        return isinstance(self.space, UnitSphere)

    @property
    def is_rotation(self) -> bool:
        """Whether it is a rotation."""
        return isinstance(self.space, Rotation)

    @cached_property
    def _identity(self) -> tuple[Any, ...]:
        """All that makes two declarations the same."""
        names = tuple(s and s.base.name for s in (self.rate, self.virtual))
        kind = (self.name, self.shape, self.constant, self.space.name, self.symmetric, self.is_virtual)
        return *kind, names, self.definition

    @cached_property
    def _hash(self) -> int:
        return hash(self._identity)


@dataclass(frozen=True, eq=False, repr=False)
class Symbol(Formula):
    """A declared symbol, its time derivative of some order, or its variation."""

    base: Base
    order: int = 0
    is_variation: bool = False

    @property
    def shape(self) -> Shape:  # type: ignore[override]
        return self.base.shape

    def _is_varied(self) -> bool:
        return self.is_variation or self.base.is_virtual

    @property
    def constant(self) -> bool:
        """Whether it does not depend on time."""
        return self.base.constant

    @property
    def rate(self) -> Symbol:
        """Omega, in body axes, of a rotation: dR/dt = R hat(Omega)."""
        if self.base.rate is None:
            raise OperandError(f"{self} is no rotation and has no angular velocity; its derivative is dt({self})")
        return self.base.rate

    @property
    def virtual(self) -> Symbol:
        """xi of a unit vector, delta q = xi x q; eta of a rotation, delta R = R hat(eta); else its variation."""
        return self.base.virtual or Symbol(self.base, 0, True)

    @cached_property
    def key(self) -> tuple[Any, ...]:
        b = self.base  # the name almost always decides; the rest tells symbols of one name and different kinds apart
        return (
            1,
            "",
            self.order,
            self.is_variation,
            b.name,
            b.shape,
            b.space.name,
            b.constant,
            b.symmetric,
            b.is_virtual,
        )
