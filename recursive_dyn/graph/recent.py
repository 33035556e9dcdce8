"""What was made or asked for of late, by key, shared by threads without a lock that a fork could leave taken.

Each operation on the dictionary is one that the interpreter does not interrupt; two threads that miss the same key at
once may both make its value, of which one is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Recent(Generic[Value]):
    """At most ``most`` values, or of that weight in all where ``weight`` says what one counts; the last one stays."""

    def __init__(self, most: int, weight: Callable[[Value], int] | None = None) -> None:
        self._most, self._weight, self._total = most, weight, 0  # of all weights, or above it, until they are counted
        self._known: dict[Hashable, Value] = {}

    def __len__(self) -> int:
        return len(self._known)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._known

    def get(self, key: Hashable) -> Value | None:
        """What is known of a key, the last one now to be forgotten."""
        found = self._known.pop(key, None)
        if found is not None:
            self._known[key] = found
        return found

    def keep(self, key: Hashable, value: Value) -> Value:
        """Keep this, or what another thread has kept meanwhile: that which is kept."""
        kept = self._known.setdefault(key, value)
        if self._weight is not None:
            self._total += self._weight(kept)
            if self._total <= self._most:
                return kept
        self._forget()
        return kept

    def of(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """What is known of a key, made where nothing is."""
        found = self.get(key)
        return self.keep(key, make()) if found is None else found

    def clear(self) -> None:
        """Forget all."""
        self._known.clear()
        self._total = 0

    def _forget(self) -> None:
        """The oldest ones go where there are too many."""
        if self._weight is None:
            spare = len(self._known) - self._most
            if spare > 0:
                for key in list(self._known)[:spare]:
                    self._known.pop(key, None)
            return
        weights = [(key, self._weight(value)) for key, value in list(self._known.items())]
        total = sum(weight for _, weight in weights)
        for key, weight in weights[:-1]:
            if total <= self._most:
                break
            self._known.pop(key, None)
            total -= weight
        self._total = total
