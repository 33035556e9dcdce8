"""Why a step has no value: the joint whose own frame or motion subspace ends near the state, the constraint, or the
force element."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

import numpy as np

from recursive_dyn.codegen.reference import run
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.dynamics.model_functions import ModelFunctions
from recursive_dyn.errors import StateError
from recursive_dyn.graph.traversal import evaluate
from recursive_dyn.joint.charted_program import CHART
from recursive_dyn.joint.drive import Drive
from recursive_dyn.model.force_element import ForceElement
from recursive_dyn.model.model import Model
from recursive_dyn.recursion.context import RECURSIVE

_SHARES = np.linspace(0.0, 1.0, 9).tolist()  # of a step, at which elements are looked at
_MUCH = 0.1  # of the kinetic energy, from which on the power of an element in a step explains what became of it


def culprit(model: Model, q: np.ndarray, v: np.ndarray, h: float, parameters: np.ndarray) -> str | None:
    """The coordinate of the first joint, root first, that is not finite at q (nq,) or where v leads in h; else None.

    The joint's own expressions are evaluated by the interpreter; q and v are finite.
    """
    names = [("parameter", name) for name, _ in model.parameters]
    values: dict[tuple[str, str | int], float] = dict(zip(names, parameters.tolist(), strict=True))
    ahead = q.copy()
    for place, slot in model.plain_slots:
        ahead[place] += h * v[slot]
    for link in model.links:
        joint = link.joint.kinematics()
        flat = [*(x for t in joint.transforms for x in t.flat), *joint.subspace.flat, *joint.bias]
        for state in (q, ahead):
            own = [state[place] for place in link.places], [v[slot] for slot in link.slots]
            if link.drive is not None:
                own = _driven(link.drive, *own, values)
            values |= {("q", i): x + link.offset for i, x in enumerate(own[0])}
            values |= {("v", i): x for i, x in enumerate(own[1])}
            values |= {CHART: values["parameter", link.chart]} if link.chart is not None else {}
            if not all(np.isfinite(x) for x in evaluate(flat, values)):
                return model.coordinates[link.slots[0]].name
    return None


def row_without_value(dynamics: Dynamics, q: np.ndarray, v: np.ndarray, h: float) -> str | None:
    """The first row of constraints that is not finite where v (nv,) leads from q (nq,) in h, or half of it."""
    if not dynamics.constraints:
        return None
    program, parameters = dynamics.program("constraint_positions"), dynamics.parameters.values_array
    for ahead in _ahead(dynamics, q, v, h, (0.5, 1.0)):
        bad = np.flatnonzero(~np.isfinite(run(program, {"q": ahead, "parameters": parameters})["phi"]))
        if len(bad):
            return dynamics.constraints[int(bad[0])]
    return None


def element_without_value(dynamics: Dynamics, q: np.ndarray, v: np.ndarray, h: float) -> str | None:
    """The first force element that is not finite at q (nq,), or on the way that v (nv,) leads in h."""
    return next((name for name, forces in _elements_alone(dynamics, q, v, h) if not np.isfinite(forces).all()), None)


def violent_element(dynamics: Dynamics, q: np.ndarray, v: np.ndarray, h: float) -> tuple[str, float] | None:
    """The force element whose power at q (nq,), v (nv,), or on the way from there in h, is most against the kinetic
    energy, and how many times that, if it is some."""
    found = "", _MUCH
    try:
        energy = float(dynamics.kinetic_energy(q, v))
    except StateError:  # beyond all numbers, which says enough
        return None
    for name, forces in _elements_alone(dynamics, q, v, h) if energy > 0.0 else ():
        with np.errstate(all="ignore"):
            times = h * np.abs(forces @ v) / energy
        most = float(np.where(np.isfinite(times), times, 0.0).max())
        if most > found[1]:
            found = name, most
    return found if found[0] else None


def _elements_alone(
    dynamics: Dynamics, q: np.ndarray, v: np.ndarray, h: float
) -> Iterator[tuple[str, np.ndarray]]:  # fmt: skip
    """Every force element and its generalized forces (shares, nv), without what joints do, on the way from q in h."""
    model, parameters = dynamics.model, dynamics.parameters.values_array
    way = list(_ahead(dynamics, q, v, h, _SHARES)) if model.forces and not model.held else []

    def passive(elements: tuple[ForceElement, ...]) -> np.ndarray:
        program = ModelFunctions(model.changed(forces=elements), RECURSIVE).build("passive_forces")
        return np.array([run(program, {"q": at, "v": v, "parameters": parameters})["tau"] for at in way])

    if way:
        own = passive(())
        for element in model.forces:
            yield element.name, passive((element,)) - own


def _ahead(
    dynamics: Dynamics, q: np.ndarray, v: np.ndarray, h: float, shares: Sequence[float]
) -> Iterator[np.ndarray]:  # fmt: skip
    """Where v leads from q in these shares of h, as far as that is anywhere."""
    for share in shares:
        with suppress(StateError):  # so fast that numbers overflow
            yield dynamics.integrate(q, v, share * h)


def _driven(
    drive: Drive, q: list[float], v: list[float], parameters: dict[tuple[str, str | int], float]
) -> tuple[list[float], list[float]]:
    derived = drive.derived
    inputs = parameters | {("q", i): x for i, x in enumerate(q)} | {("v", i): x for i, x in enumerate(v)}
    flat = np.array(evaluate([*derived.values, *derived.phi.flat], inputs), dtype=float)
    n = len(derived.values)
    return list(flat[:n]), list(flat[n:].reshape(n, -1) @ v)
