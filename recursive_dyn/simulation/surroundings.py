"""What surrounds a simulation: it finds what touches, says how finely steps must be cut, and moves what is its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple, Protocol, runtime_checkable

from recursive_dyn.codegen.compiled import Floats
from recursive_dyn.codegen.loops.calling import Bound
from recursive_dyn.contact.contact_buffer import ContactBuffer
from recursive_dyn.contact.contacts import Contacts
from recursive_dyn.simulation.bounds import UNKNOWN, Bounds
from recursive_dyn.simulation.moving import Moving
from recursive_dyn.simulation.present import Present

Detector = Callable[[Any], Contacts]


class Surroundings(Protocol):
    """What a simulation's bodies may touch. What it raises undoes the step."""

    def detect(self, simulation: Any) -> Contacts:
        """Contacts at the simulation's present state: where a step, or a part of one, ends if nothing touches."""
        ...

    def substeps(self, simulation: Any, h: float) -> int:
        """Parts, at least 1, into which a step of h seconds must be cut so that nothing passes through anything: asked
        where it ends if nothing touches; with more than 1 it is taken anew, in so many or in halves, asked again."""
        ...

    def advance(self, simulation: Any, contacts: Contacts, h: float) -> None:
        """After the solve of a step of h seconds: move what is not the simulation's, ``contacts.free`` as solved."""
        ...

    def forget(self, simulation: Any) -> None:
        """Find contacts from now on as if nothing had been found before, at whatever state the simulation is in.

        A snapshot holds nothing of what surroundings remember: they forget it as one is taken, and as one is restored,
        so that both go on alike.
        """
        ...

    def atomic(self) -> AbstractContextManager[None]:
        """A context around a step that is cut into parts: left by an exception, what ``advance`` moved goes back."""
        ...


class Lookout(NamedTuple):
    """Surroundings in machine code, for steps in which they move nothing.

    haste: a call that gives by how much ``substeps`` is more than 1, or a negative number if that must be asked; look:
    one that writes contacts into a buffer, and gives 0 unless there is more to do. Both None where nothing can be
    touched. bounds: gives those of the surroundings.
    """

    haste: Bound | None = None
    look: Bound | None = None
    bounds: Callable[[], Bounds] = lambda: UNKNOWN


ALONE, NOT_KNOWN = Lookout(), -1


@runtime_checkable
class DirectSurroundings(Surroundings, Protocol):
    """Surroundings that write what touches where the solve reads it, so that no step makes objects of it."""

    @property
    def calm(self) -> bool:
        """Whether nothing moves but the simulation's own bodies, which may sleep then."""
        ...

    @property
    def bounds(self) -> Bounds:
        """Boxes about all that may be touched, the same ones as long as they hold, or UNKNOWN."""
        ...

    def lookout(self, present: Present, buffer: ContactBuffer, h: Floats) -> Lookout | None:
        """Calls for steps of length h (1,) of bodies where ``present`` has them, the same ones as long as they hold.

        None where there are none, or where something else moves.
        """
        ...

    def detect_into(self, simulation: Any, buffer: ContactBuffer) -> None:
        """``detect``, into a buffer: its table's rows and count, free bodies and their names; it may be made to grow.

        What is written is trusted. ``advance`` is given the contacts as solved where there are free bodies, else none.
        """
        ...

    def look_on(self, said: int, simulation: Any, buffer: ContactBuffer) -> None:
        """The rest of it, after a lookout's look into this buffer that gave another number than 0."""
        ...


@runtime_checkable
class NamingSurroundings(Surroundings, Protocol):
    """Surroundings that have names for what stands still in them."""

    def others(self, contacts: Contacts) -> Sequence[str]:
        """What B is called, of each of the contacts of the last step, where it is STATIC."""
        ...


@runtime_checkable
class Surrounded(Moving, Protocol):
    """What moves among surroundings and feels them, as a ``Simulation`` does.

    surroundings: None while nothing touches; contacts: of the last step, with their impulses; step_size: length of the
    step, or part of one, that is being taken, s; position_share: share of it by which positions follow a change of the
    velocity at its end; present: poses and twists of its bodies at the present state, in arrays that stay where they
    are; arrived: the same, asked right after a step.
    """

    surroundings: Surroundings | None

    def warm_up(self) -> None:
        """Compile, or load, all that steps may need."""
        ...

    @property
    def contacts(self) -> Contacts: ...

    @property
    def present(self) -> Present: ...

    @property
    def arrived(self) -> Present: ...

    @property
    def step_size(self) -> float: ...

    @property
    def position_share(self) -> float: ...


class PlainDetector:
    """A function detect(simulation) -> Contacts as surroundings: it cuts no steps and moves nothing."""

    def __init__(self, function: Detector) -> None:
        self.detect = function

    def substeps(self, simulation: Any, h: float) -> int:
        """One part: the step as it is."""
        return 1

    def advance(self, simulation: Any, contacts: Contacts, h: float) -> None:
        """Nothing is moved."""

    def forget(self, simulation: Any) -> None:
        """Nothing was remembered."""

    def atomic(self) -> AbstractContextManager[None]:
        """Nothing was moved, nothing goes back."""
        return nullcontext()
