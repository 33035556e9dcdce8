"""A joint as text, and its transform as notebooks show it."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from recursive_dyn.graph.expression import array
from recursive_dyn.joint.coordinate import Coordinate
from recursive_dyn.joint.joint_program import JointProgram
from scene.scalars import in_sympy

LONGEST = 4000  # characters of LaTeX that are still read


class JointText:
    """What is shown of a joint: the constructor that made it, its coordinates, its transform G(q)."""

    program: JointProgram
    coordinates: tuple[Coordinate, ...]
    origin: Any

    def __repr__(self) -> str:
        kind = self.origin.constructor if self.origin else "Joint"
        if kind == "compose":
            return " @ ".join(map(repr, self.origin.arguments["parts"]))
        return f"{kind}({', '.join(c.name for c in self.coordinates)})"

    def _repr_latex_(self) -> str | None:
        """G(q) over the coordinates' names, or q_0, q_1 ... where there are more numbers than these.

        None for joints of several charts, and for what nobody would read.
        """
        program, names = self.program, [c.name for c in self.coordinates]
        if program.charts:
            return None
        import sympy as sp

        known = names if program.nq == len(names) else [f"q_{i}" for i in range(program.nq)]
        G = reduce(np.matmul, [f.transform for f in program.factors], array(np.eye(4)))
        entries = [sp.Integer(int(e)) if e in (0, 1, -1) else e for e in in_sympy(G.flat, sp.symbols(known, real=True))]
        text = f"$\\displaystyle {sp.latex(sp.Matrix(4, 4, entries))}$"
        return text if len(text) <= LONGEST else None
