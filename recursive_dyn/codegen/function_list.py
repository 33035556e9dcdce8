"""What an evaluator evaluates: the functions of one system of equations, by name, and values of its parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np

from recursive_dyn.codegen.kernel import Driver, Kernel
from recursive_dyn.graph.program import Program

Array = np.ndarray


@dataclass(frozen=True)
class Signature:
    """Input segments (name, size) of a function, without the parameters, and the shape of its outputs together.

    solves: a system of equations, so that large results may be what rounding leaves of a singular one.
    """

    inputs: tuple[tuple[str, int], ...]
    shape: tuple[int, ...]
    solves: bool = False


class FunctionList(Protocol):
    """The functions of one system of equations, by name; an unknown name raises ModelError.

    ``owner`` is what shapes are told to be needed by, as "this scene needs".
    """

    @property
    def owner(self) -> str: ...

    def signature(self, function: str) -> Signature:
        """What the function takes and gives."""
        ...

    def key(self, function: str) -> str:
        """Hash, or text, of everything that the function's program depends on."""
        ...

    def build(self, function: str) -> Program:
        """The function's program; its last input segment are the parameters."""
        ...

    def driver(self, function: str) -> Driver | None:
        """The compiled loop that belongs to a function, if it is an integrator's."""
        ...

    def kernel(self, function: str, report: Callable[[float], None] | None) -> Kernel | None:
        """The function's kernel where it is not that of its program; report: told the share compiled."""
        ...

    def label(self, segment: str, index: int) -> str:
        """Name of one element of an input segment, for messages."""
        ...


class Values(Protocol):
    """Values of the parameters: ``values_array`` (n,), in the order of the programs' last input segment."""

    @property
    def values_array(self) -> Array: ...

    def copy(self) -> Self:
        """The same names with values of their own."""
        ...
