"""What a person calls for derivatives of a model's functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from recursive_dyn.codegen.batch_rows import batch_shape
from recursive_dyn.codegen.evaluator import Array
from recursive_dyn.dynamics.derivatives.composed import of_point, with_external
from recursive_dyn.dynamics.derivatives.jacobians import Jacobians
from recursive_dyn.dynamics.derivatives.linearization import of_rates, of_step
from recursive_dyn.dynamics.derivatives.step_derivatives import StepDerivatives
from recursive_dyn.dynamics.model_evaluator import ModelEvaluator
from recursive_dyn.errors import ModelError, StateError
from recursive_dyn.integrators import registry
from recursive_dyn.recursion.context import OF_BODIES

_EXTERNAL = ("forward_dynamics", "inverse_dynamics")  # what may have wrenches on bodies as a fourth argument
_FORCED = ("forward_dynamics", "multipliers")  # what needs no tau


class Differentiable(ModelEvaluator):
    """Functions of a model with their derivatives."""

    def derivatives(
        self, function: str, *arguments: Any, parameters: bool = False, integrator: str = registry.DEFAULT
    ) -> tuple[Array, ...]:
        """The function's derivatives by each of its arguments, a tuple of arrays (..., outputs, nv or size).

        function: a name of ``docs/functions.md`` with its arguments, "jacobian" (q, body, point) or "step" (q, v, tau,
        dt), a timestep of a simulation that meets nothing, with its ``integrator``. A configuration's are in its
        tangent space: column i is the rate of the outputs as q moves along the i-th velocity alone, d/ds
        f(integrate(q, e_i, s)) at s = 0, and outputs that are a configuration (of "integrate", "step") are velocities
        too. An argument of several axes counts as its numbers, row after row; forward and inverse dynamics may have
        ``external`` behind the others. parameters: True for one more array, the derivative by all parameters of the
        scene, in their order. Where the function has a corner it is the derivative of the piece that is evaluated.
        StateError names the function and the argument.
        """
        trees = self.functions.trees
        if trees is not None and function in trees.functions and not parameters:
            found = trees.single(self, function, arguments, self._values.values_array)
            if found and (not trees.doubtful or Jacobians(self).sound(function, arguments[0], found)):
                return found
        made = Jacobians(self)
        if function == "jacobian":
            return tuple(of_point(self, made, *self._point(arguments), parameters))
        if function in _EXTERNAL and len(arguments) == 4:
            return tuple(with_external(self, made, function, *self._external(function, arguments), parameters))
        arrays = self._arguments(function, arguments)
        if function == "step":
            return tuple(StepDerivatives(self, arrays, parameters).of(integrator))
        return tuple(made.all(function, arrays, parameters))

    def linearize(
        self, q: Any, v: Any, tau: Any = None, timestep: Any = None, integrator: str = registry.DEFAULT
    ) -> tuple[Array, Array]:
        """(A (..., 2 nv, 2 nv), B (..., 2 nv, nv)): how deviations x = [dq, dv] from (q, v) and u = dtau go on.

        x-dot = A x + B u; with a timestep in s, x' = A x + B u after a simulation's timestep that meets nothing. dq is
        in the tangent space, log(q^-1 q'), of the moving q. Damping and springs of the joints act, as in simulations,
        and constraints hold. StateError names the argument that does not fit.
        """
        tau = np.zeros(self.model.nv) if tau is None else tau
        if timestep is None:
            return of_rates(self, *self._arguments("forward_dynamics", (q, v, tau)))
        return of_step(self, self._arguments("step", (q, v, tau, timestep)), integrator)

    def parameter_derivative(self, function: str, parameter: str | Sequence[str] = (), *arguments: Any) -> Array:
        """d function(*arguments) / d parameter, shaped like the function's result, from the same graph.

        function: a name of the contract, as "forward_dynamics" with arguments q, v, tau (zero if left out). parameter:
        a scene parameter's name, or several: one more axis at the end, in their order. ModelError for an unknown one,
        StateError naming the arguments where some are missing.
        """
        several = isinstance(parameter, list | tuple)
        names = [*parameter] if several else [parameter]
        if not names or not all(isinstance(name, str) for name in names):
            raise ModelError(
                f"parameter_derivative('{function}', parameter, ...) is by the name of a scene parameter, or by several"
                f" in a list; the scene declares {', '.join(self.parameters) or 'none'}"
            )
        known, given = self.functions.signature(function).inputs, self._with_forces(function, arguments)
        if len(given) != len(known):
            raise StateError(
                f"parameter_derivative('{function}', {parameter!r}, ...) is at {', '.join(name for name, _ in known)},"
                f" but {len(arguments)} arguments were given"
            )
        found = [self.call(f"{function}/{name}", *given) for name in names]
        return np.stack(found, axis=-1) if several else found[0]

    def _arguments(self, function: str, arguments: Sequence[Any]) -> list[Array]:
        """What a function is differentiated at; StateError names it and the argument that does not fit."""
        known = self.functions.signature(function).inputs
        return self._checked(function, known, self._with_forces(function, arguments))

    def _external(self, function: str, arguments: Sequence[Any]) -> tuple[list[Array], Array]:
        """(arguments of the function alone, wrenches (..., 6 nb))."""
        *known, last = (*self.functions.signature(function).inputs, ("wrenches", 6 * self.model.nb))
        *arrays, wrenches = self._checked(function, (*known, last), self._with_forces(function, arguments))
        return arrays, wrenches

    def _with_forces(self, function: str, arguments: Sequence[Any]) -> Sequence[Any]:
        """Zeros for a tau that is left out, or None, as the methods have it."""
        if function not in _FORCED or not (len(arguments) == 2 or (len(arguments) > 2 and arguments[2] is None)):
            return arguments
        return *arguments[:2], np.zeros(self.model.nv), *arguments[3:]

    def _point(self, arguments: Sequence[Any]) -> tuple[Array, int, Array]:
        """(q, number of the body, point)."""
        if not 2 <= len(arguments) <= 3:
            raise StateError(
                f"derivatives of jacobian are at q, body, point, but {len(arguments)} arguments were given"
            )
        q, body, *point = arguments
        given = [q, *point] if point else [q, np.zeros(3)]
        q, place = self._checked("jacobian", (("q", self.model.nq), ("point", 3)), given)
        return q, self.model.body_index(body), place

    def _checked(self, function: str, known: Sequence[tuple[str, int]], arguments: Sequence[Any]) -> list[Array]:
        names = [name for name, _ in known]
        if len(arguments) != len(known):
            said = ", ".join(names)
            raise StateError(f"derivatives of {function} are at {said}, but {len(arguments)} arguments were given")
        try:
            arrays = [self._argument(name, x, size) for (name, size), x in zip(known, arguments, strict=True)]
            batch_shape(names, arrays)
        except StateError as error:
            raise StateError(f"derivatives of {function}: {error}") from None
        return arrays

    def _argument(self, name: str, value: Any, size: int) -> Array:
        if name in OF_BODIES:
            value = self._of_bodies(name, value, OF_BODIES[name])
        return self._finite(name, self._duration(value) if name == "dt" else value, size)
