"""A motion on the manifold, step by step."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np

from recursive_dyn.codegen import drivers
from recursive_dyn.errors import StateError
from recursive_dyn.integrators.compiled_loop import CompiledLoop
from recursive_dyn.manifold.formula.formula import ROTATION, SPHERE
from recursive_dyn.manifold.motion.manifold_dynamics import ManifoldDynamics
from recursive_dyn.manifold.motion.positions import (
    acceleration_of,
    matrix,
    numbers,
    position_from,
    position_of,
    rate_of,
    velocity_from,
)
from recursive_dyn.manifold.motion.quantities import Quantities

_INCONSISTENT = 1e-6  # a start whose constraints are violated by more, relative to its velocities, is a mistake
_HIGHER_ORDER = 0.05  # (w h)^2 / 12 of an oscillation, at whose turns p'' is as large before a step as after it


class Motion:
    """Motion of compiled equations from a state, by a Runge-Kutta-Munthe-Kaas method of order 4 (see ``lie``).

    q (nq,), v (nv,): the state, plain arrays as in :class:`ManifoldDynamics`; time and timestep in s. It starts at
    rest, unit vectors along -e3, rotations 1, flat variables 0. ``place`` sets a variable; ``motion[q]``,
    ``motion.rate(q)``, ``motion.acceleration(q)`` read one. ``forces[name] = ...`` act until changed; a prescribed
    motion p is a force as well, by the numbers of p, p', p'' that the equations hold. Between two assignments, and
    within a step, it goes on by them: p'' stands still, p' and p follow it, and are read so from ``forces`` after a
    step (see ``prescribed``). All other forces stand still.

    The configuration stays on the manifold by construction. Once a step, rounding is taken away: unit vectors and
    quaternions are divided by their length, omega is made orthogonal to its unit vector, and velocities are brought
    back onto the nonholonomic constraints, along their reactions: none changes a step by more than its error, O(h^5),
    as long as prescribed motions are those of a constant p''. Where p'' is given anew every step, velocities follow p'
    to O(h^2); a jump of p', or a p'' that does not fit it, is refused.
    A step whose result is not finite raises StateError naming the variable and leaves the last good state. Copies and
    pickles have a state and forces of their own; copy.copy shares the dynamics, as two motions of it do.
    """

    def __init__(self, dynamics: ManifoldDynamics, timestep: float = 1e-3) -> None:
        if not isinstance(dynamics, ManifoldDynamics):
            raise StateError(f"a motion runs compiled equations, equations.compile(), not {type(dynamics).__name__}")
        self.dynamics = dynamics
        self._timestep = 0.0
        self.timestep = timestep
        self.time = 0.0
        self._q, self._v = dynamics.neutral()
        self._forces = Quantities(dynamics.force_table, "force", 0.0)
        self._run: _Run | None = None
        self._known = b""
        self._carried = self._forces.numbers.copy()  # the forces at the end of the last step

    def __getstate__(self) -> dict[str, Any]:
        own = {"_q": self._q.copy(), "_v": self._v.copy(), "_forces": self._forces.copy(), "_run": None}
        return self.__dict__ | own

    @property
    def timestep(self) -> float:
        """Length of a step, s."""
        return self._timestep

    @timestep.setter
    def timestep(self, value: float) -> None:
        if not isinstance(value, Real) or isinstance(value, bool) or not 0.0 < value < np.inf:
            raise StateError(f"timestep must be a positive number of seconds, not {value!r}")
        self._timestep = float(value)

    @property
    def q(self) -> np.ndarray:
        """Configuration (nq,)."""
        return self._q

    @q.setter
    def q(self, value: Any) -> None:
        self._q[:] = numbers("'q'", value, (self.dynamics.nq,))

    @property
    def v(self) -> np.ndarray:
        """Velocities (nv,)."""
        return self._v

    @v.setter
    def v(self, value: Any) -> None:
        self._v[:] = numbers("'v'", value, (self.dynamics.nv,))

    @property
    def forces(self) -> Quantities:
        """Applied forces by name or symbol, zero at first; they act until changed."""
        return self._forces

    @forces.setter
    def forces(self, values: Mapping[Any, Any]) -> None:
        self._forces.replace(values)

    @property
    def parameters(self) -> Quantities:
        """The dynamics' constants; a mapping assigned replaces them all."""
        return self.dynamics.parameters

    @parameters.setter
    def parameters(self, values: Mapping[Any, Any]) -> None:
        self.dynamics.parameters = values

    def place(self, symbol: Any, position: Any, rate: Any = None, *, angular: Any = None) -> None:
        """Set a variable, by symbol or name; without ``rate`` or ``angular`` it is at rest.

        position: a unit vector (3,), a rotation (3, 3) or quaternion x, y, z, w, a vector, a scalar. rate: q' at right
        angles to the unit vector, Omega (body axes), x'; angular: omega (world axes) of a unit vector, Omega. What is
        within 1e-9 of the manifold is put on it; StateError for anything else, naming the variable.
        """
        p = self.dynamics.place(symbol)
        q = position_from(p, position)
        moving = rate is not None or angular is not None
        v = velocity_from(p, q, rate, angular) if moving else np.zeros(p.v.stop - p.v.start)
        self._q[p.q], self._v[p.v] = q, v

    def __getitem__(self, symbol: Any) -> Any:
        return _plain(position_of(self.dynamics.place(symbol), self._q))

    def rate(self, symbol: Any) -> Any:
        """q' of a unit vector, Omega (body axes) of a rotation, x' of a flat variable."""
        return _plain(rate_of(self.dynamics.place(symbol), self._q, self._v))

    def acceleration(self, symbol: Any) -> Any:
        """q'' of a unit vector, Omega' of a rotation, x'' of a flat variable, at the present state and forces."""
        a = self.dynamics.accelerations(self._q, self._v, self._applied())
        return _plain(acceleration_of(self.dynamics.place(symbol), self._q, self._v, a))

    @property
    def energy(self) -> float:
        """Total energy of the state."""
        return float(self.dynamics.energy(self._q, self._v, self._applied()))

    @property
    def multipliers(self) -> np.ndarray:
        """Multipliers (m,) of the constraints at the present state and forces."""
        return self.dynamics.multipliers(self._q, self._v, self._applied())

    @property
    def drift(self) -> float:
        """Largest violation of a constraint, each in its own unit: | |q| - 1 | of unit vectors and quaternions,
        |q . omega|, |R^T R - 1|, and the values of the nonholonomic constraints."""
        found = [0.0]
        for p in self.dynamics.places:
            own = self._q[p.q]
            if p.space in (SPHERE, ROTATION):
                found.append(abs(float(np.linalg.norm(own)) - 1.0))
            if p.space == SPHERE:
                found.append(abs(float(own @ self._v[p.v])))
            elif p.space == ROTATION:
                R = matrix(own)
                found.append(float(np.abs(R.T @ R - np.eye(3)).max()))
        if self.dynamics.constrained:
            found += np.abs(self.dynamics.violation(self._q, self._v, self._applied())).tolist()
        return max(found)

    def admit(self) -> None:
        """Change the velocities to the nearest, in kinetic energy, that meet the nonholonomic constraints.

        StateError, and no change, where constraints contradict each other.
        """
        v = self.dynamics.admitted(self._q, self._v, self._applied())
        violated = self._violated(v)
        if violated is not None:
            raise StateError(
                f"no velocities meet the constraint {violated[0]} and the others at this state: they contradict each"
                " other, change what they prescribe"
            )
        self._v[:] = v

    def step(self, count: int = 1) -> None:
        """Advance by ``count`` timesteps, in one compiled loop."""
        count = whole(count)
        if not count:
            return
        forces, parameters = self._forces.complete, self.dynamics.parameters.complete
        self._refuse_bad_start()
        if self._run is None:
            self._run = _Run(self.dynamics)
        done, code = self._run(self._q, self._v, forces, self._timestep, parameters, count)
        self.time += done * self._timestep
        self._forces.numbers[:] = self.dynamics.carried(forces, done * self._timestep)
        self._carried = self._forces.numbers.copy()
        self._known = self._state()
        if code != drivers.OK:
            stage = "input" if code == drivers.BAD_INPUT else "output"
            raise StateError(f"motion at t = {self.time:.6g} s: {self._diagnosis(stage)}. The last good state is kept")

    def _state(self) -> bytes:
        return self._q.tobytes() + self._v.tobytes() + self.dynamics.parameters.numbers.tobytes()

    def _refuse_bad_start(self) -> None:
        """A state or parameters written by hand are checked once: unit lengths, tangent velocities, constraints."""
        known, carried = self._known == self._state(), self._forces.numbers.tobytes() == self._carried.tobytes()
        if known:
            if not carried and self.dynamics.driven:
                self._refuse_violation(self._change_of_bias() * self._timestep)
            return
        if not (np.isfinite(self._q).all() and np.isfinite(self._v).all()):
            raise StateError(f"motion at t = {self.time:.6g} s: {self._diagnosis('input')}")
        for p in self.dynamics.places:
            name, own, v = p.symbol.base.name, self._q[p.q], self._v[p.v]
            if p.space in (SPHERE, ROTATION) and abs(float(np.linalg.norm(own)) - 1.0) > _INCONSISTENT:
                raise StateError(f"the position of '{name}' in q is not of unit length: divide by it, or use place()")
            if p.space == SPHERE and abs(float(own @ v)) > _INCONSISTENT * max(1.0, float(np.linalg.norm(v))):
                raise StateError(
                    f"omega of '{name}' in v has a part along the unit vector: take it away, or use place()"
                )
        self._refuse_violation()

    def _change_of_bias(self) -> np.ndarray:
        """How much the forces given since the last step change what constraints ask of accelerations (m,).

        p' of a step's end and the p' given then differ by half of h times this, and by terms of h^3.
        """
        now, before = (self.dynamics.calls("bias", [self._q, self._v, forces], self.parameters.complete)
                       for forces in (self._forces.numbers, self._carried))  # fmt: skip
        return np.abs(now - before) + _HIGHER_ORDER * np.maximum(np.abs(now), np.abs(before))

    def _refuse_violation(self, allowed: Any = 0.0) -> None:
        violated = self._violated(self._v, allowed)
        if violated is not None:
            raise StateError(
                f"the velocities violate the constraint {violated[0]} by {violated[1]:.3g}: place() all variables with"
                " rates that meet it, or call admit()"
            )

    def _violated(self, v: np.ndarray, allowed: Any = 0.0) -> tuple[str, float] | None:
        """The constraint that velocities violate most, beyond rounding and what is allowed (m,), and its value."""
        if not self.dynamics.constrained:
            return None
        values = self.dynamics.violation(self._q, v, self._applied())
        excess = np.abs(values) - allowed
        if excess.max() <= _INCONSISTENT * max(1.0, float(np.abs(v).max())):
            return None
        index = int(np.argmax(excess))
        return self.dynamics.constraint_names[index], float(values[index])

    def _diagnosis(self, stage: str) -> str:
        return self.dynamics.diagnosis(self._q, self._v, self._forces.numbers, stage, self._timestep)

    def _applied(self) -> dict[Any, Any]:
        return {name: self._forces[name] for name in self._forces}


