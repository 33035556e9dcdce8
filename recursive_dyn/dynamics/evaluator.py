"""Compiled functions of a model: programs, machine code, and calls that take batches and refuse what is not finite."""

from __future__ import annotations

import copy
import gc
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from recursive_dyn.codegen import jit, steppers
from recursive_dyn.codegen.kernel import BatchCall, Kernel, NotFinite, SingleCall
from recursive_dyn.dynamics.functions import build_program, depends_on_method, find
from recursive_dyn.dynamics.parameters import Parameters
from recursive_dyn.errors import ModelError, StateError
from recursive_dyn.graph.program import Program
from recursive_dyn.model.model import Model
from recursive_dyn.recursion.context import AUTO, LAGRANGIAN, RECURSIVE, segment_size

Array = np.ndarray
_FLOAT = np.dtype(np.float64)


@dataclass(eq=False)
class _Compiled:
    """What all views of one evaluator share."""

    programs: dict[str, Program] = field(default_factory=dict)
    kernels: dict[tuple[str, int], Kernel] = field(default_factory=dict)
    batches: dict[str, BatchCall] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)
    progress: Callable[[str, float], None] | None = None


class Evaluator:
    """Functions of ``recursive_dyn.dynamics.functions`` on one model; each is compiled, or loaded, at its first call.

    May be called from several threads: each has working memory of its own.
    """

    def __init__(self, model: Model, method: str = AUTO) -> None:
        if method not in (AUTO, RECURSIVE, LAGRANGIAN):
            raise ModelError(f"unknown method '{method}'; choose 'auto', 'recursive' or 'lagrangian'")
        self.model = model
        self.method = method
        self.parameters = Parameters(
            model.parameters, {str(link.chart): len(link.joint.charts) for link in model.charted}
        )
        self._compiled = _Compiled()
        self._local = threading.local()
        self._signatures: dict[str, tuple[tuple[tuple[str, tuple[int]], ...], tuple[int, ...]]] = {}

    def view(self) -> Self:
        """The same functions, nothing compiled twice, with values of the parameters of their own."""
        result = copy.copy(self)
        result.parameters = self.parameters.copy()
        return result

    @property
    def progress(self) -> Callable[[str, float], None] | None:
        """Told (function, share compiled) while machine code is made, for every view."""
        return self._compiled.progress

    @progress.setter
    def progress(self, report: Callable[[str, float], None] | None) -> None:
        self._compiled.progress = report

    def program(self, function: str) -> Program:
        """The straight-line program of a function."""
        with self._compiled.lock:
            if function not in self._compiled.programs:
                with _no_garbage_collection():
                    self._compiled.programs[function] = build_program(self.model, function, self.method)
            return self._compiled.programs[function]

    def kernel(self, function: str, width: int = 1) -> Kernel:
        """Machine code of a function for ``width`` scenes at once, compiled or taken from the cache."""
        with self._compiled.lock:
            if (function, width) not in self._compiled.kernels:
                find(self.model, function)
                key = f"{self.model.key} {function} {self.method if depends_on_method(function) else ''}"
                self._compiled.kernels[function, width] = Kernel(
                    key, lambda: self.program(function), width, self._report(function), self._stepper(function)
                )
            return self._compiled.kernels[function, width]

    def _report(self, function: str) -> Callable[[float], None] | None:
        progress = self.progress
        return None if progress is None else lambda share: progress(function, share)

    def _stepper(self, function: str) -> Callable[[str, Program], str] | None:
        """The compiled run of sub-steps that belongs to a function, if it is an integrator's."""
        m = self.model
        makers: dict[str, Callable[[str, Program], str]] = {
            "step": lambda entry, p: steppers.euler(entry, p.input_size, p.output_size, m.nq + m.nv),
            "midpoint": lambda entry, p: steppers.midpoint(entry, p.input_size, p.output_size, m.nq, m.nv),
            "rates": lambda entry, p: steppers.runge_kutta(entry, p.input_size, m.nq + m.nv, m.quaternions),
        }
        return makers.get(function.removesuffix("_unstopped"))

    def call(self, function: str, *arguments: Any) -> Array:
        """Evaluate a function of the list in ``dynamics.functions``; leading axes of the arguments broadcast."""
        signature = self._signatures.get(function)
        if signature is None:
            known = find(self.model, function)
            segments = tuple((n, (segment_size(self.model, n),)) for n in known.inputs)
            signature = self._signatures[function] = (segments, known.shape(self.model))
        segments, shape = signature
        arrays = []
        single = True
        for (name, size), value in zip(segments, arguments, strict=True):
            if type(value) is not np.ndarray or value.dtype is not _FLOAT or value.shape != size:
                value = self._sized(name, value, size[0])
                single = single and value.ndim == 1
            arrays.append(value)
        try:
            if single:
                if self.model.parameters:
                    arrays.append(self.parameters.values_array)
                result = self._single(function)(arrays)
                if len(shape) == 1:
                    return result
                return result.reshape(shape) if shape else result[0]
            lead = self._lead([name for name, _ in segments], arrays)
            return self.batch(function, arrays, lead).reshape(*lead, *shape)
        except NotFinite as problem:
            names = tuple(name for name, _ in segments)
            raise StateError(self._diagnose(function, names, arrays[: len(names)], problem)) from None

    def batch(self, function: str, arrays: list[Array], lead: tuple[int, ...], threads: int | None = None) -> Array:
        """Rows of all outputs, (count, ...), for arrays (..., size) that broadcast to the batch shape ``lead``."""
        count = int(np.prod(lead))
        with self._compiled.lock:
            if function not in self._compiled.batches:
                self._compiled.batches[function] = BatchCall(self.kernel(function, jit.vector_width()))
        rows = [
            np.ascontiguousarray(
                a.reshape(1, -1)
                if a.ndim == 1
                else np.broadcast_to(a, (*lead, a.shape[-1])).reshape(count, a.shape[-1])
            )
            for a in arrays
        ]
        results = self._compiled.batches[function]([*rows, self.parameters.values_array.reshape(1, -1)], count, threads)
        return results[0] if len(results) == 1 else np.concatenate(results, axis=-1)

    def _lead(self, names: Sequence[str], arrays: Sequence[Array]) -> tuple[int, ...]:
        """The batch shape to which the leading axes of the arguments broadcast."""
        try:
            return np.broadcast_shapes(*(a.shape[:-1] for a in arrays))
        except ValueError:
            shapes = ", ".join(f"{n} {a.shape}" for n, a in zip(names, arrays, strict=True))
            raise StateError(f"the leading axes do not broadcast to one batch: {shapes}") from None

    def _single(self, function: str) -> SingleCall:
        calls: dict[str, SingleCall] = self._local.__dict__
        call = calls.get(function)
        if call is None:
            call = calls[function] = SingleCall(self.kernel(function))
        return call

    def _sized(self, name: str, value: Any, size: int | None = None) -> Array:
        size = segment_size(self.model, name) if size is None else size
        if type(value) is not np.ndarray or value.dtype != np.float64:
            try:
                value = np.asarray(value, dtype=float)
            except (TypeError, ValueError):
                raise StateError(f"'{name}' must be an array of numbers of shape (..., {size})") from None
        if value.ndim == 0 or value.shape[-1] != size:
            raise StateError(f"'{name}' has shape {value.shape}, but this scene needs (..., {size})")
        return value

    def _diagnose(self, function: str, names: tuple[str, ...], arrays: list[Array], problem: NotFinite) -> str:
        for name, a in zip(names, arrays, strict=True):
            bad = np.argwhere(~np.isfinite(a))
            if len(bad):
                label = self.label(name, int(bad[0][-1]))
                row = f", batch row {tuple(int(i) for i in bad[0][:-1])}" if a.ndim > 1 else ""
                return f"{function}: '{name}' is not finite at {label}{row}; pass finite numbers only"
        where = "" if all(a.ndim == 1 for a in arrays) else f" (first bad rows from {problem.row})"
        return (
            f"{function}: the result is not finite{where}; the configuration is singular (a joint's frame, a gimbal"
            " lock, a quaternion of zeros) or a number overflowed"
        )

    def label(self, name: str, index: int) -> str:
        """Name of one element of an input segment, for messages."""
        if name in ("q", "q_end") and index < self.model.nq:
            return f"coordinate '{self.model.coordinate_names[index]}'"
        if name in ("v", "a", "tau", "v_middle"):
            return f"coordinate '{self.model.coordinates[index].name}'"
        if name == "wrenches":
            return f"body '{self.model.bodies[index // 6].name}'"
        return f"element {index}"


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Graphs hold a great many objects and no garbage: collections while one is built only cost time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
