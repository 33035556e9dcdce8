"""The whole state of a simulation, taken and returned to: in memory, or as bytes."""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from typing import cast

import numpy as np

from recursive_dyn.errors import StateError
from recursive_dyn.simulation.flying.applied_forces import Acted, AppliedForce
from recursive_dyn.simulation.interrupts import Held
from recursive_dyn.simulation.results.acting_forces import pushes_of_step
from recursive_dyn.simulation.results.sleep import Sleep
from recursive_dyn.simulation.saved.packed_state import packed, unpacked
from recursive_dyn.simulation.saved.scene_mark import SceneMark, mark_of
from recursive_dyn.simulation.saved.state_transfer import StateTransfer
from recursive_dyn.simulation.state import Snapshot
from recursive_dyn.simulation.surroundings import Surrounded


class Snapshots(Sleep):
    """A simulation's whole state, to go back to."""

    _integrator: str
    _forces: list[AppliedForce]
    _mark: tuple[object, float, SceneMark] | None = None  # of which dynamics and timestep it is

    def snapshot(self) -> Snapshot:
        """A copy of the whole state; what follows and what follows ``restore`` are the same to the last bit.

        That holds in any simulation of the same scene, also in another process, with contacts too if its mirror is made
        alike: what Bullet remembers of contacts is forgotten, here and there. Bullet's own bodies are no part of it;
        ``pybullet.saveState`` and ``restoreState`` keep these.
        """
        state, values = self._state, self._dynamics.parameters.values_array
        self._let_forget()
        self._timesteps.note_rates()
        return Snapshot(
            state.q.copy(), state.v.copy(), self._tau.copy(), state.time, self._remainder, values.copy(),
            tuple(self._forces), self._timesteps.memory.copy(), self._timesteps.events.touching(), self._scene_mark(),
            self._timesteps.moved,
        )  # fmt: skip

    def snapshot_bytes(self) -> bytes:
        """A snapshot as few bytes: for rollback, and to be sent; nothing in it is executed.

        It holds what the next step starts from. ``restore`` takes it in microseconds, here and in other processes, and
        what follows is the same to the last bit; what was told of the step before, such as ``contacts``, is not in it,
        but for ``multipliers``.
        """
        self._let_forget()
        self._timesteps.note_rates()
        steps, values = self._timesteps, self._dynamics.parameters.values_array
        return packed(
            self._scene_mark().parts, self._state, self._tau, self._remainder, values, self._forces,
            pushes_of_step(self) if steps.memory.pushed else (), steps.memory, steps.events, steps.moved,
        )  # fmt: skip

    def restore(self, snapshot: Snapshot | bytes | bytearray | memoryview) -> None:
        """Return to a snapshot, or to the bytes of one, of a simulation of the same scene.

        Raises StateError, which says what differs, where bodies, joints, masses, constraints, force elements or gravity
        are others than when it was taken, of bytes, too, where they are stepped otherwise, and for numbers that are no
        state; then nothing changed.
        """
        if isinstance(snapshot, (bytes, bytearray, memoryview)):
            self._unpack(snapshot)
            return
        if not isinstance(snapshot, Snapshot):
            raise StateError(f"restore takes what snapshot() gave, not {snapshot!r}")
        arrays = [(name, getattr(snapshot, name), getattr(self, name)) for name in ("q", "v", "tau")]
        arrays.append(("parameters", snapshot.parameters, self._dynamics.parameters.values_array))
        for name, source, target in arrays:
            if source.shape != target.shape:
                raise StateError(
                    f"the snapshot's {name} has shape {source.shape}, this scene needs {target.shape}: bodies came"
                    " or went since, or other coordinates are prescribed; prescribe, or let go, what was then"
                )
        mark = self._scene_mark()
        other = snapshot.scene and snapshot.scene.difference(mark, stepped=False)
        if other:
            raise StateError(other)
        alike = not snapshot.scene or snapshot.scene.difference(mark, stepped=True) is None
        if not all(np.isfinite(source).all() for _, source, _ in arrays) or not np.isfinite(snapshot.time):
            raise StateError("the snapshot's numbers are not those of a state: they are not all finite")
        with Held():
            self._be_at(snapshot.q, snapshot.v, snapshot.parameters)
            self._tau[:] = snapshot.tau
            self.time, self._remainder = snapshot.time, snapshot.remainder
            self._forces = list(snapshot.forces)
            self._timesteps.recall(snapshot.memory, snapshot.touching)
            self._timesteps.take_rates(alike)
            self._timesteps.is_at(moved=True)
            self._timesteps.moved = snapshot.moved
            self._let_forget()

    def _unpack(self, data: bytes | bytearray | memoryview) -> None:
        timesteps, values, mark = self._timesteps, self._dynamics.parameters.values_array, self._scene_mark().parts
        found = unpacked(data, mark, self._state, values, timesteps.memory, len(self._dynamics.bodies))
        memory, events = timesteps.memory, timesteps.events
        nq, nv = len(self._state.q), len(self._state.v)
        q, v, parameters, _ = np.split(found.numbers.floats[2:], np.cumsum([nq, nv, len(values)]))
        with Held():
            self._be_at(q, v, parameters)
            memory.make_room(int(found.numbers.sizes[4]))
            events.expect(len(found.numbers.pairs), found.names)
            self._transfer.take(found.numbers, self._state, self._tau, values, memory, events)
            memory.tell_nothing()
            memory.acted = Acted(self._tau.copy(), found.acted) if found.acted else None
            timesteps.take_rates()
            self._remainder, self._forces = found.remainder, found.forces
            timesteps.begin()
            timesteps.is_at(moved=True)
            timesteps.moved = found.moved
            self._let_forget()

    def _be_at(self, q: np.ndarray, v: np.ndarray, parameters: np.ndarray) -> None:
        """Write a state (nq,), (nv,) and parameters (p,). StateError, with nothing written, where surroundings would
        find bodies without poses; alone it is the next step that says so, as of any ``q`` that is set."""
        own = self._state.q, self._state.v, self._dynamics.parameters.values_array
        before = [numbers.copy() for numbers in own]
        for target, source in zip(own, (q, v, parameters), strict=True):
            target[:] = source
        if self._timesteps.surroundings is None:
            return
        try:
            self._timesteps.at_present()
        except StateError as error:
            for target, source in zip(own, before, strict=True):
                target[:] = source
            with suppress(StateError):  # what surroundings see is where it was
                self._timesteps.at_present()
            raise StateError(f"the snapshot's numbers are not those of a state: {error}") from None

    @cached_property
    def _transfer(self) -> StateTransfer:
        return StateTransfer()

    def _let_forget(self) -> None:
        """Let surroundings remember nothing, as no snapshot holds it."""
        self._timesteps.forget(cast(Surrounded, self))

    def _scene_mark(self) -> SceneMark:
        """What says of which scene a snapshot is."""
        if self._mark is None or self._mark[0] is not self._dynamics or self._mark[1] != self._timestep:
            self._mark = self._dynamics, self._timestep, mark_of(self._dynamics, self._timestep, self._integrator)
        return self._mark[2]
