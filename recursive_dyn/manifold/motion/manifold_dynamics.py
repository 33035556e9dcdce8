"""Compiled equations of motion on a manifold: what a person calls."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from recursive_dyn.codegen.kernel import NotFinite
from recursive_dyn.errors import ModelError, StateError
from recursive_dyn.graph.expression import reachable
from recursive_dyn.graph.program import OperationCount
from recursive_dyn.manifold.formula.formula import ROTATION, SPHERE, Symbol
from recursive_dyn.manifold.motion.calls import Calls
from recursive_dyn.manifold.motion.lowering import Lowered
from recursive_dyn.manifold.motion.positions import position_from, position_of, rate_of, velocity_from
from recursive_dyn.manifold.motion.prescribed import carried
from recursive_dyn.manifold.motion.quantities import Quantities, by_symbol, real
from recursive_dyn.manifold.motion.segments import Place, Table
from recursive_dyn.manifold.motion.soundness import weakest_variable

if TYPE_CHECKING:
    from recursive_dyn.manifold.derivation.equations_of_motion import Equations

Array = np.ndarray
Forces = Mapping[Any, Any] | None

_LENGTH = 1e-6  # a unit vector whose length is off by more is a mistake


class ManifoldDynamics:
    """Equations of motion in numbers: M(q) a = f(q, v, forces), with nonholonomic constraints by multipliers.

    ``q`` (..., nq) holds 3 numbers of a unit vector, a quaternion x, y, z, w of a rotation, the numbers of a flat
    variable; ``v`` (..., nv) omega (q' = omega x q, world axes, omega . q = 0) of a unit vector, Omega
    (R' = R hat(Omega), body axes) of a rotation, x'. ``pack`` and ``unpack`` lead there and back.
    ``parameters[name] = ...`` gives the constants their numbers. ``forces`` maps names or symbols of the applied forces
    to arrays (..., *shape); those left out are zero. Every method takes leading batch axes, and compiles itself at its
    first call. Quaternions may have any length but zero; a part of omega along its unit vector does not matter. Copies
    share the machine code and have parameters of their own; pickles hold the equations and the parameters.

    Raises ModelError for equations that cannot be solved for the accelerations (see :class:`Lowered`), for unknown or
    missing names, and StateError for arrays of a wrong shape, unit vectors whose length is not 1 within 1e-6, and
    results that are not finite.
    """

    def __init__(self, equations: Equations) -> None:
        self._equations = equations
        self._lowered = Lowered(equations)
        self.calls = Calls(self._lowered)
        self.configuration: tuple[Symbol, ...] = tuple(equations.configuration)
        self.places = self._lowered.places
        self.nq, self.nv = self._lowered.nq, self._lowered.nv
        self._parameters = Quantities(self._lowered.parameters, "parameter")
        self._unforced = Quantities(self._lowered.forces, "force", 0.0)
        self._unit_vectors = [p for p in self.places if p.space == SPHERE]

    def __reduce__(self) -> Any:
        return _restored, (type(self), self._equations, self._parameters.numbers.copy())

    def __copy__(self) -> ManifoldDynamics:
        result = object.__new__(type(self))
        result.__dict__.update(self.__dict__, _parameters=self._parameters.copy())
        return result

    def __deepcopy__(self, memo: dict[int, Any]) -> ManifoldDynamics:
        return self.__copy__()

    @property
    def parameters(self) -> Quantities:
        """The constants' numbers by name or symbol; a mapping assigned replaces them all."""
        return self._parameters

    @parameters.setter
    def parameters(self, values: Mapping[Any, Any]) -> None:
        self._parameters.replace(values)

    @property
    def forces(self) -> tuple[str, ...]:
        """Names of the applied forces."""
        return tuple(self._lowered.forces.names)

    @property
    def force_table(self) -> Table:
        """Where each applied force lies in an array of all."""
        return self._lowered.forces

    @cached_property
    def driven(self) -> bool:
        """Whether constraints hold prescribed motions."""
        return any(n.op == "input" and n.args[0][0] == "forces" for n in reachable(list(self._lowered.violation)))

    def carried(self, forces: Array, s: float) -> Array:
        """Forces (n,) a time s after they were given: prescribed motions go on by their derivatives."""
        return carried(self._lowered.forces, forces, s).astype(float) if self._lowered.moves else forces

    @property
    def constraint_names(self) -> list[str]:
        """The constraint of each multiplier, as text."""
        return [str(c) for c in self._lowered.constraints for _ in range(int(np.prod(c.shape, dtype=int)))]

    @property
    def constrained(self) -> int:
        """Number of scalar nonholonomic constraints."""
        return len(self._lowered.jacobian)

    def mass_matrix(self, q: Any, v: Any = None, forces: Forces = None) -> Array:
        """M (..., nv, nv), symmetric positive definite: T = v . M v / 2 for L = T - U.

        The block of a unit vector holds s q q^T on top of what the row says, s half its trace, so that M is regular;
        velocities at right angles to q do not feel it. v (zero if not given) matters for energies that are not
        quadratic in velocities, ``forces`` where prescribed motions occur in M.
        """
        result = self._call("mass_matrix", forces, q=q, v=np.zeros(self.nv) if v is None else v)
        return result.reshape(*result.shape[:-1], self.nv, self.nv)

    def right_hand_side(self, q: Any, v: Any, forces: Forces = None) -> Array:
        """f (..., nv): applied, potential and gyroscopic forces; reactions of constraints are not in it."""
        return self._call("right_hand_side", forces, q=q, v=v)

    def accelerations(self, q: Any, v: Any, forces: Forces = None) -> Array:
        """v' (..., nv): omega', Omega', x''."""
        return self._call("accelerations", forces, q=q, v=v)

    def multipliers(self, q: Any, v: Any, forces: Forces = None) -> Array:
        """lambda (..., m), in the order of the constraints: the forces that do work on a constraint's violation."""
        return self._call("multipliers", forces, q=q, v=v)

    def energy(self, q: Any, v: Any, forces: Forces = None) -> Array:
        """Total energy (...): sum of dL/drate . rate - L."""
        return self._call("energy", forces, q=q, v=v)[..., 0]

    def violation(self, q: Any, v: Any, forces: Forces = None) -> Array:
        """Values (..., m) of the nonholonomic constraints; zero in a motion that meets them."""
        return self._call("violation", forces, q=q, v=v)

    def admitted(self, q: Any, v: Any, forces: Forces = None) -> Array:
        """The velocities (..., nv) nearest to v, in kinetic energy, that meet the constraints."""
        return self._call("admitted", forces, q=q, v=v)

    def pack(self, positions: Mapping[Any, Any], rates: Mapping[Any, Any] | None = None) -> tuple[Array, Array]:
        """(q (nq,), v (nv,)) from values by name or symbol.

        positions: a unit vector (3,), a rotation (3, 3) or quaternion x, y, z, w, a vector, a scalar, all variables;
        rates: q' at right angles to q, Omega, x'; zero where left out. Errors: :class:`Motion` has the same.
        """
        q, v = np.zeros(self.nq), np.zeros(self.nv)
        given = by_symbol("positions", positions, lambda key: self.place(key).symbol)
        moving = by_symbol("rates", rates, lambda key: self.place(key).symbol)
        for p in self.places:
            if p.symbol not in given:
                raise StateError(f"no position was given for '{p.symbol.base.name}'")
            q[p.q] = position_from(p, given[p.symbol])
            if p.symbol in moving:
                v[p.v] = velocity_from(p, q[p.q], rate=moving[p.symbol])
        return q, v

    def unpack(self, q: Any, v: Any = None) -> dict[Symbol, Any] | tuple[dict[Symbol, Any], dict[Symbol, Any]]:
        """Positions by symbol, (..., *shape), rotations as matrices; with v, (positions, rates q', Omega, x')."""
        q = self._sized("q", q, self.nq)
        positions = {p.symbol: position_of(p, q) for p in self.places}
        if v is None:
            return positions
        v = self._sized("v", v, self.nv)
        return positions, {p.symbol: rate_of(p, q, v) for p in self.places}

    def place(self, key: Any) -> Place:
        """Where a variable, given by symbol or name, lies in q and v; ModelError for one that is not there."""
        for p in self.places:
            if p.symbol == key or p.symbol.base.name == key:
                return p
        known = ", ".join(p.symbol.base.name for p in self.places)
        raise ModelError(f"'{key}' is not in the configuration {known}")

    def neutral(self) -> tuple[Array, Array]:
        """(q, v) at rest: unit vectors along -e3, rotations 1, flat variables 0."""
        q = np.zeros(self.nq)
        for p in self.places:
            if p.space in (SPHERE, ROTATION):
                q[p.q.stop - 1] = -1.0 if p.space == SPHERE else 1.0
        return q, np.zeros(self.nv)

    def operation_count(self, function: str) -> OperationCount:
        """Arithmetic of a function: "accelerations", "mass_matrix", "slope" (a quarter of a step), ..."""
        return self.calls.program(function).operation_count()

    def _call(self, function: str, forces: Forces, q: Any, v: Any) -> Array:
        """A function's output segment (..., size)."""
        applied = self._unforced.packed(forces)
        positions, velocities = self._sized("q", q, self.nq), self._sized("v", v, self.nv)
        parameters = self._parameters.complete
        try:
            result = self.calls(function, [positions, velocities, applied], parameters)
        except NotFinite as problem:
            if problem.stage == "output":
                self._refuse_lengths(positions)
            raise StateError(f"{function}: {self.diagnosis(positions, velocities, applied, problem.stage)}") from None
        self._refuse_lengths(positions)
        return result

    def _refuse_lengths(self, q: Array) -> None:
        """Unit vectors are taken as given; of another length they are a mistake."""
        for p in self._unit_vectors:
            own = q[..., p.q]
            squares = own @ own if own.ndim == 1 else np.einsum("...i,...i", own, own)
            if (abs(squares - 1.0) > 2.0 * _LENGTH).any():
                lengths = np.sqrt(np.ravel(squares))
                worst = lengths[np.abs(lengths - 1.0).argmax()]
                raise StateError(
                    f"the position of '{p.symbol.base.name}' is not of unit length but {worst:.9g}: divide by it,"
                    " or use pack()"
                )

    def _sized(self, name: str, value: Any, size: int) -> Array:
        array = value if type(value) is np.ndarray and value.dtype == np.float64 else real(value)
        if array is None:
            raise StateError(f"'{name}' must be an array of numbers of shape (..., {size})")
        if array.ndim == 0 or array.shape[-1] != size:
            raise StateError(f"'{name}' has shape {array.shape}, but these equations need (..., {size})")
        return array

    def diagnosis(self, q: Array, v: Array, forces: Array, stage: str = "output", timestep: float = 0.0) -> str:
        """Why a result, or a step of a length, is not finite: the variable at fault, and what to do."""
        for name, array in (("q", q), ("v", v)):
            bad = np.argwhere(~np.isfinite(array))
            if len(bad):
                place = next(p for p in self.places if bad[0][-1] < (p.q if name == "q" else p.v).stop)
                return f"'{name}' is not finite at '{place.symbol.base.name}'; pass finite numbers only"
        if stage == "input":
            return "a force is not finite; pass finite numbers only"
        single = q.ndim == v.ndim == forces.ndim == 1
        if single:
            for p in self.places:
                if p.space == ROTATION and not 0.5 < np.linalg.norm(q[p.q]) < 2.0:
                    return f"the position of '{p.symbol.base.name}' is not of unit length; use place() or pack()"
            weakest = self._weakest(q, v, forces)
            if weakest is not None:
                return (
                    f"the mass matrix is not positive definite: '{weakest.base.name}' has no inertia, or a negative"
                    " one, at this state; give masses and inertias that are positive"
                )
        name, size = self._largest(q, v, forces, timestep)
        singular = "" if single else ", or a mass matrix of the batch is singular"
        remedy = "; take a smaller timestep" if timestep else ""
        return f"the result is not finite: a number overflowed{singular}; '{name}' is at {size:.3g}{remedy}"

    def _largest(self, q: Array, v: Array, forces: Array, timestep: float) -> tuple[str, float]:
        """The variable whose numbers, of a batch or at the end of a step, are the largest, and how large."""
        velocities = np.abs(v)
        if timestep:
            try:
                a = self.calls("accelerations", [q, v, forces], self._parameters.complete)
                velocities = velocities + timestep * np.abs(a)
            except NotFinite:
                pass
        sizes = {p.symbol.base.name: max(np.abs(q[..., p.q]).max(), velocities[..., p.v].max()) for p in self.places}
        name = max(sizes, key=lambda key: sizes[key])
        return name, float(sizes[name])

    def _weakest(self, q: Array, v: Array, forces: Array) -> Symbol | None:
        try:
            M = self.calls("mass_matrix", [q, v, forces], self.parameters.complete)
        except NotFinite:
            return None
        return weakest_variable(self.places, M.reshape(self.nv, self.nv), definite=True)


def _restored(kind: type[ManifoldDynamics], equations: Equations, parameters: Array) -> ManifoldDynamics:
    """Of a pickle."""
    result = kind(equations)
    result.parameters.numbers[:] = parameters
    return result
