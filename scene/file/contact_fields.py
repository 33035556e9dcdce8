"""The contact of a joint of two surfaces as fields of a scene file and back.

The joint moves by its transform. Its surfaces tell scene.roll what rolling is, and why some pairs of surfaces do not
determine where they touch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import evaluate
from recursive_dyn.joint.joint_program import JointProgram
from scene.file import surface_fields
from scene.file.document import fields, flag, number
from scene.file.names import Names
from scene.joints.base import Joint
from scene.joints.surface_joints import Contact, surface_on_surface
from scene.joints.surfaces import Surface, fresh_symbol

_ADVICE = "or set joint.contact = None: the joint moves the same, but scene.roll cannot use it"


class StoredContact(Contact):
    """A contact as it stands in a file: SymPy is met only when one of its surfaces is asked for."""

    @classmethod
    def of(cls, written: Mapping[str, Any], joint: Joint) -> StoredContact:
        """The contact of checked fields, of this joint."""
        result = cls.__new__(cls)
        kept = {"written": written, "program": joint.program, "names": [c.name for c in joint.coordinates]}
        vars(result).update(kept, flip=written["flip"], turn=written["turn"])
        return result

    @cached_property
    def _made(self) -> Contact:
        kept = vars(self)
        contact = _contact(kept["written"], kept["names"])
        _check_transform(contact, kept["program"])
        return contact

    @cached_property
    def first(self) -> Surface:
        return self._made.first

    @cached_property
    def second(self) -> Surface:
        return self._made.second

    @cached_property
    def spin(self) -> Any:
        return self._made.spin


def write(joint: Joint, contact: Contact) -> dict[str, Any]:
    """The fields of a joint's contact. ModelError for a surface that no field can hold."""
    if "written" in vars(contact):  # it was read from a file, and is frozen
        return dict(vars(contact)["written"])
    try:
        result = {
            "first": surface_fields.write(contact.first),
            "second": surface_fields.write(contact.second),
            "flip": bool(contact.flip),
            "turn": float(contact.turn),
            "spin": contact.spin is not None,
        }
    except ModelError as error:
        raise ModelError(f"contact: {error}, {_ADVICE}") from None
    _check_transform(_contact(result, [c.name for c in joint.coordinates]), joint.program)
    return result


def read(value: Any, joint: Joint, names: Names) -> Contact:
    """The contact of such fields. ModelError names the surface; that it is not the joint's is told when it is used."""
    given = fields("contact", value, ("first", "second", "flip", "turn", "spin"))
    spin = flag("spin of contact", given["spin"])
    if joint.program.nv != 4 + spin:
        raise ModelError(f"contact: it is of {4 + spin} coordinates, and the joint has {joint.program.nv}; remove it")
    for place in ("first", "second"):
        try:
            surface_fields.check(given[place], names.check_in_joint)
        except ModelError as error:
            raise ModelError(f"{place} surface of contact: {error}") from None
    flag("flip of contact", given["flip"])
    return StoredContact.of({**given, "turn": number("turn of contact", given["turn"])}, joint)


def _contact(written: Mapping[str, Any], names: Sequence[str]) -> Contact:
    first = surface_fields.read(written["first"], names[:2])
    second = surface_fields.read(written["second"], names[2:4])
    return Contact(first, second, written["flip"], written["turn"], fresh_symbol("spin") if written["spin"] else None)


def _check_transform(contact: Contact, program: JointProgram) -> None:
    """ModelError unless the surfaces give the joint's transform, compared at random points."""
    # A surface without a frame of its own is handed over as a pair: a Surface would be written anew with other symbols.
    given: list[Any] = []
    for surface in (contact.first, contact.second):
        given += [list(surface.f), surface.coordinates] if surface.pieces is None else [surface]
    f1, c1, f2, c2 = (*given, None, None, None)[:4]
    spin = contact.spin is not None
    made = surface_on_surface(f1, c1, f2, c2, contact.flip, contact.turn, spin).program
    rng = np.random.default_rng(6)
    for _ in range(3):
        inputs: dict[Any, float] = {("q", i): rng.uniform(0.2, 0.8) for i in range(5)}
        inputs |= {("parameter", name): rng.uniform(0.5, 1.5) for name in sorted(program.parameters | made.parameters)}
        if made.nv != program.nv or not np.allclose(_pose(made, inputs), _pose(program, inputs), 1e-9, 1e-9, True):
            raise ModelError(f"contact: the surfaces do not give the joint's transform; correct them, {_ADVICE}")


def _pose(program: JointProgram, inputs: Mapping[Any, float]) -> np.ndarray:
    total = np.eye(4)
    for factor in program.factors:
        total = total @ np.array(evaluate(list(factor.transform.flat), inputs), dtype=float).reshape(4, 4)
    return total
