"""Functions of a system of equations as machine code: programs, kernels, and calls for one state or a batch of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from recursive_dyn.codegen.arguments import real_array
from recursive_dyn.codegen.batch_rows import batch_shape, some_rows, told
from recursive_dyn.codegen.emitting import drivers
from recursive_dyn.codegen.function_list import FunctionList, Values
from recursive_dyn.codegen.kernel import BatchCall, Kernel, NotFinite, SingleCall
from recursive_dyn.codegen.making import jit
from recursive_dyn.codegen.making.building import building
from recursive_dyn.codegen.making.progress import waiting
from recursive_dyn.errors import StateError
from recursive_dyn.graph.program import OperationCount, Program

Array = np.ndarray
_FLOAT = np.dtype(np.float64)
_FEW = 1000  # rows that are computed one by one, with the same bits, until there is code for registers full of them


@dataclass(eq=False)
class _Compiled:
    """What all views of one evaluator share: nothing of it is state, and copies in other processes make their own."""

    programs: dict[str, Program] = field(default_factory=dict)
    kernels: dict[tuple[str, int], Kernel] = field(default_factory=dict)
    batches: dict[tuple[str, int], BatchCall] = field(default_factory=dict)
    signatures: dict[str, tuple[tuple[tuple[str, tuple[int]], ...], tuple[int, ...]]] = field(default_factory=dict)
    local: threading.local = field(default_factory=threading.local)  # calls for one state: buffers of each thread
    progress: Callable[[str, float], None] | None = None

    def __reduce__(self) -> Any:
        return _Compiled, ()


class Evaluator:
    """Functions of a list, each compiled, or loaded from the cache, at its first call.

    May be called from several threads: each has working memory of its own. Copies are views (:meth:`view`). A pickle
    holds the list of functions and the parameters' values; where it is read, machine code comes from the cache or is
    compiled again.
    """

    _charted = False  # whether numbers of a configuration mean different things in the charts of joints

    def __init__(self, functions: FunctionList, parameters: Values) -> None:
        self.functions = functions
        self._values = parameters
        self._parametric = len(parameters.values_array) > 0
        self._compiled = _Compiled()

    def view(self) -> Self:
        """The same functions, nothing compiled twice, with values of the parameters of their own."""
        result = object.__new__(type(self))
        result.__dict__.update(self.__dict__)
        result._values = self._values.copy()
        return result

    def __copy__(self) -> Self:
        return self.view()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.view()

    @property
    def progress(self) -> Callable[[str, float], None] | None:
        """Told (function, share compiled) while machine code is made, for every view; None: standard error is told."""
        return self._compiled.progress

    @progress.setter
    def progress(self, report: Callable[[str, float], None] | None) -> None:
        self._compiled.progress = report

    def program(self, function: str) -> Program:
        """The straight-line program of a function."""
        programs = self._compiled.programs
        if function not in programs:
            with building():
                if function not in programs:
                    programs[function] = self.functions.build(function)
        return programs[function]

    def operation_count(self, function: str) -> OperationCount:
        """Operations that one evaluation executes: .add .mul .div .sqrt .trig (.neg, .other, .total)."""
        return self.program(function).operation_count()

    def kernel(self, function: str, width: int = 1, soon: bool = False) -> Kernel:
        """Code of a function for ``width`` states at once; interpreted until it is compiled where width is 1, or
        ``soon``, and then without batches if it is more."""
        kernels, soon = self._compiled.kernels, soon or width == 1
        found = kernels.get((function, width))
        if found is None or not (soon or found.batches):
            with building():
                found = kernels.get((function, width))
                if found is None or not (soon or found.batches):
                    own = self.functions.kernel(function, self._report(function))
                    found = kernels[function, width] = own or self._of_program(function, width, soon)
        return found

    def _of_program(self, function: str, width: int, soon: bool) -> Kernel:
        """Machine code of the function's one program."""
        report = self._report(function)  # who wants to be told tells it
        with waiting(f"compiling {function}") if report is None else nullcontext(report) as share:
            return Kernel(
                self.functions.key(function), lambda: self.program(function), width, share,
                self.functions.driver(function), soon,
            )  # fmt: skip

    def call(self, function: str, *arguments: Any) -> Array:
        """Evaluate a function of the list; leading axes of the arguments broadcast."""
        segments, shape = self._compiled.signatures.get(function) or self._signature(function)
        arrays = []
        single = True
        try:
            for (name, size), value in zip(segments, arguments, strict=True):
                if type(value) is not np.ndarray or value.dtype is not _FLOAT or value.shape != size:
                    value = self._sized(name, value, size[0])
                    single = single and value.ndim == 1
                arrays.append(value)
        except ValueError:
            if len(arguments) == len(segments):
                raise
            names = ", ".join(name for name, _ in segments)
            raise StateError(f"{function} takes {names}, but {len(arguments)} arguments were given") from None
        try:
            if single:
                if self._parametric:
                    if self._charted:
                        self._refuse_charts(arrays[0])
                    arrays.append(self._values.values_array)
                ready = self._single(function)
                result = ready(arrays)
                if ready.large:
                    ready.large = False
                    self._look(function, arrays[: len(segments)], result)
                if len(shape) == 1:
                    return result
                return result.reshape(shape) if shape else result[0]
            lead = batch_shape([name for name, _ in segments], arrays)
            result = self.batch(function, arrays, lead)
            if self.functions.signature(function).solves:
                self._look(function, arrays, result)
            return result.reshape(*lead, *shape)
        except NotFinite as problem:
            raise StateError(self._diagnose(function, arrays[: len(segments)], problem)) from None

    def batch(self, function: str, arrays: list[Array], lead: tuple[int, ...], threads: int | None = None) -> Array:
        """Rows of all outputs, (count, ...), for arrays (..., size) that broadcast to the batch shape ``lead``."""
        count = int(np.prod(lead))
        call = self._batch_call(function, count)
        rows = [
            np.ascontiguousarray(
                a.reshape(1, -1)
                if a.ndim == 1
                else np.broadcast_to(a, (*lead, a.shape[-1])).reshape(count, a.shape[-1])
            )
            for a in arrays
        ]
        results = call([*rows, self._values.values_array.reshape(1, -1)], count, threads)
        return results[0] if len(results) == 1 else np.concatenate(results, axis=-1)

    def _batch_call(self, function: str, count: int) -> BatchCall:
        """What computes so many rows."""
        calls, width = self._compiled.batches, jit.batch_width()
        call = calls.get((function, width))
        if call is None:
            kernel = self.kernel(function, width, soon=count <= _FEW)
            if not kernel.batches:
                width, kernel = 1, self.kernel(function)
            call = calls.get((function, width)) or calls.setdefault((function, width), BatchCall(kernel))
        return call

    def label(self, segment: str, index: int) -> str:
        """Name of one element of an input segment, for messages."""
        return self.functions.label(segment, index)

    def _signature(self, function: str) -> tuple[tuple[tuple[str, tuple[int]], ...], tuple[int, ...]]:
        known = self.functions.signature(function)
        result = tuple((name, (size,)) for name, size in known.inputs), known.shape
        return self._compiled.signatures.setdefault(function, result)

    def _single(self, function: str) -> SingleCall:
        calls: dict[str, SingleCall] = self._compiled.local.__dict__
        call = calls.get(function)
        if call is None:
            call = calls[function] = SingleCall(self.kernel(function))
        return call

    def _report(self, function: str) -> Callable[[float], None] | None:
        progress = self.progress
        return None if progress is None else lambda share: progress(function, share)

    def _refuse_charts(self, q: Array) -> None:
        """StateError for a configuration that is known to be one of other charts."""

    def _sized(self, name: str, value: Any, size: int) -> Array:
        array = real_array(value)
        if array is None:
            raise StateError(f"'{name}' must be an array of real numbers of shape (..., {size})")
        if array.ndim == 0 or array.shape[-1] != size:
            raise StateError(f"'{name}' has shape {array.shape}, but {self.functions.owner} (..., {size})")
        return array

    def _look(self, function: str, arrays: Sequence[Array], result: Array) -> None:
        """Refuse results of a solve that are large because the state is singular: StateError says where."""
        if not self.functions.signature(function).solves:
            return
        if result.max(initial=0.0) > drivers.MODERATE or result.min(initial=0.0) < -drivers.MODERATE:
            lead = np.broadcast_shapes(*(a.shape[:-1] for a in arrays))
            rows = np.flatnonzero(np.abs(result.reshape(int(np.prod(lead)), -1)).max(axis=1) > drivers.MODERATE)
            states = [some_rows(a, lead, rows) for a in arrays]
            doubtful = self._doubtful(function, states, result.reshape(int(np.prod(lead)), -1)[rows])
            rows = rows[doubtful]
            found = self._singular([a[doubtful] for a in states]) if len(rows) else None
            if found is not None:
                raise StateError(f"{function}: there is no result{told(lead, int(rows[found[0]]))}; {found[1]}")

    def _diagnose(self, function: str, arrays: list[Array], problem: NotFinite) -> str:
        """Why a call met what is not finite: the first such element of the arguments, or :meth:`_why`."""
        for (name, _), a in zip(self.functions.signature(function).inputs, arrays, strict=True):
            bad = np.argwhere(~np.isfinite(a))
            if len(bad):
                label = self.label(name, int(bad[0][-1]))
                where = f", batch row {tuple(int(i) for i in bad[0][:-1])}" if a.ndim > 1 else ""
                return f"{function}: '{name}' is not finite at {label}{where}; pass finite numbers only"
        if problem.stage == "input":
            return f"{function}: a parameter is not finite; give it a finite number"
        return self._why(function, arrays, problem)

    def _why(self, function: str, arrays: list[Array], problem: NotFinite) -> str:
        """Message for a result that is not finite although the arguments are: the row of a batch, what is singular."""
        lead = np.broadcast_shapes(*(a.shape[:-1] for a in arrays))
        row = self._bad_row(function, arrays, lead, problem.row)
        found = self._singular([some_rows(a, lead, np.array([row])) for a in arrays])
        why = "a number overflowed, or the state is singular" if found is None else found[1]
        return f"{function}: the result is not finite{told(lead, row)}; {why}"

    def _bad_row(self, function: str, arrays: list[Array], lead: tuple[int, ...], first: int) -> int:
        """The first row of a batch's block, which begins with row ``first``, whose result is not finite."""
        for row in range(first, int(np.prod(lead))) if lead else ():
            alone = [some_rows(a, lead, np.array([row]))[0] for a in arrays]
            try:
                self._single(function)([*alone, self._values.values_array])
            except NotFinite:
                return row
        return first

    def _doubtful(self, function: str, arrays: list[Array], results: Array) -> Array:
        """Which (n,) of some large results (n, outputs) may not solve the equations they should."""
        return np.ones(len(results), dtype=bool)

    def _singular(self, arrays: list[Array]) -> tuple[int, str] | None:
        """(row, what is singular and what to do) of the first of some states (n, size), an input each; None if none."""
        return None
