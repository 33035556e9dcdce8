"""What a system of constraints must be: satisfiable, and no row a consequence of the others. Rows are named."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from recursive_dyn.dynamics.constraint_system import MET, ConstraintSystem, Gradients
from recursive_dyn.dynamics.functions import neutral
from recursive_dyn.dynamics.spare_rows import spare_rows
from recursive_dyn.errors import ModelError
from recursive_dyn.graph.recent import Recent
from recursive_dyn.joint.joint_check import FAR
from recursive_dyn.model.model import Model

_SAME = 1e-7  # share of a row below which it depends on the others
_SHARE = 3.0  # of other rows, in lengths of the row that is left out for them
_NEAR = 0.05  # rad or m, around states in which a row is looked for that others do not hold


class _Checked(NamedTuple):
    """Numbers of the rows that are kept, in their order; of each its usual size, and whether it is spare; (nq,)."""

    kept: tuple[int, ...]
    usual: tuple[float, ...]
    spare: tuple[bool, ...]
    assembled: tuple[float, ...]


_KNOWN = Recent[_Checked](64)


def independent(model: Model, droppable: Collection[str], alone: Model | None = None) -> Model:
    """The model, assembled, without redundant rows of these names; ModelError names other redundant, or contradictory,
    rows. alone: the model of nothing but what they know of, all coordinates by the same names; None: it knows all.

    What was found of late is known: a scene that is edited is compiled several times, with the same rows mostly.
    """
    part = model if alone is None else alone
    bounds = tuple((c.limits, c.turn) for c in part.coordinates)
    found = _KNOWN.of((part.key, part.parameters, bounds, frozenset(droppable)), lambda: _checked(part, droppable))
    rows = [
        replace(model.constraints[k], usual=usual, spare=spare)
        for k, usual, spare in zip(found.kept, found.usual, found.spare, strict=True)
    ]
    assembled = dict(zip(model.coordinate_names, neutral(model).tolist(), strict=True))
    assembled |= dict(zip(part.coordinate_names, found.assembled, strict=True))
    return replace(model, constraints=tuple(rows), assembled=tuple(assembled.values()))


def _checked(model: Model, droppable: Collection[str]) -> _Checked:
    """``independent`` of a model; ModelError."""
    system, names = ConstraintSystem(model), [c.name for c in model.constraints]
    states = system.solutions(range(len(names)))
    if not states:
        raise ModelError(_contradiction(system))
    if droppable:  # these states may be singular ones, where more rows depend on each other
        states += system.beside(states)
    kept = _telling(system, states, {i for i, name in enumerate(names) if name in droppable})
    gradients = system.gradients(states)
    for i in reversed(kept):
        others = [k for k in kept if k != i]
        if names[i] in droppable and _dependence(system, i, others, gradients, _SHARE) is not None:
            still = system.sizes[i] == 0.0  # as what leads out of the plane of a plane loop: nothing moves it anywhere
            kept = others if still or _holds_with(system, i, others) else kept
    for i in kept:
        if names[i] in droppable:  # what is left of them depends on others here and there, not on the same everywhere
            continue
        earlier = [k for k in kept if k < i]
        found = _dependence(system, i, earlier, gradients)
        if found is not None:
            because = f"it follows from {_listed([names[k] for k in found])}" if found else "it holds by itself"
            raise ModelError(
                f"constraint '{names[i]}' is redundant: {because} (and from the joints); remove it, or constrain with"
                " redundant='drop'"
            )
    spare = spare_rows(system, kept, [k for k in kept if names[k] in droppable], states, gradients.rows)
    usual, known = system.usual, set(spare)
    assembled = min(states, key=system.outside)  # the first, as the nearest to neutral, unless it breaks limits
    return _Checked(
        tuple(kept), tuple(usual[k] for k in kept), tuple(k in known for k in kept), tuple(assembled.tolist())
    )


def _telling(system: ConstraintSystem, states: Sequence[np.ndarray], droppable: Collection[int]) -> list[int]:
    """All rows without those of these that have no gradient where they hold, and hold where the others do, as the
    cosines of a rotation that is held; ModelError names another one without gradient."""
    kept, flat = list(range(len(system.holonomic))), system.vanishing(states)
    for i in reversed(flat):
        others = [k for k in kept if k != i]
        if i in droppable and others and _holds_with(system, i, others, states):
            kept = others
    for i in flat:
        if i in kept:
            raise ModelError(
                f"constraint '{system.model.constraints[i].name}' has no gradient where it holds, so that no force can"
                " keep it: constrain x instead of x**2, a vector instead of its square; a chain that this stretches to"
                " its full length needs some slack, or is closed by scene.pin"
            )
    return kept


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"'{n}'" for n in names)


def _holds_with(
    system: ConstraintSystem, i: int, others: Sequence[int], near: Sequence[np.ndarray] | None = None
) -> bool:
    """Whether row i holds wherever these others do, as far as the search gets, or ``near`` these states: else it keeps
    a mechanism from ways that the others leave it, at positions where these begin."""
    if not system.holonomic[i]:
        return True
    states = system.solutions(others, None if near is None else system.around(near, _NEAR), unless=i)
    return not states or bool(np.abs(system.values(np.array(states))[:, i]).max() < MET)


def _dependence(
    system: ConstraintSystem, i: int, others: Sequence[int], gradients: Gradients, most: float = np.inf
) -> list[int] | None:
    """The rows that row i is a combination of at every state; None where it says something new, or where it takes
    more than ``most`` of one of them: then these may be singular where it is not."""
    part = np.zeros(len(others), dtype=bool)
    telling = np.flatnonzero(~gradients.flat[:, i])  # where it is flat it may say something new elsewhere
    if not len(telling):
        return None
    for k in telling:
        C, offset = gradients.rows[k], gradients.offsets[k]
        if not np.isfinite(C).all():
            return None
        row, rest = C[i], C[list(others)]
        scale = max(np.linalg.norm(row), np.linalg.norm(rest, axis=1).max(initial=0.0), 1e-300)
        weights = np.linalg.lstsq(rest.T, row, rcond=1e-9)[0] if len(rest) else np.zeros(0)
        if np.linalg.norm(row - rest.T @ weights) > _SAME * scale:
            return None
        lengths = np.linalg.norm(rest, axis=1)
        if np.any(np.abs(weights) * lengths > min(most, FAR) * np.linalg.norm(row) + _SAME * scale):
            return None
        part |= np.abs(weights) > 1e-6
        if abs(offset[i] - offset[list(others)] @ weights) > _SAME * scale:
            raise ModelError(_at_odds(system, i, [k for k, used in zip(others, part, strict=True) if used]))
    return [k for k, used in zip(others, part, strict=True) if used]


def _at_odds(system: ConstraintSystem, i: int, others: Sequence[int]) -> str:
    names = [c.name for c in system.model.constraints]
    if not others:
        return f"constraint '{names[i]}' asks for a velocity that the joints do not allow; correct or remove it"
    return (
        f"constraint '{names[i]}' contradicts {_listed([names[k] for k in others])}: they ask for different"
        " velocities; correct or remove one"
    )


def _contradiction(system: ConstraintSystem) -> str:
    """Which row cannot hold, and together with which."""
    names = [c.name for c in system.model.constraints]
    rows = [i for i, holonomic in enumerate(system.holonomic) if holonomic]
    for count in range(1, len(rows) + 1):
        if system.solutions(rows[:count]):
            continue
        last, earlier = rows[count - 1], rows[: count - 1]
        partners = [k for k in earlier if system.solutions([r for r in rows[:count] if r != k])]
        if not system.solutions([last]):
            return (
                f"constraint '{names[last]}' holds nowhere that the joints reach; correct it, or the lengths it"
                f" depends on. {_off(system, last)}"
            )
        return (
            f"constraint '{names[last]}' contradicts {_listed([names[k] for k in partners or earlier])}: no"
            f" configuration was found in which they hold together; correct or remove one. {_off(system, last)}"
        )
    return "the constraints were met at no configuration"


def _off(system: ConstraintSystem, row: int) -> str:
    """By how much what was said together with a row does not hold, with all its rows: at the start, and at best."""
    names = [c.name for c in system.model.constraints]
    group = names[row].partition("[")[0]
    rows = [k for k, name in enumerate(names) if name.partition("[")[0] == group and system.holonomic[k]]
    start = float(np.linalg.norm(system.values(system.starts[0])[rows]))
    best = min(start, system.least_missed(rows))
    nearest = f"at the nearest that was found by {best:.3g} (m, or rad of turns)"
    return f"At the start '{group}' is off by {start:.3g}, {nearest}"
