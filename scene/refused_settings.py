"""What is said to somebody who sets what a body does not have, or does not let be set."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from recursive_dyn.errors import ModelError

_MASSES = frozenset(("mass", "center_of_mass", "inertia", "density"))
_LOOKS = frozenset(("color", "colour", "material", "friction", "restitution", "visual", "collision"))
_PLACES = frozenset(("position", "rotation", "pose", "at", "velocity", "spin", "orientation", "placement"))
_LIMITS = frozenset(("limits", "damping", "stiffness", "armature", "q", "v"))


def refused(body: str, setting: str, known: Iterable[str]) -> ModelError:
    """The error for setting this of a body; known: names that it has."""
    given = f"'{setting}' of body '{body}' cannot be set"
    if setting in _MASSES:
        return ModelError(
            f"{given}: a body keeps the masses that it was made with. Make it with Body('{body}', ..., mass=m,"
            f" inertia=...) of symbols m = scene.parameter('m', 1.0), which simulation.parameters['m'] then changes at"
            " any time, or exchange all of them, body.properties = dataclasses.replace(body.properties, ...), and"
            " update what runs"
        )
    if setting in _LOOKS:
        return ModelError(
            f"{given}: its shapes have it. Write shapes.Box((1, 1, 1), {_ARGUMENT.get(setting, setting + '=...')}), or"
            f" exchange one, body.shapes[0] = dataclasses.replace(body.shapes[0], ...), and call mirror.update()"
        )
    if setting in _PLACES:
        return ModelError(
            f"{given}: where it starts is said when it is hung, parent.attach(body, joint, at=rd.pose(...)); a running"
            f" simulation moves it, simulation.place('{body}', rd.pose(...))"
        )
    if setting in _LIMITS:
        return ModelError(
            f"{given}: its joint has it, as in joints.revolute('y', limits=(-1, 1), damping=0.1); the state is"
            " simulation.q and simulation.v"
        )
    near = difflib.get_close_matches(setting, [name for name in known if not name.startswith("_")], 1)
    meant = f"did you mean '{near[0]}'?" if near else "a subclass of Body declares attributes of its own"
    return ModelError(f"body '{body}' has no '{setting}'; {meant}")


_ARGUMENT = {
    "color": "color=(1, 0, 0, 1)", "colour": "color=(1, 0, 0, 1)", "friction": "material=rd.Material(friction=0.8)",
    "restitution": "material=rd.Material(restitution=0.5)", "material": "material=rd.Material(friction=0.8)",
    "visual": "visual=False", "collision": "collision=False",
}  # fmt: skip
