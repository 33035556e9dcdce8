"""What every step asks of Bullet, each in one compiled call: where Bullet's own functions are within reach.

The same as the parts do one after the other, and given up for these at whatever is out of the ordinary.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import numpy as np

from bridge.collision.bullet_calls import (
    GONE,
    Census,
    Functions,
    detect,
    handle_of,
    is_unchanged,
    place,
    tell,
)
from bridge.collision.contact_points import Aside, Known, PairFrictions, RawPoints, gathered
from bridge.collision.placing import Placing, has_moved, hurrying, note_due
from bridge.planes.plane_contacts import PlaneTable, plane_contacts
from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.contact.contact_buffer import ContactTable

UNSEEN, UNFINISHED = -10, -11  # nothing was done; contacts were found, but not yet written


@compiled
def look(
    bullet: Functions,
    client: int,
    census: Census,
    placing: Placing,
    poses: Annotated[np.ndarray, float, 4, 4],
    twists: Annotated[np.ndarray, float, 6],
    raw: RawPoints,
    known: Known,
    frictions: PairFrictions,
    planes: PlaneTable,
    table: ContactTable,
    aside: Aside,
) -> int:
    """Contacts at poses and twists into a table; how many drift, UNSEEN, or UNFINISHED."""
    handle = handle_of(bullet, client)
    if handle == GONE or not is_unchanged(bullet, handle, census):
        return UNSEEN
    place(bullet, handle, placing, note_due(placing, poses, twists))
    if has_moved(placing):
        detect(bullet, handle)
    detect(bullet, handle)
    count = tell(bullet, handle, raw)
    if count < 0 or count > len(raw.ids):
        return UNFINISHED
    drifting = gathered(count, raw, known, frictions, table, aside)
    if drifting < 0 or len(table.gaps) - table.size[0] < len(planes.found.whole):
        return UNFINISHED
    plane_contacts(planes, poses, table)
    return drifting


@compiled
def follow(
    bullet: Functions,
    client: int,
    placing: Placing,
    poses: Annotated[np.ndarray, float, 4, 4],
    twists: Annotated[np.ndarray, float, 6],
) -> int:
    """Put bodies at poses with twists; how many moved, or UNSEEN."""
    handle = handle_of(bullet, client)
    if handle == GONE:
        return UNSEEN
    count = note_due(placing, poses, twists)
    place(bullet, handle, placing, count)
    return count


@compiled
def hurry(
    bullet: Functions,
    client: int,
    census: Census,
    twists: Annotated[np.ndarray, float, 6],
    reach: Annotated[np.ndarray, float, 3],
    h: Floats,
) -> int:
    """How many bodies are too fast for a step of h[0] s, as ``hurrying`` has it, or UNSEEN."""
    handle = handle_of(bullet, client)
    if handle == GONE or not is_unchanged(bullet, handle, census):
        return UNSEEN
    return hurrying(twists, reach, h)


class Shortcut:
    """One of these functions, with its arguments for as long as they are the same arrays."""

    def __init__(self, function: Any) -> None:
        self._function = function
        self._made_for: tuple[Any, ...] = ()
        self._call: Callable[[], int] | None = None

    def __call__(self, made_for: tuple[Any, ...], arguments: Callable[[], tuple[Any, ...]]) -> int:
        """Run it; ``arguments`` are asked for where ``made_for`` is not what it was."""
        if self._call is None or made_for != self._made_for:
            self._call, self._made_for = self._function.bind(*arguments()).holding(), made_for
        return self._call()
