"""What a simulation's timesteps meet: asked of whatever surrounds it, or kept from earlier in the same call."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, NamedTuple, cast

from recursive_dyn.codegen.compiled import Floats, Integers
from recursive_dyn.contact.contact_buffer import ContactBuffer
from recursive_dyn.contact.contacts import Contacts
from recursive_dyn.contact.settings import Settings
from recursive_dyn.errors import StateError
from recursive_dyn.simulation.bounds import UNKNOWN, Bounds
from recursive_dyn.simulation.present import Present
from recursive_dyn.simulation.stepping.parts_of_flight import AT_ONCE, HALVES, TooFar
from recursive_dyn.simulation.surroundings import (
    ALONE,
    DirectSurroundings,
    Lookout,
    PlainDetector,
    Surrounded,
    Surroundings,
)

_NONE = Contacts.none()


class Kept(NamedTuple):
    """Contacts that were found ``since`` seconds ago, moved along with their bodies; asleep (nb,): 1 for those that
    slept then, whose contacts were not looked for."""

    contacts: Contacts
    since: float
    asleep: Integers


class Detection:
    """Of one simulation. surroundings: what may be touched, as ``surround`` was told; kept: contacts found earlier in
    this call of ``step`` or ``advance``, where they are found once in it; looked: those that are solved for, as
    surroundings found them that find Contacts."""

    def __init__(self) -> None:
        self.surroundings: Surroundings | None = None
        self._direct: DirectSurroundings | None = None
        self.looked = _NONE
        self.kept: Kept | None = None
        self._cut = False  # in a step that is cut into parts

    def __getstate__(self) -> dict[str, Any]:
        """Of a copy or a pickle: surroundings are of this process, unless they are a plain function."""
        travelling = self.surroundings if isinstance(self.surroundings, PlainDetector) else None
        return self.__dict__ | {"surroundings": travelling, "_direct": None}

    def surround(self, surroundings: Surroundings | None) -> None:
        """Other ones, or none."""
        self.surroundings = surroundings
        direct = hasattr(surroundings, "detect_into")  # a Protocol takes a hundred calls to say so
        self._direct = cast(DirectSurroundings, surroundings) if direct else None

    @property
    def calm(self) -> bool:
        """Whether nothing moves but the simulation's own bodies."""
        return self._direct is not None and self._direct.calm

    def lookout(self, present: Present | None, buffer: ContactBuffer, h: Floats, settings: Settings) -> Lookout | None:
        """What a step takes of the surroundings in machine code; None where they have none."""
        if self._direct is not None:
            return self._direct.lookout(present, buffer, h) if present and settings.detect == "step" else None
        return ALONE if self.surroundings is None else None

    @property
    def bounds(self) -> Bounds:
        """Boxes about all that may be touched, or UNKNOWN."""
        return UNKNOWN if self._direct is None else self._direct.bounds

    def look(self, simulation: Surrounded, buffer: ContactBuffer, settings: Settings, said: int | None) -> None:
        """Contacts where the flight led: found anew, or those kept, if it is not ``hurried``, moved along with their
        bodies.

        said: what a lookout's look into this buffer gave, if it was asked.
        """
        once = settings.detect == "frame"
        if self.surroundings is None:
            buffer.clear()
        elif once and self.kept is not None:
            self.looked = self.kept.contacts.moved(simulation.present.poses)
            self.kept = self.kept._replace(contacts=self.looked, since=self.kept.since + simulation.step_size)
            buffer.fill(self.looked)
        elif self._direct is not None:
            if said is None:
                buffer.clear()
                self._direct.detect_into(simulation, buffer)
            else:
                self._direct.look_on(said, simulation, buffer)
            self._keep(simulation.present, buffer.contacts() if once else None)
        else:
            contacts = self.surroundings.detect(simulation)
            if not isinstance(contacts, Contacts):
                raise StateError(f"a simulation's detect returns Contacts, not {type(contacts).__name__}")
            if not contacts.trusted:
                contacts.check(len(simulation.dynamics.bodies))
            self.looked = contacts
            self._keep(simulation.present, contacts if once else None)
            buffer.fill(contacts)

    def _keep(self, present: Present, found: Contacts | None) -> None:
        """Keep what was found now, if anything is to be kept."""
        self.kept = None if found is None else Kept(found.located(present.poses), 0.0, present.asleep.copy())

    def _holds(self, simulation: Surrounded, h: float) -> bool:
        """Whether what was found earlier in this call is all that is near after h seconds more. It is forgotten where
        others may have come near: in a step that is cut, as something is fast, or after a time in which something gets
        too far into anything; and where anything woke since."""
        kept, surroundings = self.kept, self.surroundings
        holds = (
            kept is not None
            and surroundings is not None
            and not (self._cut or len(kept.contacts.free) or (kept.asleep > simulation.present.asleep).any())
            and surroundings.substeps(simulation, kept.since + h) <= 1
        )
        self.kept = kept if holds else None
        return holds

    def tell(self, simulation: Surrounded, buffer: ContactBuffer, h: float) -> None:
        """Let the surroundings move what is theirs, after the solve of a step of h seconds."""
        if self._direct is not None:
            self._direct.advance(simulation, buffer.contacts() if len(buffer.free) else _NONE, h)
        elif self.surroundings is not None:
            looked, table, n = self.looked, buffer.table, len(self.looked)
            looked.impulse[:], looked.moment[:] = table.impulses[:n], table.moments[:n]
            looked.distance[:] = table.gaps[:n]
            # behind them are those that were found elsewhere in the step
            self.surroundings.advance(simulation, looked if n == buffer.count else buffer.contacts(), h)

    def hurried(
        self, simulation: Surrounded, settings: Settings, h: float, more: int, parts: int, room: bool
    ) -> bool:  # fmt: skip
        """Whether h seconds, a part of a step that has so many, lead too far into something at once, though there is no
        room for more of them; TooFar if there is. more: parts but one that a lookout asks for, or a negative number.
        What does not lead too far since contacts were found that are kept does not do so in a step.

        What is met is met by as short parts as it takes, where these are few; else it is halved.
        """
        if self.surroundings is None:
            return False
        if (settings.detect == "frame" and self._holds(simulation, h)) or settings.substeps == 1:
            return False
        wanted = 1 + more if more > 0 else self.surroundings.substeps(simulation, h)
        if wanted > 1 and room:
            raise TooFar(wanted if parts == 1 and wanted <= min(settings.substeps, AT_ONCE) else HALVES)
        return wanted > 1

    @contextmanager
    def together(self) -> Iterator[None]:
        """A context around a step that is cut into parts."""
        self._cut = True
        try:
            with nullcontext() if self.surroundings is None else self.surroundings.atomic():
                yield
        finally:
            self._cut = False

    def forget(self, simulation: Surrounded) -> None:
        """Let the surroundings remember nothing, as a snapshot does not hold it."""
        if self.surroundings is not None:
            self.surroundings.forget(simulation)
