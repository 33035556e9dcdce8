"""Bodies that overlap before anything has moved, told by name."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Sequence

from bridge.outsiders import WORLD
from recursive_dyn.contact.contact_record import Contact

DEEP = 1e-3  # m: what lies on each other is often put together a little too deep, which is out before anybody sees it
_TOLD = 3  # pairs that are told one by one


def overlapping(contacts: Iterable[Contact], still: Collection[str]) -> tuple[Contact, ...]:
    """The deepest contact of each pair that overlaps by more than DEEP, the deepest pair first.

    still: names of bodies that nothing moves, of which two may overlap as they like.
    """
    deepest: dict[tuple[str, str], Contact] = {}
    for contact in contacts:
        pair = contact.body_a, contact.body_b
        if contact.distance < -DEEP and not {*pair} <= {*still, WORLD}:
            known = deepest.get(pair)
            if known is None or contact.distance < known.distance:
                deepest[pair] = contact
    return tuple(sorted(deepest.values(), key=lambda contact: contact.distance))


def warn_of(overlaps: Sequence[Contact], grounded: bool, stacklevel: int) -> None:
    """Warn of overlaps, if there are any: who, how deep, and what to do; grounded: a ground that nobody made but the
    mirror is one of what is called the world."""
    if not overlaps:
        return
    told = [f"'{c.body_a}' and '{c.body_b}' by {-1e3 * c.distance:.3g} mm" for c in overlaps[:_TOLD]]
    if len(overlaps) > _TOLD:
        told.append(f"{len(overlaps) - _TOLD} more pairs (mirror.overlaps)")
    first, of_world = overlaps[0], any(WORLD in (c.body_a, c.body_b) for c in overlaps[:_TOLD])
    ground = (
        f" '{WORLD}' is the scenery, and the mirror's own ground plane, ground=True." if of_world and grounded else ""
    )
    warnings.warn(
        f"bodies overlap at the start: {', '.join(told)}.{ground} They are pushed apart at"
        " simulation.contact.push_speed; start them apart or let them pass each other:"
        f" scene.pair('{first.body_a}', '{first.body_b}', collide=False), for a robot's links"
        " Scene.from_urdf(..., self_collision=False)",
        stacklevel=stacklevel + 1,
    )
