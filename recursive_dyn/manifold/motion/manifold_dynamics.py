"""Compiled equations of motion on a manifold: what a person calls."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from typing import Any

import numpy as np

from recursive_dyn.codegen.evaluator import Evaluator
from recursive_dyn.codegen.kernel import NotFinite
from recursive_dyn.errors import ModelError, StateError
from recursive_dyn.manifold.formula.evaluation import Evaluation
from recursive_dyn.manifold.formula.symbol import Symbol
from recursive_dyn.manifold.motion.equation_functions import EquationFunctions
from recursive_dyn.manifold.motion.lowering import input_names
from recursive_dyn.manifold.motion.quantities import Quantities, by_symbol
from recursive_dyn.manifold.motion.shown_bodies import ShownBody, shown_bodies
from recursive_dyn.manifold.motion.soundness import weakest_variable
from recursive_dyn.manifold.motion.variable import Variable
from recursive_dyn.manifold.writing.equation import EquationSystem

Array = np.ndarray
Forces = Mapping[Any, Any] | None

_LENGTH = 1e-6  # a unit vector whose length is off by more is a mistake


class ManifoldDynamics(Evaluator):
    """Equations of motion in numbers: M(q) a = f(q, v, forces), with nonholonomic constraints by multipliers.

    ``q`` (..., nq) holds 3 numbers of a unit vector, a quaternion x, y, z, w of a rotation, the numbers of a flat
    variable; ``v`` (..., nv) omega (q' = omega x q, world axes, omega . q = 0) of a unit vector, Omega
    (R' = R hat(Omega), body axes) of a rotation, x'. ``pack`` and ``unpack`` lead there and back.
    ``parameters[name] = ...`` gives the constants their numbers. ``forces`` maps names or symbols of the applied forces
    to arrays (..., *shape); those left out are zero. Every method takes leading batch axes, and compiles itself at its
    first call. Quaternions may have any length but zero; a part of omega along its unit vector does not matter. Copies,
    and motions, share the machine code and have parameters of their own; pickles hold the equations and the parameters.

    Raises ModelError for equations that cannot be solved for the accelerations (see :class:`Lowered`), for unknown or
    missing names, and StateError for arrays of a wrong shape, unit vectors whose length is not 1 within 1e-6, and
    results that are not finite.
    """

    functions: EquationFunctions
    _values: Quantities

    def __init__(self, equations: EquationSystem) -> None:
        functions = EquationFunctions(equations)
        super().__init__(functions, Quantities(functions.lowered.parameters, "parameter"))
        self.configuration: tuple[Symbol, ...] = tuple(equations.configuration)
        self.variables = functions.lowered.variables
        self.nq, self.nv = functions.lowered.nq, functions.lowered.nv
        self._directions = [p for p in self.variables if p.space.dimension < p.space.tangent_size]
        self._unforced = self.no_forces()
        self._shown: tuple[ShownBody, ...] = ()

    @property
    def parameters(self) -> Quantities:
        """The constants' numbers by name or symbol; a mapping assigned replaces them all."""
        return self._values

    @parameters.setter
    def parameters(self, values: Mapping[Any, Any]) -> None:
        self._values.replace(values)

    @property
    def forces(self) -> tuple[str, ...]:
        """Names of the applied forces."""
        return tuple(self.functions.lowered.forces.names)

    def no_forces(self) -> Quantities:
        """Numbers of the applied forces, zero; prescribed unit vectors and rotations have none yet."""
        return Quantities(self.functions.lowered.forces, "force", 0.0)

    @cached_property
    def driven(self) -> bool:
        """Whether constraints hold prescribed motions."""
        return "forces" in input_names(self.functions.lowered.violation)

    def carried(self, forces: Array, s: float) -> Array:
        """Forces (n,) a time s after they were given: prescribed motions go on by their derivatives."""
        lowered = self.functions.lowered
        return lowered.forces.carried(forces, s).astype(float) if lowered.moves else forces

    @property
    def constraint_names(self) -> list[str]:
        """The constraint of each multiplier, as text."""
        return self.functions.lowered.constraint_names

    @property
    def constrained(self) -> int:
        """Number of scalar nonholonomic constraints."""
        return len(self.functions.lowered.jacobian)

    def mass_matrix(self, q: Any, v: Any = None, forces: Forces = None) -> Array:
        """M (..., nv, nv), symmetric positive definite: T = v . M v / 2 for L = T - U.

        The block of a unit vector holds s q q^T on top of what the row says, s half its trace, so that M is regular;
        velocities at right angles to q do not feel it. v (zero if not given) matters for energies that are not
        quadratic in velocities, ``forces`` where prescribed motions occur in M.
        """
        return self._of_state("mass_matrix", q, np.zeros(self.nv) if v is None else v, forces)

    def right_hand_side(self, q: Any, v: Any, forces: Forces = None) -> Array:
        """f (..., nv): applied, potential and gyroscopic forces; reactions of constraints are not in it."""
        return self._of_state("right_hand_side", q, v, forces)

    def accelerations(self, q: Any, v: Any, forces: Forces = None) -> Array:
        """v' (..., nv): omega', Omega', x''."""
        return self._of_state("accelerations", q, v, forces)

    def multipliers(self, q: Any, v: Any, forces: Forces = None) -> Array:
        """lambda (..., m), in the order of the constraints: the forces that do work on a constraint's violation."""
        return self._of_state("multipliers", q, v, forces)

    def energy(self, q: Any, v: Any, forces: Forces = None) -> Array:
        """Total energy (...): sum of dL/drate . rate - L."""
        return self._of_state("energy", q, v, forces)

    def violation(self, q: Any, v: Any, forces: Forces = None) -> Array:
        """Values (..., m) of the nonholonomic constraints; zero in a motion that meets them."""
        return self._of_state("violation", q, v, forces)

    def admitted(self, q: Any, v: Any, forces: Forces = None) -> Array:
        """The velocities (..., nv) nearest to v, in kinetic energy, that meet the constraints."""
        return self._of_state("admitted", q, v, forces)

    def pack(self, positions: Mapping[Any, Any], rates: Mapping[Any, Any] | None = None) -> tuple[Array, Array]:
        """(q (nq,), v (nv,)) from values by name or symbol.

        positions: a unit vector (3,), a rotation (3, 3) or quaternion x, y, z, w, a vector, a scalar, all variables;
        rates: q' at right angles to q, Omega, x'; zero where left out. Errors: :class:`Motion` has the same.
        """
        q, v = np.zeros(self.nq), np.zeros(self.nv)
        given = by_symbol("positions", positions, lambda key: self.variable(key).symbol)
        moving = by_symbol("rates", rates, lambda key: self.variable(key).symbol)
        for p in self.variables:
            if p.symbol not in given:
                raise StateError(f"no position was given for '{p.name}'")
            q[p.q] = p.read(given[p.symbol])
            if p.symbol in moving:
                v[p.v] = p.read_rate(q, moving[p.symbol])
        return q, v

    def unpack(self, q: Any, v: Any = None) -> dict[Symbol, Any] | tuple[dict[Symbol, Any], dict[Symbol, Any]]:
        """Positions by symbol, (..., *shape), rotations as matrices; with v, (positions, rates q', Omega, x')."""
        q = self._sized("q", q, self.nq)
        positions = {p.symbol: np.array(p.value(q)) for p in self.variables}
        if v is None:
            return positions
        v = self._sized("v", v, self.nv)
        return positions, {p.symbol: np.array(p.rate(q, v)) for p in self.variables}

    def variable(self, key: Any) -> Variable:
        """A variable by symbol or name, and where it lies in q and v; ModelError for one that is not there."""
        for p in self.variables:
            if key in (p.symbol, p.name):
                return p
        raise ModelError(f"'{key}' is not in the configuration {', '.join(p.name for p in self.variables)}")

    def neutral(self) -> tuple[Array, Array]:
        """(q, v) at rest: unit vectors along -e3, rotations 1, flat variables 0."""
        return np.concatenate([p.neutral for p in self.variables]), np.zeros(self.nv)

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies that show the motion."""
        return tuple(body.name for body in self._shown)

    def show(self, bodies: Mapping[str, Any]) -> None:
        """What shows the motion, by name: a position, or (position, turn); see :class:`Motion`."""
        lowered = self.functions.lowered
        at_rest = self._symbols(*self.neutral(), np.zeros(lowered.forces.size))
        self._shown = shown_bodies(bodies, at_rest)

    def frames(self, q: Array, v: Array, forces: Array) -> tuple[Array, Array]:
        """Poses (nb, 4, 4) and twists (nb, 6) of the bodies, world axes at their origins; forces as in an array."""
        value = Evaluation(self._symbols(q, v, forces))
        frames = [body.frame(value) for body in self._shown]
        poses, twists = (np.array([frame[i] for frame in frames]) for i in range(2))
        return poses.reshape(-1, 4, 4), twists.reshape(-1, 6)

    def _symbols(self, q: Array, v: Array, forces: Array) -> dict[Symbol, Any]:
        """Values by symbol of positions, rates, constants and forces."""
        values: dict[Symbol, Any] = {}
        for p in self.variables:
            values |= {p.symbol: p.value(q), p.symbol.velocity: p.rate(q, v)}
        lowered = self.functions.lowered
        return values | lowered.parameters.values(self._values.numbers) | lowered.forces.values(forces)

    def _of_state(self, function: str, q: Any, v: Any, forces: Forces) -> Array:
        """A function of a state, or a batch of them, under forces by name."""
        self._values.refuse_missing()
        result = self.call(function, q, v, self._unforced.packed(forces))
        self._refuse_lengths(self._sized("q", q, self.nq))
        return result

    def _refuse_lengths(self, q: Array) -> None:
        """Unit vectors are taken as given; of another length they are a mistake."""
        for p in self._directions:
            for normal in p.space.normals(q[..., p.q]):
                squares = normal @ normal if normal.ndim == 1 else np.einsum("...i,...i", normal, normal)
                if (abs(squares - 1.0) > 2.0 * _LENGTH).any():
                    lengths = np.sqrt(np.ravel(squares))
                    worst = lengths[np.abs(lengths - 1.0).argmax()]
                    raise StateError(
                        f"the position of '{p.name}' is not of unit length but {worst:.9g}: divide by it, or use pack()"
                    )

    def _why(self, function: str, arrays: list[Array], problem: NotFinite) -> str:
        q, v, forces = arrays
        self._refuse_lengths(q)
        return f"{function}: {self.diagnosis(q, v, forces)}"

    def diagnosis(self, q: Array, v: Array, forces: Array, timestep: float = 0.0) -> str:
        """Why a result, or a step of a length, is not finite: the variable at fault, and what to do."""
        single = q.ndim == v.ndim == forces.ndim == 1
        if single:
            for p in self.variables:
                if not p.errors(q, v)[0] < 0.5:
                    return f"the position of '{p.name}' is not of unit length; use place() or pack()"
            M = np.eye(self.nv)
            with suppress(NotFinite):
                M = self._at("mass_matrix", q, v, forces).reshape(self.nv, self.nv)
            weakest = weakest_variable([(p, p.v) for p in self.variables], M, definite=True)
            if weakest is not None:
                return (
                    f"the mass matrix is not positive definite: '{weakest.name}' has no inertia, or a negative one, at"
                    " this state; give masses and inertias that are positive"
                )
        name, size = self._largest(q, v, forces, timestep)
        singular = "" if single else ", or a mass matrix of the batch is singular"
        remedy = "; take a smaller timestep" if timestep else ""
        return f"the result is not finite: a number overflowed{singular}; '{name}' is at {size:.3g}{remedy}"

    def _largest(self, q: Array, v: Array, forces: Array, timestep: float) -> tuple[str, float]:
        """The variable whose numbers, of a batch or at the end of a step, are the largest, and how large."""
        velocities = np.abs(v)
        if timestep:
            with suppress(NotFinite):
                velocities = velocities + timestep * np.abs(self._at("accelerations", q, v, forces))
        sizes = {p.name: max(np.abs(q[..., p.q]).max(), velocities[..., p.v].max()) for p in self.variables}
        name = max(sizes, key=lambda key: sizes[key])
        return name, float(sizes[name])

    def _at(self, function: str, q: Array, v: Array, forces: Array) -> Array:
        return self._single(function)([q, v, forces, self._values.numbers])
