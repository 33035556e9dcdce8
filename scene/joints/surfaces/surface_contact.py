"""What a joint of two surfaces is made of."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from scene.joints.surfaces.surface import Surface, fresh_symbol


@dataclass(frozen=True, eq=False)
class SurfaceContact:
    """The joint S1 Rz(spin + turn) F S2^-1 of two surfaces' tangent frames, F = diag(1, -1, -1, 1) if ``flip``.

    turn: rad; spins: whether the spin is a coordinate, the fifth; charts: whether surfaces with poles have a chart
    about another axis, too. ``f, (u, v) = contact.first`` in SymPy.
    """

    first: Surface
    second: Surface
    flip: bool
    turn: float
    spins: bool
    charts: bool = False

    @cached_property
    def spin(self) -> Any:
        """The SymPy symbol of the spin, None where it is no coordinate."""
        return fresh_symbol("spin") if self.spins else None
