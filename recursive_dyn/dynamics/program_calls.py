"""Compiled programs as compiled loops call them: by address, in memory of their own."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recursive_dyn.codegen.addresses import address
from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.codegen.forests.forest_driver import ASKED, KNOWN, STILL
from recursive_dyn.codegen.forests.forest_kernel import ForestKernel
from recursive_dyn.codegen.kernel import Kernel
from recursive_dyn.codegen.loops.intrinsics import run
from recursive_dyn.dynamics.dynamics import Dynamics


class ProgramCall(NamedTuple):
    """A straight-line program's address, 0 for none, with the inputs, outputs and scratch that it is called with."""

    address: int
    inputs: Floats
    outputs: Floats
    scratch: Floats


_EMPTY = np.zeros(0)
_LANES = 16  # sums side by side, which do not wait for each other
NO_PROGRAM = ProgramCall(0, _EMPTY, _EMPTY, _EMPTY)


def program_call(dynamics: Dynamics, function: str, still: np.ndarray | None = None) -> ProgramCall:
    """A function of the dynamics, compiled or loaded; the memory is the call's own.

    still (1 + nq,): as ``evaluated_awake`` reads it, which whoever calls keeps alive.
    """
    kernel = dynamics.kernel(function)
    result = kernel_call(kernel)
    if still is not None and isinstance(kernel, ForestKernel):
        result.scratch[STILL : STILL + 1].view(np.int64)[0] = address(still)
    return result


def kernel_call(kernel: Kernel) -> ProgramCall:
    """A program's machine code, in memory of the call's own."""
    inputs, outputs, scratch = kernel.memory()
    return ProgramCall(
        kernel.native.address(kernel.entry), inputs[: kernel.input_size], outputs[: kernel.output_size], scratch
    )


@compiled
def evaluated(call: ProgramCall, a: Floats, b: Floats, c: Floats, parameters: Floats) -> bool:
    """Run a program at its input segments, of which the last ones may be empty; whether the outputs are finite."""
    x, k = call.inputs, len(a)
    x[:k] = a
    x[k : k + len(b)] = b
    k += len(b)
    x[k : k + len(c)] = c
    k += len(c)
    x[k : k + len(parameters)] = parameters
    run(call.address, x, call.outputs, call.scratch)
    return all_finite(call.outputs)


@compiled
def evaluated_awake(call: ProgramCall, a: Floats, b: Floats, c: Floats, parameters: Floats) -> bool:
    """The same, but outputs of trees that are marked as still may be what they were, if these were finite.

    That is told by places of q, which a is, in the ``still`` that the program was called into being with (see
    ``forests.forest_driver``).
    """
    call.scratch[ASKED] = 1.0
    finite = evaluated(call, a, b, c, parameters)
    call.scratch[ASKED] = 0.0
    if not finite:
        call.scratch[KNOWN] = 0.0
    return finite


@compiled
def all_finite(x: Floats) -> bool:
    """Whether all numbers are finite."""
    total, n, sums = 0.0, len(x) // _LANES * _LANES, np.zeros(_LANES)
    for k in range(0, n, _LANES):
        part = x[k : k + _LANES]
        for i in range(_LANES):
            sums[i] += 0.0 * part[i]
    for k in range(n, len(x)):
        total += 0.0 * x[k]
    for i in range(_LANES):
        total += sums[i]
    return total == 0.0


@compiled
def equal_where(marks: Integers, a: Floats, b: Floats) -> bool:
    """Whether two equally long arrays hold the same numbers where marks are 1, and not 0."""
    total, n, others = 0, len(a) // _LANES * _LANES, np.zeros(_LANES, dtype=np.int64)
    for k in range(0, n, _LANES):
        marked, x, y = marks[k : k + _LANES], a[k : k + _LANES], b[k : k + _LANES]
        for i in range(_LANES):
            others[i] += marked[i] if x[i] != y[i] else 0
    for k in range(n, len(a)):
        total += marks[k] if a[k] != b[k] else 0
    for i in range(_LANES):
        total += others[i]
    return total == 0


@compiled
def zero_where(marks: Integers, x: Floats) -> bool:
    """Whether numbers are 0 where marks are 1, and not 0."""
    total, n, others = 0, len(x) // _LANES * _LANES, np.zeros(_LANES, dtype=np.int64)
    for k in range(0, n, _LANES):
        marked, part = marks[k : k + _LANES], x[k : k + _LANES]
        for i in range(_LANES):
            others[i] += marked[i] if part[i] != 0.0 else 0
    for k in range(n, len(x)):
        total += marks[k] if x[k] != 0.0 else 0
    for i in range(_LANES):
        total += others[i]
    return total == 0


@compiled
def none_where(marks: Integers, flags: Integers) -> bool:
    """Whether flags are 0 where marks are 1, and not 0."""
    total, n, others = 0, len(flags) // _LANES * _LANES, np.zeros(_LANES, dtype=np.int64)
    for k in range(0, n, _LANES):
        marked, part = marks[k : k + _LANES], flags[k : k + _LANES]
        for i in range(_LANES):
            others[i] += marked[i] if part[i] != 0 else 0
    for k in range(n, len(flags)):
        total += marks[k] if flags[k] != 0 else 0
    for i in range(_LANES):
        total += others[i]
    return total == 0


@compiled
def equal(a: Floats, b: Floats) -> bool:
    """Whether two equally long arrays hold the same numbers."""
    total, n, others = 0, len(a) // _LANES * _LANES, np.zeros(_LANES, dtype=np.int64)
    for k in range(0, n, _LANES):
        x, y = a[k : k + _LANES], b[k : k + _LANES]
        for i in range(_LANES):
            others[i] += 1 if x[i] != y[i] else 0
    for k in range(n, len(a)):
        total += 1 if a[k] != b[k] else 0
    for i in range(_LANES):
        total += others[i]
    return total == 0
