"""Compiled programs as compiled loops call them: by address, in memory of their own."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Floats, compiled
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


def program_call(dynamics: Dynamics, function: str) -> ProgramCall:
    """A function of the dynamics, compiled or loaded; the memory is the call's own."""
    return kernel_call(dynamics.kernel(function))


def kernel_call(kernel: Kernel) -> ProgramCall:
    """A program's machine code, in memory of the call's own."""
    inputs, outputs, scratch = kernel.memory()
    address = kernel.native.address(kernel.entry)
    return ProgramCall(address, inputs[: kernel.input_size], outputs[: kernel.output_size], scratch)


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
