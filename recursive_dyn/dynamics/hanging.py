"""How the bodies of a scene hang: by which act of attachment, and what their joints bear; and how to take them apart.

Simulations read it: what was hung anew goes on from where it was, and joints that bear no more are cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, NamedTuple


class Strength(NamedTuple):
    """What a joint transmits at most: a force, N, and a moment about its body's origin, N m; infinite: anything."""

    force: float
    torque: float


class Bearing(NamedTuple):
    """What a constraint transmits at most: names of its rows, and the norm of their multipliers."""

    rows: tuple[str, ...]
    force: float


@dataclass(frozen=True, eq=False)
class Hanging:
    """Of the scene that equations were compiled from.

    scene: stands for it, and is no other's; acts (nb,): numbers of the acts by which the bodies were attached, the same
    as long as nobody hangs them anew, told once somebody asks; strengths: by name of the body on the joint, of those
    that may break; bearing: of constraints that may, by name; cut: hangs bodies of these names free in the world, takes
    constraints of these names out, and returns what compiles the scene, by a method and its settings; without:
    dynamics, by these, of the scene as it would be then. None where nobody holds the scene, as in a pickle. joints: by
    name of a joint in the file that a robot was read from, the body that it moves; unheld: names a free body whose
    shapes scenery would hold, if there is any, where something finds contacts.
    """

    scene: object = None
    told: Callable[[], Sequence[int]] = tuple
    strengths: Mapping[str, Strength] = field(default_factory=dict)
    bearing: Mapping[str, Bearing] = field(default_factory=dict)
    cut: Callable[[Sequence[str], Sequence[str]], Callable[..., Any]] | None = None
    without: Callable[[Sequence[str], Sequence[str], str, Mapping[str, Any]], Any] | None = None
    joints: Mapping[str, str] = field(default_factory=dict)
    unheld: Callable[[], str | None] | None = None

    @cached_property
    def acts(self) -> Sequence[int]:
        """As ``told``."""
        return self.told()

    def __reduce__(self) -> Any:
        parts = None, partial(tuple, tuple(self.acts)), dict(self.strengths), dict(self.bearing), None, None
        return Hanging, (*parts, dict(self.joints))

    def meant(self, name: object, coordinates: Iterable[str]) -> str:
        """What is said of a name that is no coordinate: which of these the joint of that name has; "" for others."""
        body = self.joints.get(name) if isinstance(name, str) else None
        if body is None:
            return ""
        own = ", ".join(f"'{c}'" for c in coordinates if c == body or c.startswith(f"{body}."))
        return f". '{name}' is the joint of body '{body}': {own or 'it has no coordinate'}"


UNKNOWN = Hanging()
