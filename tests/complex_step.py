"""Derivatives by the complex step, exact to rounding: the imaginary part of f(x + i h dx) / h (Squire & Trapp 1998).

A slow interpreter of programs on complex numbers, which knows of no derivative: what jumps or has corners follows the
real part. Configurations are moved by the program of ``integrate``.
"""

from __future__ import annotations

import numpy as np

import recursive_dyn as rd
from recursive_dyn.dynamics.functions import FUNCTIONS as LIST
from recursive_dyn.graph.definitions import FUNCTIONS
from recursive_dyn.graph.program import Program
from recursive_dyn.recursion.context import segment_size

STEP = 1e-30


def _atan2(y, x):
    slope = (np.real(x) * np.imag(y) - np.real(y) * np.imag(x)) / (np.real(x) ** 2 + np.real(y) ** 2)
    return np.arctan2(np.real(y), np.real(x)) + 1j * slope


_COMPLEX = FUNCTIONS | {
    "atan2": _atan2,
    "abs": lambda a: np.where(np.real(a) < 0, -a, a),
    "min": lambda a, b: np.where(np.real(a) < np.real(b), a, b),
    "max": lambda a, b: np.where(np.real(b) < np.real(a), a, b),
    "less": lambda a, b: np.where(np.real(a) < np.real(b), 1.0, 0.0),
    "select": lambda c, a, b: np.where(np.real(c) != 0.0, a, b),
    "floor": lambda a: np.floor(np.real(a)),
    "table": lambda i, values: FUNCTIONS["table"](np.real(i), values),
}


def run(program: Program, inputs: dict[str, np.ndarray]) -> np.ndarray:
    """All outputs (..., n) of a program for complex input segments (..., size)."""
    shape = np.broadcast_shapes(*(np.shape(inputs[name])[:-1] for name, size in program.inputs if size))
    values: list = []
    for name, size in program.inputs:
        segment = np.broadcast_to(np.asarray(inputs[name], dtype=complex), (*shape, size))
        values += [segment[..., i] for i in range(size)]
    values += [*(complex(c) for c in program.constants), *program.tables]
    with np.errstate(all="ignore"):
        for op, *args in program.statements:
            values.append(_COMPLEX[op](*(values[a] for a in args)))
    if not program.results:
        return np.zeros((*shape, 0), dtype=complex)
    return np.stack([np.broadcast_to(np.asarray(values[r], dtype=complex), shape) for r in program.results], axis=-1)


def apart(given: dict[str, np.ndarray], moved: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Inputs (n, size) of all ``moved`` (ways, size), one below the other; the others stay as given (size,)."""
    count = sum(len(rows) for rows in moved.values())
    result, first = {name: np.tile(np.asarray(value, dtype=complex), (count, 1)) for name, value in given.items()}, 0
    for name, rows in moved.items():
        result[name][first : first + len(rows)] = rows
        first += len(rows)
    return result


def derivatives(d: rd.Dynamics, function: str, *arguments: np.ndarray, program: Program | None = None) -> list:
    """df by each argument (size,) and by the parameters, arrays (outputs, nv or size), at one state."""
    names = LIST[function].inputs
    given = dict(zip(names, arguments, strict=True)) | {"parameters": d.parameters.values_array}
    moved = {}
    for name in (*names, "parameters"):
        if name in ("q", "q_end"):
            moved[name] = moved_configurations(d, given[name])
        else:
            moved[name] = given[name] + 1j * STEP * np.eye(segment_size(d.model, name))
    rates = run(program or d.program(function), apart(given, moved)).imag.T / STEP
    return np.split(rates, np.cumsum([len(rows) for rows in moved.values()])[:-1], axis=1)


def moved_configurations(d: rd.Dynamics, q: np.ndarray) -> np.ndarray:
    """The configurations (nv, nq) an imaginary step along each velocity from q (nq,)."""
    given = {"q": q, "v": np.eye(d.nv), "dt": np.array([1j * STEP]), "parameters": d.parameters.values_array}
    return run(d.program("integrate"), given)
