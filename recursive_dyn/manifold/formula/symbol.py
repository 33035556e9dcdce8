"""Symbols: what was declared under a name, and its derivatives and variations."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cached_property
from math import prod
from typing import Any

from recursive_dyn.errors import OperandError
from recursive_dyn.manifold.formula.nodes import Formula, Shape
from recursive_dyn.spatial.spaces import Flat, Rotation, Space, UnitSphere

_SCALARS = Flat(1)


@dataclass(frozen=True)
class Base:
    """What was declared under a name; ``Symbol`` adds the order of time derivative and whether it is varied.

    space: what its values are points of, R^n, S^2 or SO(3); rate, virtual: Omega and eta of a rotation, None and xi of
    a unit vector; definition: the formula that the name abbreviates; rank: order of declaration, for printing, which
    makes no difference.
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
    rank: int = field(default=0, compare=False)

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

    @property
    def companions(self) -> list[Symbol]:
        """What was declared with it, and has names of its own: Omega and eta, or xi."""
        return [s for s in (self.rate, self.virtual) if s is not None]

    @cached_property
    def _hash(self) -> int:
        return hash((self.name, self.shape, self.constant, self.space.name, self.symmetric, self.is_virtual))


@dataclass(frozen=True, eq=False, repr=False)
class Symbol(Formula):
    """A declared symbol, its time derivative of some order, or its variation."""

    base: Base
    order: int = 0
    is_variation: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self.__dict__["shape"] = self.base.shape

    def _is_varied(self) -> bool:
        return self.is_variation or self.base.is_virtual

    @property
    def space(self) -> Space:
        """What its values are points of; those of derivatives and variations are any numbers."""
        return Flat(prod(self.shape)) if self.order or self.is_variation else self.base.space

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
    def velocity(self) -> Symbol:
        """The symbol of its rate: Omega of a rotation, else its time derivative."""
        return self.base.rate or Symbol(self.base, self.order + 1)

    @property
    def acceleration(self) -> Symbol:
        """The symbol of its acceleration: q'', Omega', x''."""
        return self.velocity.velocity

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
