"""Bodies that stand alone, and what is known of each: only those are looked at that came, or are others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from recursive_dyn.model.model_parts import PartFacts
from recursive_dyn.model.splice import Splice


class Lone(NamedTuple):
    """A body that stands alone: on the world, on a joint of one chart that does not break, and nothing hangs on it.

    facts: what a model asks of it; act: of attachment.
    """

    facts: PartFacts
    act: int


class StandingAlone(NamedTuple):
    """Bodies on a world of which each stands alone, and what is known of each; changes: how many had been counted."""

    bodies: Sequence[Any]
    known: Sequence[Lone]
    facts: Sequence[PartFacts]
    changes: int

    @classmethod
    def among(
        cls, bodies: Sequence[Any], changes: int, before: StandingAlone | None, look: Callable[[Any], Lone | None]
    ) -> StandingAlone | None:
        """All of these, if each stands alone, else None; before: those that were found last; look: at one of which
        nothing is known."""
        if before is None or before.changes != changes:
            before = cls((), (), (), changes)
        first, _, came = splice = Splice.between(before.bodies, bodies)
        found, end = list[Lone](), splice.end
        for body in bodies[first : first + came]:
            known = body.lone or look(body)
            if known is None:
                return None
            found.append(known)
        facts = [known.facts for known in found]
        return cls(
            [*bodies], [*before.known[:first], *found, *before.known[end:]],
            [*before.facts[:first], *facts, *before.facts[end:]], changes,
        )  # fmt: skip
