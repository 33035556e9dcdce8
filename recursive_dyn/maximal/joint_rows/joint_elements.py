"""Force elements of the coordinates of joints between free bodies: forces and energy at the coordinates found."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.dynamics.parameters import Parameters
from recursive_dyn.maximal.joint_rows.row_memory import RowMemory
from recursive_dyn.maximal.kinds.element_functions import ENERGY, FORCES, ElementFunctions, of_joints
from recursive_dyn.maximal.kinds.joint_evaluator import JointEvaluator, evaluator_of
from recursive_dyn.maximal.kinds.row_arrays import NOTHING, MeasuringCall, RowArrays, measured
from recursive_dyn.model.model import Model

Array = np.ndarray


class ElementCall(NamedTuple):
    """The program of all elements; links: those whose twists it has forces on; joints, rows: along which it has others
    after these."""

    measuring: MeasuringCall
    links: Integers
    joints: Integers
    rows: Integers


class JointElements:
    """Those of a reduced model; ``functions`` are None where there are none."""

    def __init__(self, model: Model) -> None:
        own, names = of_joints(model), [name for name, _ in model.parameters]
        self.functions = (
            ElementFunctions(own, names, [body.link for body in model.bodies], model.clock) if own else None
        )
        self._evaluator: JointEvaluator | None = None
        self._nv = model.nv
        if self.functions is not None:
            self._evaluator = evaluator_of(self.functions, Parameters(model.parameters))

    def forces(self, free: Dynamics, q: Array, v: Array, places: Array, rates: Array) -> tuple[Array, Array]:
        """(forces (..., n, 6) on twists of bodies, forces (..., reduced.nv) on coordinates) at states q (..., 7 n),
        v (..., 6 n) with joints' coordinates and rates."""
        lead = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
        twists, along = np.zeros((*lead, len(free.model.links), 6)), np.zeros((*lead, rates.shape[-1]))
        if (f := self.functions) is not None:
            flat = self._called(FORCES, free, q, v, places, rates)
            twists[..., f.links, :] = flat[..., : 6 * len(f.links)].reshape(*lead, -1, 6)
            along[..., f.slots] = flat[..., 6 * len(f.links) :]
        return twists, along

    def energy(self, free: Dynamics, q: Array, places: Array) -> Array:
        """Of all of them (...,)."""
        if self.functions is None:
            return np.zeros(q.shape[:-1])
        v, rates = np.zeros(6 * len(free.model.links)), np.zeros(self._nv)
        return self._called(ENERGY, free, q, v, places, rates)[..., 0]

    def arrays(self, memory: RowMemory) -> ElementCall:
        """For machine code, in the memory of rows."""
        none = np.zeros(0, dtype=np.int64)
        if self.functions is None or self._evaluator is None:
            return ElementCall(NOTHING, none, none, none)
        (joint, row), slots = memory.row_of_slot, self.functions.slots
        measuring = memory.measuring(self._evaluator.kernel(FORCES, 1), self.functions.measured)
        return ElementCall(measuring, np.array(self.functions.links, dtype=np.int64), joint[slots], row[slots])

    def parametrize(self, call: ElementCall, free: Dynamics) -> None:
        """Frames at the present values of the parameters."""
        if self.functions is not None:
            call.measuring.frames[:] = self.functions.measured.body_frames(free).reshape(-1)

    def _called(self, function: str, free: Dynamics, q: Array, v: Array, places: Array, rates: Array) -> Array:
        assert self.functions is not None and self._evaluator is not None
        self._evaluator.parameters.values_array[:] = free.parameters.values_array
        lead = np.broadcast_shapes(*(x.shape[:-1] for x in (q, v, places, rates)))
        state = [np.broadcast_to(x, (*lead, x.shape[-1])) for x in (q, v, places, rates)]
        return self._evaluator.call(function, *self.functions.measured.values(free, *state))


@compiled
def pushed(own: ElementCall, it: RowArrays, tau: Floats, parameters: Floats) -> bool:
    """Add to forces tau on the bodies what elements do where joints were found; whether that is finite."""
    if len(own.links) + len(own.joints) == 0:
        return True
    if not measured(own.measuring, it, parameters):
        return False
    out, world = own.measuring.call.outputs, len(it.poses) - 1
    for k in range(len(own.links)):
        for j in range(6):
            tau[6 * own.links[k] + j] += out[6 * k + j]
    for k in range(len(own.joints)):
        i, r, force = own.joints[k], own.rows[k], out[6 * len(own.links) + k]
        child, parent = it.children[i], it.parents[i]
        for j in range(6):
            tau[6 * child + j] += force * it.child[i, r, j]
            if parent != world:
                tau[6 * parent + j] += force * it.parent[i, r, j]
            for x in range(it.more_first[i], it.more_first[i + 1]):
                tau[6 * it.more_links[x] + j] += force * it.more[x, j]
    return True
