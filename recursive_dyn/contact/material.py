"""What surfaces are like where they touch, and what a pair of them is like."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import isfinite, sqrt

from recursive_dyn.errors import ModelError


@dataclass(frozen=True)
class Material:
    """A surface.

    friction: Coulomb's coefficient of sliding; static_friction: of sticking, at least as much (the same if None);
    rolling_friction, spinning_friction: how far from the contact point the normal force may resist rolling and
    spinning, m; restitution: share of the approach speed that a bounce gives back, 0 to 1. Raises ModelError.
    """

    friction: float = 0.5
    static_friction: float | None = None
    rolling_friction: float = 0.0
    spinning_friction: float = 0.0
    restitution: float = 0.0

    def __post_init__(self) -> None:
        for name in ("friction", "static_friction", "rolling_friction", "spinning_friction", "restitution"):
            value = getattr(self, name)
            if value is None and name == "static_friction":
                continue
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not isfinite(value) or value < 0.0:
                raise ModelError(f"material: {name} must be a finite number that is not negative, not {value!r}")
        if self.restitution > 1.0:
            raise ModelError(f"material: restitution {self.restitution} would make energy; it is at most 1")
        if self.static_friction is not None and self.static_friction < self.friction:
            raise ModelError(
                f"material: static_friction {self.static_friction} must not be below friction {self.friction}"
            )

    @property
    def sticking(self) -> float:
        """The coefficient of sticking."""
        return self.friction if self.static_friction is None else self.static_friction

    @property
    def row(self) -> tuple[float, float, float, float, float]:
        """Sticking, sliding, rolling, spinning, restitution: as contacts carry them."""
        return self.sticking, self.friction, self.rolling_friction, self.spinning_friction, self.restitution


@lru_cache(maxsize=1024)
def combined(a: Material, b: Material) -> Material:
    """The material of a pair: frictions by geometric mean, rolling, spinning friction and restitution by maximum."""
    return Material(
        sqrt(a.friction * b.friction),
        sqrt(a.sticking * b.sticking),
        max(a.rolling_friction, b.rolling_friction),
        max(a.spinning_friction, b.spinning_friction),
        max(a.restitution, b.restitution),
    )
