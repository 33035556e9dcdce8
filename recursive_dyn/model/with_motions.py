"""A model with some of its coordinates prescribed, and with the parameters that their motions are written in.

Also what motors may not lead: such coordinates, and those whose meaning changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set

from recursive_dyn.errors import ModelError, StateError, listed
from recursive_dyn.graph.expression import Scalar
from recursive_dyn.joint.charted_program import ONE_CHART
from recursive_dyn.joint.coordinate import CLOCK, TIME
from recursive_dyn.model.clock import PrescribedMotion
from recursive_dyn.model.model import Model


def with_motions(model: Model, values: Mapping[str, Scalar], parameters: Sequence[tuple[str, float]] = ()) -> Model:
    """The model in which coordinates, by name, are these expressions over inputs ("parameter", name), time's among
    them; ``parameters``: those that it does not have yet, which come before charts'. Time becomes a coordinate if it
    is none.
    """
    charts = len(model.charted)
    known = model.common_parameters
    model = model.changed(parameters=(*known, *parameters, *model.parameters[len(model.parameters) - charts :]))
    if model.clock is None:
        at = model.nq, model.nv
        model = model.changed(
            coordinates=(*model.coordinates, TIME),
            coordinate_names=(*model.coordinate_names, TIME.name),
            nq=at[0] + 1,
            nv=at[1] + 1,
            plain_slots=(*model.plain_slots, at),
            assembled=None if model.assembled is None else (*model.assembled, 0.0),
            clock=at,
        )
    return model.changed(motions=tuple(PrescribedMotion(*place(model, name), value) for name, value in values.items()))


def _nothing(name: object, coordinates: Iterable[str]) -> str:
    return ""


def place(model: Model, name: str, meant: Callable[[object, Iterable[str]], str] = _nothing) -> tuple[int, int]:
    """Place in q and slot in v of a coordinate that can be prescribed. ModelError says why it cannot be.

    meant: what is said of a name that is none, beside the names that there are.
    """
    slots = {c.name: slot for slot, c in enumerate(model.coordinates)}
    if name not in slots and name in model.coordinate_names:
        raise ModelError(_of_a_whole(name))
    if name not in slots or name == TIME.name:
        known = listed([n for n in slots if n != TIME.name], name)
        raise ModelError(f"prescribe: there is no coordinate {name!r}; the scene has {known}{meant(name, slots)}")
    slot = slots[name]
    places = {s: p for p, s in model.plain_slots}
    charted = [link.name for link in model.charted if slot in link.slots]
    if slot not in places or charted:
        if charted:
            raise ModelError(
                f"prescribe: '{name}' is one of several charts; {ONE_CHART}, or lead the joint as a whole by a motor,"
                f" simulation.motors['{charted[0]}']"
            )
        raise ModelError(_of_a_whole(name))
    return places[slot], slot


def _of_a_whole(name: str) -> str:
    body = name.rpartition(".")[0]
    return (
        f"prescribe: '{name}' is no coordinate of a joint but part of a ball or free joint; hang the body on a"
        " joint of plain coordinates (joints.euler, slides composed by @), or lead the joint as a whole by a motor,"
        f" simulation.motors['{body}']"
    )


def refuse_motor(model: Model, name: str, slots: Set[int]) -> None:
    """StateError where a motor cannot lead what has these places of velocities: others do, or their meaning changes."""
    if name == CLOCK:
        raise StateError(f"motors['{name}']: time goes on by itself, and no motor leads it")
    if slots & model.prescribed:
        raise StateError(f"motors['{name}']: that is prescribed; simulation.prescribe('{name}', None) lets it go")
    for link in model.charted:
        if slots & set(link.slots) and name != link.name:
            raise StateError(
                f"motors['{name}']: what that means changes with the chart of its joint; lead the joint as a whole,"
                f" motors['{link.name}'], or {ONE_CHART}"
            )
