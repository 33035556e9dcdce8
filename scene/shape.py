"""What every shape has: its place in the body, its colour, its surface, and mass properties to be asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from typing import Any, Self, TypeAlias

import numpy as np

from recursive_dyn.contact.material import Material
from recursive_dyn.errors import ModelError
from scene.mass_properties import MassProperties
from scene.number_checks import SIZE_RANGE, FloatArray, numbers, positive, read_only, rigid_pose, sizes

Vector: TypeAlias = Sequence[float] | FloatArray

_HERE = read_only(np.eye(4))  # where most are


@cache
def _by_position(kind: Any) -> list[tuple[str, bool]]:
    """Names of the fields of a kind of shape that may be given without them; whether each must be given."""
    return [(f.name, f.default is MISSING) for f in fields(kind) if not f.kw_only]


@dataclass(frozen=True, eq=False, kw_only=True)
class Shape(ABC):
    """What all shapes share. Shapes are immutable and compare by identity.

    `at`: 4x4 pose of the shape in the body's frame, the identity if None; stored read-only and orthonormalised.
    `color`: red, green, blue, alpha from 0 to 1, or None. `collision`, `visual`: whether it collides, is drawn; it
    has mass either way. `material`: of its surface in contacts, Material() if None. Raises ModelError, naming the kind
    of shape, for sizes, poses, colours or materials that are not valid.
    """

    at: FloatArray = field(default_factory=lambda: _HERE)
    color: Sequence[float] | None = None
    collision: bool = True
    visual: bool = True
    material: Material | None = None

    def __new__(cls, *given: Any, **named: Any) -> Self:
        """Refuse values that no field is there for, and sizes that are left out, before Python does so by positions."""
        own = _by_position(cls)
        missing = [name for name, needed in own[len(given) :] if needed and name not in named]
        if len(given) > len(own) or (missing and (given or named)):  # copies are made of nothing, and filled
            several = f"; {len(given)} numbers in one: {cls.__name__}({given!r})" if len(own) == 1 < len(given) else ""
            raise ModelError(
                f"{cls.__name__} takes {', '.join(name for name, _ in own)}, and at, color, collision, visual and"
                f" material by name, but {len(given)} values were given{several}"
            )
        return super().__new__(cls)

    def __post_init__(self) -> None:
        if self.at is not _HERE:
            self._store(at=_HERE if self.at is None else rigid_pose(self.label, "at", self.at))
        if self.color is not None:
            color = numbers(self.label, "color", self.color, (4,))
            if (color < 0.0).any() or (color > 1.0).any():
                raise ModelError(f"{self.label}: color is red, green, blue, alpha from 0 to 1, not {self.color!r}")
            self._store(color=tuple(color.tolist()))
        if self.material is not None and not isinstance(self.material, Material):
            raise ModelError(f"{self.label}: material is a rd.Material or None, not {self.material!r}")

    def _store(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _check_sizes(self, shape: tuple[int, ...], *names: str) -> None:
        for name in names:
            given = getattr(self, name)
            if type(given) is float and not shape and SIZE_RANGE[0] <= given <= SIZE_RANGE[1]:
                continue  # what `sizes` would make of it
            value = sizes(self.label, name, given, shape).tolist()
            self._store(**{name: tuple(value) if shape else value})

    @property
    def content(self) -> Hashable | None:
        """What equal solids have in common, equally placed; None where ``measures`` does not say all of a shape.

        A class that inherits its measures may say more of its shapes.
        """
        names = vars(type(self)).get("measures")
        return None if names is None else (type(self), *[getattr(self, name) for name in names], self.at.tobytes())

    @property
    def label(self) -> str:
        """How error messages call this shape."""
        return type(self).__name__

    @property
    @abstractmethod
    def volume(self) -> float:
        """Volume in m^3."""

    @abstractmethod
    def _solid(self) -> MassProperties:
        """Mass properties at unit density in the shape's own frame."""

    def mass_properties(self, density: float) -> MassProperties:
        """Mass properties of the solid in the BODY's frame; `density` in kg/m^3. Raises ModelError if not positive."""
        return self._solid().scaled(positive(self.label, "density", density)).moved(self.at)
