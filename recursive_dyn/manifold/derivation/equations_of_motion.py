"""Equations of motion as they were derived, which compile themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from recursive_dyn.manifold.motion.manifold_dynamics import ManifoldDynamics
from recursive_dyn.manifold.writing.equation import EquationSystem


@dataclass(frozen=True, eq=False, repr=False)
class Equations(EquationSystem):
    """Equations of motion of a system; ``equations[q]`` is the row of q. steps: what each step returned."""

    steps: tuple[Any, ...] = ()

    def compile(self) -> ManifoldDynamics:
        """Mass matrix, right-hand side, accelerations and steps as machine code."""
        return ManifoldDynamics(self)
