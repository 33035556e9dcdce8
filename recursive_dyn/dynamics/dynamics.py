"""The compiled object a person calls: every method takes leading batch axes and compiles its program on first use."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from recursive_dyn.codegen.batch_rows import batch_shape
from recursive_dyn.codegen.evaluator import Array
from recursive_dyn.dynamics.conversions import Conversions
from recursive_dyn.dynamics.derivatives.differentiable import Differentiable
from recursive_dyn.dynamics.functions import neutral, random_configuration
from recursive_dyn.dynamics.hanging import UNKNOWN, Hanging
from recursive_dyn.dynamics.model_functions import ModelFunctions
from recursive_dyn.dynamics.notebook import counted, html_table
from recursive_dyn.dynamics.parameters import Parameters
from recursive_dyn.dynamics.projection import settled
from recursive_dyn.dynamics.singular_joints import singular
from recursive_dyn.dynamics.states_in_charts import StatesInCharts
from recursive_dyn.errors import StateError
from recursive_dyn.graph.program import OperationCount
from recursive_dyn.model.model import Model
from recursive_dyn.recursion.context import AUTO

_MET = 1e-6  # share of the forces that M a + bias may miss; where rounding made a, it misses all of some


class Dynamics(Differentiable, Conversions):
    """Equations of motion of one model.

    q is (..., nq), v, a and tau are (..., nv); leading axes of the arguments broadcast. Angles in rad, SI units, twists
    and wrenches angular first. A quaternion may have any length but zero. Errors: StateError names an argument of wrong
    shape or the coordinate that is not finite; ModelError an unknown body, function or parameter. hanging: how the
    scene's bodies hang, for simulations that go on with another scene.
    """

    def __init__(self, model: Model, method: str = AUTO, hanging: Hanging = UNKNOWN) -> None:
        charts = {str(link.chart): len(link.joint.charts) for link in model.charted}
        super().__init__(ModelFunctions(model, method), Parameters(model.parameters, charts))
        self.model, self.hanging = model, hanging
        self._charted, self._states = bool(charts), StatesInCharts()

    def __repr__(self) -> str:
        rows = f", {len(self.model.constraints)} constraint rows" if self.model.constraints else ""
        given = f", parameters {', '.join(self.parameters)}" if self.parameters else ""
        bodies = counted(self.model.nb, "body", "bodies")
        return f"<Dynamics: {bodies}, nq {self.nq}, nv {self.nv}{rows}{given}, method '{self.method}'>"

    def _repr_html_(self) -> str:
        limits = (self.limits, self.velocity_limits, self.effort_limits)
        rows = [(n, *a.tolist(), v, f) for n, a, v, f in zip(self.velocity_coordinates, *limits, strict=True)]
        return html_table(("velocity coordinate", "lowest", "highest", "fastest", "effort"), rows, repr(self)[1:-1])

    def share(self, other: Dynamics) -> None:
        """Use what was compiled for another one, whose functions are the same to the last name."""
        self._compiled = other._compiled

    @property
    def compiled_functions(self) -> tuple[tuple[str, int], ...]:
        """Functions that there is machine code of, each with for how many states at once."""
        return tuple(self._compiled.kernels)

    @property
    def method(self) -> str:
        """How equations of motion are found and solved, as ``Scene.compile`` was told."""
        return self.functions.method

    @property
    def settings(self) -> dict[str, Any]:
        """What it was compiled with besides its method, so that an edited scene is compiled alike."""
        return {}

    @property
    def tree(self) -> Model:
        """The model that says which bodies hang on which."""
        return self.model

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
        return self.model.body_names

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the configuration coordinates (nq,), "body.coordinate", in order of attachment."""
        return self.model.coordinate_names

    @property
    def velocity_coordinates(self) -> tuple[str, ...]:
        """Names of the velocity coordinates (nv,)."""
        return self.model.velocity_names

    @property
    def limits(self) -> Array:
        """Lower and upper limits of the velocity coordinates, (nv, 2), infinite where there are none; a new array."""
        return np.array([c.limits for c in self.model.coordinates], dtype=float).reshape(-1, 2)

    @property
    def velocity_limits(self) -> Array:
        """The most that the velocity coordinates are made for, (nv,), infinite where nothing was said; a new array."""
        return np.array([c.velocity for c in self.model.coordinates], dtype=float)

    @property
    def effort_limits(self) -> Array:
        """The most that motors give the velocity coordinates, (nv,), N or N m, infinite where nothing was said."""
        return np.array([c.effort for c in self.model.coordinates], dtype=float)

    def neutral(self) -> Array:
        """The configuration (nq,) of zeros and unit quaternions, moved into the limits and onto the constraints."""
        return neutral(self.model)

    def beginning(self) -> tuple[Array, Array]:
        """The state (nq,), (nv,) where simulations begin: ``neutral``, at rest."""
        return self.neutral(), np.zeros(self.nv)

    def random(self, rng: np.random.Generator | int | None = None) -> Array:
        """A random configuration (nq,): within the limits where there are both, else in [-pi, pi]; any rotations.

        rng: a generator, or the seed of one.
        """
        try:
            rng = np.random.default_rng(rng)
        except (TypeError, ValueError):
            raise StateError(f"random takes a NumPy generator or a seed, not {rng!r}") from None
        return random_configuration(self.model, rng)

    def forward_dynamics(self, q: Any, v: Any, tau: Any = None, external: Any = None) -> Array:
        """Accelerations (..., nv) under generalized forces tau and wrenches ``external`` (..., nb, 6), world axes at
        each body's origin. M a + bias = tau + sum J^T external; joint damping and springs are not included (see
        ``passive_forces``). Si & Guenter eq. 18-35, or Guenter & Lee eq. 14, by the method chosen."""
        tau = self._no_forces if tau is None else tau
        if external is not None:
            tau, applied = (
                self._sized("tau", tau, self.nv),
                self.call("external_forces", q, self._of_bodies("external", external, 6)),
            )
            batch_shape(["tau", "external"], [tau, applied])
            tau = tau + applied
        return self.call("forward_dynamics", q, v, tau)

    def inverse_dynamics(self, q: Any, v: Any, a: Any, external: Any = None) -> Array:
        """Generalized forces (..., nv) for accelerations a, less what ``external`` (..., nb, 6) supplies. Si & Guenter
        eq. 6-15."""
        tau = self.call("inverse_dynamics", q, v, a)
        if external is None:
            return tau
        applied = self.call("external_forces", q, self._of_bodies("external", external, 6))
        batch_shape(["tau", "external"], [tau, applied])
        return tau - applied

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
        """Forces (..., nv) of joint damping and springs, -damping v - stiffness (q - rest), and of the scene's force
        elements; simulations apply them."""
        return self.call("passive_forces", q, v)

    def drive_forces(self, q: Any, v: Any, tau: Any = None) -> Array:
        """Generalized forces (..., nv) that prescribed motion takes in the motion that a simulation would go on with,
        passive forces included, 0 elsewhere; at "time" the power, W, of all that scene.time moves."""
        return self.call("drive_forces", q, v, self._no_forces if tau is None else tau)

    @property
    def constraints(self) -> tuple[str, ...]:
        """Names of the rows of the scene's constraints."""
        return tuple(c.name for c in self.model.constraints)

    def multipliers(self, q: Any, v: Any, tau: Any = None) -> Array:
        """Lagrange multipliers (..., m): M a + bias = tau + C^T multipliers; N or N m where a row measures m or rad."""
        return self.call("multipliers", q, v, self._no_forces if tau is None else tau)

    def constraint_forces(self, q: Any, v: Any, tau: Any = None) -> Array:
        """Generalized forces (..., nv) of the constraints, C^T multipliers."""
        return np.einsum("...mi,...m->...i", self.constraint_jacobian(q), self.multipliers(q, v, tau))

    def constraint_wrenches(self, q: Any, v: Any, tau: Any = None) -> Array:
        """[moment; force] (..., nb, 6) of the constraints on the bodies, world axes at their origins.

        With constraints between coordinates only, as a gear's, which act as motors do, there is nothing of them here:
        ``constraint_forces`` less J^T of these. ``joint_wrenches`` with these as external are those of a loop's joints.
        """
        return self.call("constraint_wrenches", q, v, self._no_forces if tau is None else tau)

    def element_wrenches(self, q: Any, v: Any) -> Array:
        """The same (..., nb, 6) of the scene's force elements; those along coordinates act as motors do."""
        return self.call("element_wrenches", q, v)

    def constraint_jacobian(self, q: Any) -> Array:
        """C (..., m, nv): the rows' rates are C v."""
        return self.call("constraint_jacobian", q)

    def constraint_errors(self, q: Any, v: Any) -> tuple[Array, Array]:
        """(phi, C v), each (..., m): what should be zero; phi is 0 for rows between velocities."""
        return self.call("constraint_positions", q), self.call("constraint_velocities", q, v)

    def project(self, q: Any, v: Any = None) -> tuple[Array, Array]:
        """The nearest (q, v) that meets the constraints, by Newton's method in the metric of M.

        StateError naming the row that is missed most where none is found near.
        """
        q = self._finite("q", q, self.nq)
        v = self._no_forces if v is None else self._finite("v", v, self.nv)
        return settled(self, q.copy(), v.copy())

    def kinetic_energy(self, q: Any, v: Any) -> Array:
        """Kinetic energy (...), rotors included."""
        return self.call("kinetic_energy", q, v)

    def potential_energy(self, q: Any) -> Array:
        """Gravity's potential (...), zero with all mass at the world origin; joint springs: ``elastic_energy``."""
        return self.call("potential_energy", q)

    def elastic_energy(self, q: Any) -> Array:
        """Energy (...) stored in the joints' springs, and of the scene's force elements that have one."""
        return self.call("elastic_energy", q)

    def element_power(self, q: Any, v: Any) -> Array:
        """Power (...) of the scene's force elements that have no energy, W."""
        return self.call("element_power", q, v)

    def momentum(self, q: Any, v: Any) -> Array:
        """[angular about the world origin; linear], (..., 6), world axes."""
        return self.call("momentum", q, v)

    def center_of_mass(self, q: Any) -> Array:
        """Centre of mass of all that moves, (..., 3), world axes."""
        return self.call("center_of_mass", q)

    def integrate(self, q: Any, v: Any, dt: Any) -> Array:
        """The configuration (..., nq) after moving with constant velocity v for dt (a number, or one a batch row)."""
        return self.call("integrate", q, v, self._duration(dt))

    def difference(self, q0: Any, q1: Any) -> Array:
        """The velocity (..., nv) that leads from q0 to q1 in a unit of time: the inverse of ``integrate``."""
        return self.call("difference", q0, q1)

    def operation_count(self, function: str = "forward_dynamics") -> OperationCount:
        """Operations that one evaluation executes: .add .mul .div .sqrt .trig (.neg, .other, .total)."""
        return super().operation_count(function)

    def equations(self, function: str = "forward_dynamics", nested: bool = True) -> Any:
        """The function as SymPy: a Matrix of its outputs in symbols named like the coordinates.

        nested=False gives (assignments, outputs) as sympy.cse does, one symbol an operation, for systems whose nested
        expressions would be too long (ModelError says so).
        """
        from recursive_dyn.dynamics.sympy_equations import equations

        return equations(self.model, self.program(function), self.functions.signature(function).shape, nested)

    def export_c(self, folder: Any, name: str | None = None) -> Any:
        """Write every function of the contract as C99 with a header and a CMake file into ``folder``; returns its path.

        name: what every name in C begins with, and the name of header and library, for programs with several models.
        """
        from recursive_dyn.dynamics.c_export import export

        return export(self.functions, self.program, folder, name)

    def _doubtful(self, function: str, arrays: list[Array], results: Array) -> Array:
        """Accelerations that need the forces which were given are right, however large: M a + bias = tau."""
        if function != "forward_dynamics" or self.model.constraints:
            return super()._doubtful(function, arrays, results)
        q, v, tau = arrays
        try:
            bias, needed = self.bias(q, v), self.inverse_dynamics(q, v, results)
        except StateError:
            return super()._doubtful(function, arrays, results)
        scale = np.maximum(np.abs(tau), np.abs(bias)).max(axis=-1)
        met: Array = np.abs(needed - tau).max(axis=-1) <= _MET * scale
        return ~met

    def _singular(self, arrays: list[Array]) -> tuple[int, str] | None:
        return singular(self.model, arrays[0], self.parameters)

    @cached_property
    def _no_forces(self) -> Array:
        return np.zeros(self.nv)
