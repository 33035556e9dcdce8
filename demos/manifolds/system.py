"""A system as it is written down: Lagrangian, virtual work, configuration; and its symbols by name."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

from recursive_dyn.manifold import Equations, Formula, Symbol, derive


@dataclass(frozen=True)
class System:
    """What ``derive`` takes, with the manifold's name and the symbols: ``system.symbols.q``."""

    name: str
    manifold: str
    lagrangian: Formula
    virtual_work: Formula | None
    configuration: tuple[Symbol, ...]
    symbols: SimpleNamespace
    constraints: tuple[Formula, ...] = ()

    def derive(self) -> Equations:
        """The equations of motion."""
        return derive(self.lagrangian, self.virtual_work, self.configuration, self.constraints)
