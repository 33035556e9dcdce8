"""A motion on the manifold, step by step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from recursive_dyn.codegen.addresses import address
from recursive_dyn.codegen.emitting import drivers
from recursive_dyn.errors import ModelError, StateError
from recursive_dyn.integrators.compiled_loop import CompiledLoop
from recursive_dyn.manifold.motion.manifold_dynamics import ManifoldDynamics
from recursive_dyn.manifold.motion.quantities import Quantities
from recursive_dyn.manifold.motion.start_check import refuse_bad_start, refuse_jump, violated
from recursive_dyn.simulation.results.stepped import Stepped
from recursive_dyn.simulation.state import State, whole

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class MotionSnapshot:
    """The state of a motion: q, v, forces and parameters, the time in s, and what frames left of a timestep."""

    q: Array
    v: Array
    forces: Array
    parameters: Array
    time: float
    remainder: float


class _Loop:
    """The compiled loop of steps of one motion, in memory of its own; q and v: the state that it has led to."""

    def __init__(self, dynamics: ManifoldDynamics) -> None:
        slope, landing = dynamics.kernel("slope"), dynamics.kernel("landing")
        self._loop = CompiledLoop(slope, 2 * dynamics.nv + 1, 3)
        self.q, self.v = self._loop.inputs["q"], self._loop.inputs["v"]
        _, *self._buffers = landing.memory()
        self._landing = landing.native.address(landing.entry), *map(address, self._buffers)
        self._native = landing.native  # keeps the address alive

    def load(self, **state: Array) -> None:
        """Start from q, v, forces of its time, and parameters."""
        for name, own in self._loop.inputs.items():
            own[:] = state.get(name, 0.0)  # u and the clock start at zero

    def run(self, h: float, count: int) -> tuple[int, int]:
        """Go on by at most ``count`` steps of length h, some 20 ms of them; (steps done, code of ``drivers``)."""
        return self._loop.run(h, count, *self._landing)


class Motion(Stepped[ManifoldDynamics]):
    """Motion of compiled equations from a state, by a Runge-Kutta-Munthe-Kaas method of order 4.

    q (nq,), v (nv,): the state, plain arrays as in :class:`ManifoldDynamics`; time and timestep in s. It starts at
    rest, unit vectors along -e3, rotations 1, flat variables 0. ``place`` sets a variable; ``motion[q]``,
    ``motion.rate(q)``, ``motion.acceleration(q)`` read one. ``forces[name] = ...`` act until changed; a prescribed
    motion p is a force as well, by the numbers of p, p', p'' that the equations hold. Between two assignments, and
    within a step, it goes on by them: p'' stands still, p' and p follow it, and are read so from ``forces`` after a
    step (see ``quantities``). All other forces stand still. ``parameters`` are the motion's own, at first those of the
    dynamics; ``dynamics`` is a view with them. ``control``, if not None, is called with the motion before every step,
    to set forces.

    bodies: what shows the motion, by name: a position, or (position, turn). The position is a vector formula of the
    equations' symbols or three numbers; the turn a rotation matrix, or a unit vector along which the body's z axis
    points, turned there the shortest way from e3. ``frames`` has their poses and twists, as a mirror takes them.

    The configuration stays on the manifold by construction. Once a step, rounding is taken away: unit vectors and
    quaternions are divided by their length, omega is made orthogonal to its unit vector, and velocities are brought
    back onto the nonholonomic constraints, along their reactions: none changes a step by more than its error, O(h^5),
    as long as prescribed motions are those of a constant p''. Where p'' is given anew every step, velocities follow p'
    to O(h^2); a jump of p', or a p'' that does not fit it, is refused.
    A step whose result is not finite raises StateError naming the variable and leaves the last good state. Copies and
    pickles have a state, forces and parameters of their own.
    """

    integrator = "munthe_kaas"
    control: Callable[[Motion], None] | None

    def __init__(
        self, dynamics: ManifoldDynamics, timestep: float = 1e-3, bodies: Mapping[str, Any] | None = None
    ) -> None:
        if not isinstance(dynamics, ManifoldDynamics):
            raise StateError(f"a motion runs compiled equations, equations.compile(), not {type(dynamics).__name__}")
        super().__init__(dynamics.view(), State(*dynamics.neutral()), timestep)
        if bodies is not None:
            self.dynamics.show(bodies)
        self.control = None
        self._forces = dynamics.no_forces()
        self._loop: _Loop | None = None
        self._last = _Last(self._forces.numbers.copy(), b"")

    def __repr__(self) -> str:
        variables = ", ".join(map(str, self.dynamics.configuration))
        try:
            energy = f"energy {self.energy:.6g} J"
        except (ModelError, StateError):  # a parameter has no number yet
            energy = "no energy yet"
        return f"<Motion of {variables}: time {self.time:.6g} s, {energy}, steps of {self.timestep:.6g} s>"

    def __getstate__(self) -> dict[str, Any]:
        state = State(self.q.copy(), self.v.copy(), self.time)
        own = {"_dynamics": self.dynamics.view(), "_state": state, "_forces": self._forces.copy(), "_loop": None}
        own["_last"] = _Last(self._last.carried.copy(), self._last.known)
        return self.__dict__ | own

    @property
    def forces(self) -> Quantities:
        """Applied forces by name or symbol, zero at first; they act until changed."""
        return self._forces

    @forces.setter
    def forces(self, values: Mapping[Any, Any]) -> None:
        self._forces.replace(values)

    @property
    def parameters(self) -> Quantities:
        """The constants' numbers in this motion; a mapping assigned replaces them all."""
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
        p = self.dynamics.variable(symbol)
        q, v = self.q.copy(), np.zeros(p.v.stop - p.v.start)
        q[p.q] = p.read(position)
        if rate is not None and angular is not None:
            raise StateError(f"give rate or angular of '{p.name}', not both")
        if rate is not None or angular is not None:
            v = p.read_rate(q, rate if angular is None else angular, angular is not None)
        self.q[p.q], self.v[p.v] = q[p.q], v

    def __getitem__(self, symbol: Any) -> Any:
        return _own(self.dynamics.variable(symbol).value(self.q))

    def rate(self, symbol: Any) -> Any:
        """q' of a unit vector, Omega (body axes) of a rotation, x' of a flat variable."""
        return _own(self.dynamics.variable(symbol).rate(self.q, self.v))

    def acceleration(self, symbol: Any) -> Any:
        """q'' of a unit vector, Omega' of a rotation, x'' of a flat variable, at the present state and forces."""
        a = self.dynamics.accelerations(self.q, self.v, self._forces)
        return _own(self.dynamics.variable(symbol).acceleration(self.q, self.v, a))

    @property
    def energy(self) -> float:
        """Total energy of the state."""
        return float(self.dynamics.energy(self.q, self.v, self._forces))

    @property
    def multipliers(self) -> Array:
        """Multipliers (m,) of the constraints at the present state and forces."""
        return self.dynamics.multipliers(self.q, self.v, self._forces)

    @property
    def drift(self) -> float:
        """Largest violation of a constraint, each in its own unit: | |q| - 1 | of unit vectors and quaternions,
        |q . omega|, and the values of the nonholonomic constraints."""
        found = [max(p.errors(self.q, self.v)) for p in self.dynamics.variables]
        if self.dynamics.constrained:
            found += np.abs(self.dynamics.violation(self.q, self.v, self._forces)).tolist()
        return max(found)

    def admit(self) -> None:
        """Change the velocities to the nearest, in kinetic energy, that meet the nonholonomic constraints.

        StateError, and no change, where constraints contradict each other.
        """
        v = self.dynamics.admitted(self.q, self.v, self._forces)
        found = violated(self.dynamics, self.q, v, self._forces)
        if found is not None:
            raise StateError(
                f"no velocities meet the constraint {found[0]} and the others at this state: they contradict each"
                " other, change what they prescribe"
            )
        self.v[:] = v

    def step(self, count: int = 1) -> None:
        """Advance by ``count`` timesteps, in one compiled loop, or one by one under ``control``."""
        count = whole(count)
        if self.control is None:
            self._step(count)
            return
        for _ in range(count):
            self.control(self)
            self._step(1)

    def _step(self, count: int) -> None:
        self._refuse_bad_start()
        if self._loop is None:
            self._loop = _Loop(self.dynamics)
        loop, state, given, start, done = self._loop, self._state, self._forces.numbers.copy(), self._state.time, 0
        last, numbers = self._last, self._forces.numbers
        loop.load(q=state.q, v=state.v, forces=given, parameters=self._dynamics.parameters.numbers)
        while done < count:
            more, code = loop.run(self._timestep, count - done)
            done += more
            time = start + done * self._timestep
            forces = self._dynamics.carried(given, done * self._timestep)
            known = self._content(loop.q, loop.v)
            # nothing is called from here on: Python serves interrupts at calls, and finds all of the result or nothing
            state.q[:] = loop.q
            state.v[:] = loop.v
            numbers[:] = last.carried = forces
            state.clock[0], last.known = time, known
            if code != drivers.OK:
                why = "a force is not finite; pass finite numbers only"
                if code != drivers.BAD_INPUT:
                    why = self.dynamics.diagnosis(self.q, self.v, forces, self._timestep)
                raise StateError(f"motion at t = {time:.6g} s: {why}. The last good state is kept")

    def snapshot(self) -> MotionSnapshot:
        """A copy of the whole state."""
        q, v, forces, parameters = (own.copy() for own in self._arrays())
        return MotionSnapshot(q, v, forces, parameters, self.time, self._remainder)

    def restore(self, snapshot: MotionSnapshot) -> None:
        """Return to what ``snapshot`` gave."""
        if not isinstance(snapshot, MotionSnapshot) or snapshot.q.shape != self.q.shape:
            raise StateError(f"restore takes what this motion's snapshot() gave, not {type(snapshot).__name__}")
        kept = snapshot.q, snapshot.v, snapshot.forces, snapshot.parameters
        for own, array in zip(self._arrays(), kept, strict=True):
            own[:] = array
        self._state.time, self._remainder, self._last.carried = (
            snapshot.time,
            snapshot.remainder,
            snapshot.forces.copy(),
        )

    def _arrays(self) -> tuple[Array, ...]:
        return self.q, self.v, self._forces.numbers, self.dynamics.parameters.numbers

    def frames(self) -> tuple[Array, Array]:
        """Poses (nb, 4, 4) and twists (nb, 6) of the bodies that show the motion, world axes at their origins."""
        return self.dynamics.frames(self.q, self.v, self._forces.numbers)

    def _content(self, q: Array, v: Array) -> bytes:
        return q.tobytes() + v.tobytes() + self._dynamics.parameters.numbers.tobytes()

    def _refuse_bad_start(self) -> None:
        """A state or parameters written by hand are checked once; forces that prescribe motions when they jump."""
        known, pushed = self._last.known == self._content(self._state.q, self._state.v), self._forces.numbers.tobytes()
        if known and pushed == self._last.carried.tobytes():
            return
        self._forces.refuse_missing()
        if not known:
            self.dynamics.parameters.refuse_missing()
            refuse_bad_start(self.dynamics, self.q, self.v, self._forces)
        elif self.dynamics.driven:
            change = self._forces.numbers, self._last.carried
            refuse_jump(self.dynamics, self.q, self.v, self._forces, change, self._timestep)


@dataclass(slots=True)
class _Last:
    """What the last step left: the forces at its end, and what state and parameters it ended with. Assigning to it
    calls nothing, as assigning to a motion does."""

    carried: Array
    known: bytes


def _own(value: Any) -> Any:
    return np.array(value) if np.ndim(value) else float(value)
