"""The compiled object a person calls: every method takes leading batch axes and compiles its program on first use."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from recursive_dyn.codegen import jit, steppers
from recursive_dyn.errors import ModelError, StateError
from recursive_dyn.functions import (
    AUTO,
    LAGRANGIAN,
    RECURSIVE,
    build_program,
    columns,
    depends_on_method,
    find,
    neutral,
    segment_size,
)
from recursive_dyn.joint_check import FAR
from recursive_dyn.kernel import BatchCall, Kernel, NotFinite, SingleCall
from recursive_dyn.model import Model
from recursive_dyn.parameters import Parameters
from recursive_dyn.program import OperationCount, Program

Array = np.ndarray
_FLOAT = np.dtype(np.float64)


class Dynamics:
    """Equations of motion of one model.

    q is (..., nq), v, a and tau are (..., nv); leading axes of the arguments broadcast. Angles in rad, SI units, twists
    and wrenches angular first. A quaternion may have any length but zero. Errors: StateError names an argument of wrong
    shape or the coordinate that is not finite; ModelError an unknown body, function or parameter.
    """

    def __init__(self, model: Model, method: str = AUTO) -> None:
        if method not in (AUTO, RECURSIVE, LAGRANGIAN):
            raise ModelError(f"unknown method '{method}'; choose 'auto', 'recursive' or 'lagrangian'")
        if method == RECURSIVE and any(link.coupling for link in model.links):
            follower = next(link.name for link in model.links if link.coupling)
            raise ModelError(
                f"joint of '{follower}' follows another coordinate, which method='recursive' does not express;"
                " compile with method='lagrangian' or 'auto'"
            )
        self.model = model
        self.method = method
        self.parameters = Parameters(model.parameters)
        self.progress: Callable[[str, float], None] | None = None  # told (function, share compiled) while it compiles
        self._programs: dict[str, Program] = {}
        self._kernels: dict[tuple[str, int], Kernel] = {}
        self._batches: dict[str, BatchCall] = {}
        self._local = threading.local()
        self._lock = threading.RLock()
        self._columns = columns(model)
        self._no_force = np.zeros(model.nv)
        self._signatures: dict[str, tuple[tuple[tuple[str, tuple[int]], ...], tuple[int, ...]]] = {}

    @property
    def nq(self) -> int:
        """Number of configuration coordinates."""
        return self.model.nq

    @property
    def nv(self) -> int:
        """Number of velocity coordinates."""
        return self.model.nv

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies, in order of attachment."""
        return tuple(body.name for body in self.model.bodies)

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the configuration coordinates (nq,), "body.coordinate", in order of attachment."""
        return self.model.coordinate_names

    @property
    def velocity_coordinates(self) -> tuple[str, ...]:
        """Names of the velocity coordinates (nv,)."""
        return tuple(c.name for c in self.model.coordinates)

    def neutral(self) -> Array:
        """The configuration (nq,) of zeros and unit quaternions, moved into the limits."""
        return neutral(self.model)

    def random(self, rng: np.random.Generator | None = None) -> Array:
        """A random configuration (nq,): within the limits where there are both, else in [-pi, pi]; unit quaternions."""
        rng = np.random.default_rng() if rng is None else rng
        q = rng.uniform(-np.pi, np.pi, self.nq)
        for first in self.model.quaternions:
            q[first : first + 4] = rng.normal(size=4)
            q[first : first + 4] /= np.linalg.norm(q[first : first + 4])
        for link in self.model.links:
            for f in link.joint.factors:
                if f.kind == "plain" and link.coupling is None:
                    for j in range(f.nv):
                        low, high = self.model.coordinates[link.first_v + f.first_v + j].limits
                        if max(-low, high) < FAR:
                            q[link.first_q + f.first_q + j] = rng.uniform(low, high)
        return q

    def forward_dynamics(self, q: Any, v: Any, tau: Any = None, external: Any = None) -> Array:
        """Accelerations (..., nv) under generalized forces tau and wrenches ``external`` (..., nb, 6), world axes at
        each body's origin. M a + bias = tau + sum J^T external; joint damping and springs are not included (see
        ``passive_forces``). Si & Guenter eq. 18-35, or Guenter & Lee eq. 14, by the method chosen."""
        tau = self._no_force if tau is None else tau
        if external is not None:
            tau = self._sized("tau", tau) + self.call("external_forces", q, self._wrenches(external))
        return self.call("forward_dynamics", q, v, tau)

    def inverse_dynamics(self, q: Any, v: Any, a: Any, external: Any = None) -> Array:
        """Generalized forces (..., nv) for accelerations a, less what ``external`` (..., nb, 6) supplies. Si & Guenter
        eq. 6-15."""
        tau = self.call("inverse_dynamics", q, v, a)
        return tau if external is None else tau - self.call("external_forces", q, self._wrenches(external))

    def mass_matrix(self, q: Any) -> Array:
        """M(q), (..., nv, nv), symmetric positive definite, rotor inertias included."""
        return self.call("mass_matrix", q)

    def bias(self, q: Any, v: Any) -> Array:
        """C(q, v) v plus gravity, (..., nv): the forces that hold zero acceleration."""
        return self.call("bias", q, v)

    def gravity(self, q: Any) -> Array:
        """Gravity's part of the bias, dU/dq, (..., nv)."""
        return self.call("gravity", q)

    def passive_forces(self, q: Any, v: Any) -> Array:
        """Forces (..., nv) of joint damping and springs, -damping v - stiffness (q - rest); simulations apply them."""
        return self.call("passive_forces", q, v)

    def poses(self, q: Any) -> Array:
        """X_WB of every body, (..., nb, 4, 4)."""
        return self.call("poses", q)

    def velocities(self, q: Any, v: Any) -> Array:
        """[omega; v] of every body at its origin, world axes, (..., nb, 6)."""
        return self.call("velocities", q, v)

    def jacobian(self, q: Any, body: str, point: Any = (0.0, 0.0, 0.0)) -> Array:
        """J (..., 6, nv) with [omega; v] = J v, world axes, at ``point`` given in the body's frame."""
        index = self.model.body_index(body)
        point = self._sized("point", point, 3)
        S = self.call("screws", q)
        X = self.poses(q)[..., index, :, :]
        place = X[..., :3, 3] + np.einsum("...ij,...j->...i", X[..., :3, :3], point)
        J = np.zeros((*place.shape[:-1], 6, self.nv))
        link = self.model.bodies[index].link
        chain = set(self.model.ancestors[link]) if link >= 0 else set()
        for k, (owner, slot) in enumerate(self._columns):
            if owner in chain:
                omega = S[..., k, :3]
                J[..., :3, slot] += omega
                J[..., 3:, slot] += S[..., k, 3:] + np.cross(omega, place)
        return J

    def kinetic_energy(self, q: Any, v: Any) -> Array:
        """Kinetic energy (...), rotors included."""
        return self.call("kinetic_energy", q, v)

    def potential_energy(self, q: Any) -> Array:
        """Gravity's potential (...), zero with all mass at the world origin; joint springs: ``elastic_energy``."""
        return self.call("potential_energy", q)

    def elastic_energy(self, q: Any) -> Array:
        """Energy (...) stored in the joints' springs."""
        return self.call("elastic_energy", q)

    def momentum(self, q: Any, v: Any) -> Array:
        """[angular about the world origin; linear], (..., 6), world axes."""
        return self.call("momentum", q, v)

    def center_of_mass(self, q: Any) -> Array:
        """Centre of mass of all that moves, (..., 3), world axes."""
        return self.call("center_of_mass", q)

    def integrate(self, q: Any, v: Any, dt: Any) -> Array:
        """The configuration after moving with constant velocity v for dt (a number, or one a batch row)."""
        return self.call("integrate", q, v, np.asarray(dt, dtype=float)[..., None])

    def difference(self, q0: Any, q1: Any) -> Array:
        """The velocity (..., nv) that leads from q0 to q1 in a unit of time: the inverse of ``integrate``."""
        return self.call("difference", q0, q1)

    def generalized_forces(self, q: Any, wrenches: Any) -> Array:
        """tau (..., nv) of wrenches (..., nb, 6), world axes at each body's centre of mass: Liu & Jain 6.2."""
        return self.call("generalized_forces", q, self._wrenches(wrenches))

    def cartesian_forces(self, q: Any, tau: Any) -> Array:
        """Wrenches (..., nb, 6), world axes at each body's centre of mass, that act as tau and nothing else.

        They come in pairs, on a joint's child and against its parent; a pure couple where the joint allows it.
        StateError where some tau cannot be reached, as at a gimbal lock. Liu & Jain 6.2.
        """
        return self.call("cartesian_forces", q, tau)

    def parameter_derivative(self, function: str, parameter: str, *arguments: Any) -> Array:
        """d function(*arguments) / d parameter, shaped like the function's result, from the same graph.

        function: a name of the contract, as "forward_dynamics" with arguments q, v, tau.
        """
        return self.call(f"{function}/{parameter}", *arguments)

    def operation_count(self, function: str = "forward_dynamics") -> OperationCount:
        """Operations that one evaluation executes: .add .mul .div .sqrt .trig (.neg, .other, .total)."""
        return self.program(function).operation_count()

    def equations(self, function: str = "forward_dynamics", nested: bool = True) -> Any:
        """The function as SymPy: a Matrix of its outputs in symbols named like the coordinates.

        nested=False gives (assignments, outputs) as sympy.cse does, one symbol an operation, for systems whose nested
        expressions would be too long (ModelError says so).
        """
        from recursive_dyn.codegen.equations import equations

        return equations(self, function, nested)

    def export_c(self, folder: Any) -> Any:
        """Write every function of the contract as C99 with a header into ``folder``; returns its path."""
        from recursive_dyn.codegen.c import export

        return export(self, folder)

    def program(self, function: str) -> Program:
        """The straight-line program of a function."""
        with self._lock:
            if function not in self._programs:
                with _no_garbage_collection():
                    self._programs[function] = build_program(self.model, function, self.method)
            return self._programs[function]

    def kernel(self, function: str, width: int = 1) -> Kernel:
        """Machine code of a function for ``width`` scenes at once, compiled or taken from the cache."""
        with self._lock:
            if (function, width) not in self._kernels:
                find(self.model, function)
                key = f"{self.model.key} {function} {self.method if depends_on_method(function) else ''}"
                self._kernels[function, width] = Kernel(
                    key, lambda: self.program(function), width, self._report(function), self._stepper(function)
                )
            return self._kernels[function, width]

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
        return makers.get(function)

    def call(self, function: str, *arguments: Any) -> Array:
        """Evaluate a function of the list in ``recursive_dyn.functions``; leading axes of the arguments broadcast."""
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
                arrays.append(self.parameters.values_array)
                result = self._single(function)(arrays)
                if len(shape) == 1:
                    return result
                return result.reshape(shape) if shape else result[0]
            lead = np.broadcast_shapes(*(a.shape[:-1] for a in arrays))
            return self.batch(function, arrays, lead).reshape(*lead, *shape)
        except NotFinite as problem:
            names = tuple(name for name, _ in segments)
            raise StateError(self._diagnose(function, names, arrays[: len(names)], problem)) from None

    def batch(self, function: str, arrays: list[Array], lead: tuple[int, ...], threads: int | None = None) -> Array:
        """Rows of all outputs, (count, ...), for arrays (..., size) that broadcast to the batch shape ``lead``."""
        count = int(np.prod(lead))
        with self._lock:
            if function not in self._batches:
                self._batches[function] = BatchCall(self.kernel(function, jit.vector_width()))
        rows = [
            np.ascontiguousarray(
                a.reshape(1, -1) if a.ndim == 1 else np.broadcast_to(a, (*lead, a.shape[-1])).reshape(count, -1)
            )
            for a in arrays
        ]
        results = self._batches[function]([*rows, self.parameters.values_array.reshape(1, -1)], count, threads)
        return results[0] if len(results) == 1 else np.concatenate(results, axis=-1)

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

    def _wrenches(self, value: Any) -> Array:
        count = len(self.model.bodies)
        wrenches = np.asarray(value, dtype=float)
        if wrenches.ndim < 2 or wrenches.shape[-2:] != (count, 6):
            raise StateError(
                f"wrenches have shape {wrenches.shape}, but this scene needs (..., {count}, 6), one a body"
            )
        return wrenches.reshape(*wrenches.shape[:-2], 6 * count)

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
        if name in ("q", "q_end") and index < len(self.coordinates):
            return f"coordinate '{self.coordinates[index]}'"
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
