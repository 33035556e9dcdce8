"""Lists of what a scene has by name: constraints and force elements, which come out by name, too."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeVar

from recursive_dyn.errors import ModelError


class Named(Protocol):
    """What has a name that no other in its list has."""

    @property
    def name(self) -> str:
        """The name."""


Part = TypeVar("Part", bound=Named)


class NamedParts(list[Part]):
    """A list of parts of a scene; ``what`` they are in messages."""

    def __init__(self, what: str, parts: Iterable[Part] = ()) -> None:
        super().__init__(parts)
        self.what = what

    def remove(self, part: Part | str) -> None:
        """Take out a part, or the one of that name. ModelError lists those that there are."""
        for k, known in enumerate(self):
            if known is part or (isinstance(part, str) and known.name == part):
                del self[k]
                return
        given = repr(part) if isinstance(part, str) else repr(getattr(part, "name", part))
        there = ", ".join(repr(known.name) for known in self)
        raise ModelError(
            f"there is no {self.what} {given} to be taken out of this scene, which has {there or 'none'}; give one of"
            " these names, or what the call returned that put it in"
        )
