"""The loop of steps that was compiled with a kernel, and the buffers it works in."""

from __future__ import annotations

import ctypes
from time import perf_counter
from typing import Any

import numpy as np

from recursive_dyn.codegen.addresses import address
from recursive_dyn.codegen.emitting.drivers import CODE_BITS
from recursive_dyn.codegen.kernel import Kernel
from recursive_dyn.codegen.making import jit

# the loop's own memory, in doubles: the length of a step first, then the kernel beside its own, the
# address of who is asked for forces, whether the rule is the one that holds, what springs took from a part of a step,
# what steps took, then states
BESIDE, ASKED, RULE, DAMPED, TRIED, TALLY, HEAD = 1, 4, 5, 6, 9, 18, 40
# of loops that tell of energy that nothing explains: which share of a whole step each step is, and 1 where the next
# part is as short as they get, and is taken
SHARE, SHORTEST = 32, 33
# of loops that go on as the last steps did: the end of the last one (state,), and what leads on from there
EXPECTED = HEAD
# steps that were halved, how often, J that nothing explains, one more for who steps, sweeps of implicit rules, steps
# from which springs took energy, J of it; then what is no sum: the most that a part of one lost, and by which spring
TALLY_SIZE, SWEPT, SUMS = 9, 4, 7
# behind them, of loops whose steps are weighed, by how much energy these are off in all, J, up to where that is told,
# what that is measured by, and motion where the last one ended; then J that is told, of rules that go on too
TALLIED, OFF_BY, OFF_UP_TO, OFF_OF, OFF_SINCE, OFF_TOLD = 14, 9, 10, 11, 12, 13
UNEXPLAINED = 2  # among the sums
# the last of what leads on, which no state is asked for: into how many parts steps go (0 of a loop whose steps do not),
# J that they made of nothing, by what that is measured, and J of motion where the last one ended (``finer_steps``)
WATCH, PARTS, MADE, SIZE, ENDED = 4, 0, 1, 2, 3
_STATES, _TREE = 10, 9  # room for so many of them, where what is watched of every tree is too, and of one more
_SPELL = 0.02  # s: about how long machine code runs before Python may serve an interrupt
CODE = (1 << CODE_BITS) - 1


def leading(nv: int) -> int:
    """How many numbers lead on from a state: how many steps of a length led there, at most 4, that length, the rates of
    velocities (nv,) by which the next step begins, the velocity (nv,) of the last one's middle, by how much straight
    lines were off (3, nv), the last one first, and WATCH numbers that outlive the state.
    """
    return 2 + 5 * nv + WATCH


class CompiledLoop:
    """``inputs``: the kernel's input segments by name, which hold the state; ``output``: what it last gave.

    address, memory: of the loop, and what it takes first (input, output, scratch, work), for other machine code.

    state: how many numbers are integrated; arguments: how many more than the count of steps ``run`` takes, integers or
    addresses. beside: another kernel of the same inputs, of a loop that calls one; tally (TALLIED,): what it had to
    do.
    """

    def __init__(self, kernel: Kernel, state: int, arguments: int, beside: Kernel | None = None) -> None:
        self._input, output, scratch = kernel.memory()
        self._work = kernel.buffer(HEAD + _STATES * state + _TREE)
        self.tally = self._work[TALLY : TALLY + TALLIED]
        self._work[SHARE] = 1.0
        self.expected = self._work[EXPECTED : EXPECTED + state + leading(state)]
        if beside is not None:
            _, *self._beside = beside.memory()
            places = [beside.native.address(beside.entry), *map(address, self._beside)]
            self._work[BESIDE : BESIDE + 3].view(np.int64)[:] = places
        self.inputs: dict[str, np.ndarray] = {}
        start = 0
        for name, size in kernel.inputs:
            self.inputs[name] = self._input[start : start + size]
            start += size
        self.output = output[: kernel.output_size]
        self.memory = self._input, output, scratch, self._work
        self.address = kernel.native.address(f"{kernel.entry}_run")
        self._addresses = [ctypes.c_void_p(address(buffer)) for buffer in self.memory]
        self._native = jit.function(kernel.native, f"{kernel.entry}_run", 5 + arguments, hold_gil=False)
        self._spell = 1  # steps that machine code may take at a time

    def hold(self) -> None:
        """Step by the rule that holds dampers and springs, in loops that have it beside their own."""
        self._work[RULE] = 1.0

    def share(self, share: float, shortest: bool) -> None:
        """Each step is that share of a whole one, or of one that is none of several; shortest: none is any shorter."""
        self._work[SHARE], self._work[SHORTEST] = share, float(shortest)

    def ask(self, address: int) -> None:
        """Have a C function of a double asked before every evaluation, in loops that ask; 0: nobody."""
        self._work[ASKED : ASKED + 1].view(np.int64)[0] = address

    def run(self, h: float, count: int, *arguments: Any) -> tuple[int, int]:
        """At most ``count`` steps of length h, some 20 ms of them, from the state in ``inputs``.

        Returns the number of steps and the code of ``drivers``, OK also where the time was up.
        """
        self._work[0] = h
        if count == 1:
            told = self._native(*self._addresses, 1, *arguments)
            return told >> CODE_BITS, told & CODE
        begin = perf_counter()
        told = self._native(*self._addresses, min(count, self._spell), *arguments)
        if told >> CODE_BITS:
            self._spell = max(1, int((told >> CODE_BITS) * _SPELL / (perf_counter() - begin)))
        return told >> CODE_BITS, told & CODE
