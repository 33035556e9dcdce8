"""What of a scene constraints know of, so that their check need not be made again where others come and go."""

from __future__ import annotations

from collections.abc import Sequence

from recursive_dyn.model.constraint import COORDINATE, RATE
from recursive_dyn.model.model import Model
from recursive_dyn.model.specification import BodySpec


def constrained(model: Model, specs: Sequence[BodySpec]) -> Sequence[BodySpec]:
    """Of the specifications of a model those of all that hangs, on the world, together with what constraints hold.

    All of them where bodies may know of each other otherwise, by coordinates that they share, or time.
    """
    if model.clock is not None or any(s.drive is not None or s.joint.charts or not s.plain for s in specs):
        return specs
    owner = {slot: link.name for link in model.links for slot in link.slots}
    touched = set[str]()
    for kind, *where in {node.args[0] for row in model.constraints for node in row.inputs}:
        if kind in (COORDINATE, RATE):  # of a place and a slot
            touched.add(owner[where[0][1]])
        elif kind != "parameter":
            touched.add(model.bodies[where[0]].name)
    roots = {spec.root for spec in specs if spec.name in touched}
    found = [spec for spec in specs if spec.root in roots]
    return found if len(found) < len(specs) else specs
