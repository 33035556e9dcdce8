"""One joint type with its transform written out once more, and the coordinates that it is tested at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import sympy as sp

from scene import joints

ANGLE = (-2.5, 2.5)
LENGTH = (-0.6, 0.6)
QUATERNION = "quaternion"  # a domain entry that spans four coordinates


@dataclass(frozen=True, eq=False)
class Case:
    """A joint, one symbol a configuration coordinate, its transform as a SymPy matrix (built on demand), its domain.

    What SymPy cannot write has a function of q instead, which gives the transform as numbers.
    """

    joint: joints.Joint
    symbols: tuple
    matrix: Callable[[], sp.Matrix] | None
    domain: tuple
    numbers: Callable[..., np.ndarray] | None = None

    @property
    def nq(self) -> int:
        return len(self.symbols)

    @property
    def nv(self) -> int:
        return self.nq - self.domain.count(QUATERNION)

    @cached_property
    def pose(self) -> Callable[..., np.ndarray]:
        """G(q) as a (4, 4) float array."""
        if self.numbers is not None:
            return self.numbers
        function = sp.lambdify(self.symbols, self.matrix(), "numpy", cse=True)
        return lambda q: np.array(function(*q), dtype=float)

    def sample(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Configurations (count, nq) in the domain, quaternions of unit length."""
        columns = [np.zeros((count, 0))]
        for entry in self.domain:
            if entry == QUATERNION:
                q = rng.normal(size=(count, 4))
                columns.append(q / np.linalg.norm(q, axis=1, keepdims=True))
            else:
                columns.append(rng.uniform(*entry, (count, 1)))
        return np.hstack(columns)
