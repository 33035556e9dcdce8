"""Names of the rows that joints between free bodies may be in the solve of a step's impulses."""

from __future__ import annotations

from recursive_dyn.dynamics.turn_rows import KINDS
from recursive_dyn.maximal.joint_rows.motion_rows import binding_rows
from recursive_dyn.model import limits
from recursive_dyn.model.ball_limits import ball_limits
from recursive_dyn.model.model import Model


def held_names(model: Model) -> tuple[str, ...]:
    """What the rows are called that joints of a reduced model may be, by number."""
    names = model.velocity_names
    stops = [names[s] for s in limits.limited(model).slots.tolist()]
    rough = [names[s] for s in limits.rubbing(model).slots.tolist()]
    return (
        *(f"joint of {link.name}, row {k}" for link in model.links for k in range(6)),
        *(f"constraint {c.name}, row {k}" for c in binding_rows(model) for k in range(6)),
        *(f"low limit of {name}" for name in stops), *(f"high limit of {name}" for name in stops),
        *(f"friction of {name}" for name in rough), *(f"motor of {name}" for name in names),
        *(what + names[s] for what in KINDS for s in ball_limits(model).slots.tolist()),
    )  # fmt: skip