def _plain(value: np.ndarray) -> Any:
    return value if value.ndim else float(value)


def whole(count: Any) -> int:
    """A number of steps; StateError for anything else."""
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 0:
        raise StateError(f"step takes a whole number of steps that is not negative, not {count!r}")
    return int(count)


class _Run:
    """The compiled loop of steps and its buffers."""

    def __init__(self, dynamics: ManifoldDynamics) -> None:
        slope, landing = dynamics.calls.kernel("slope"), dynamics.calls.kernel("landing")
        self._loop = CompiledLoop(slope, 2 * dynamics.nv + 1, 3)
        self._landing = landing.buffer(landing.output_size), landing.buffer(landing.scratch)
        self._native = landing.native
        self._arguments = landing.native.address(landing.entry), *(b.ctypes.data for b in self._landing)

    def __call__(
        self, q: np.ndarray, v: np.ndarray, forces: np.ndarray, h: float, parameters: np.ndarray, count: int
    ) -> tuple[int, int]:
        """Advance q and v in place; (steps done, code of ``drivers``)."""
        own = self._loop.inputs
        own["u"][:], own["v"][:], own["q"][:], own["forces"][:], own["parameters"][:] = 0.0, v, q, forces, parameters
        if "clock" in own:
            own["clock"][:] = 0.0
        told = self._loop.run(h, count, *self._arguments)
        q[:], v[:] = own["q"], own["v"]
        return told
