"""Threads that compute in Python in the background, and let others have their turn 5000 times a second meanwhile.

Python has threads take turns every 5 ms, which is what a step would wait for each time it comes back from machine code
that others may run beside: of a frame of 16 ms that is all.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_TURNS = 2e-4  # s after which a thread that computes in Python lets another one do so


class _Turns:
    """How many threads compute in the background; before: the interval of turns while there are none, s."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.count, self.before = 0, sys.getswitchinterval()

    def change(self, by: int) -> None:
        with self.lock:
            if not self.count:
                self.before = sys.getswitchinterval()
            self.count += by
            sys.setswitchinterval(min(self.before, _TURNS) if self.count else self.before)


_now = _Turns()


@contextmanager
def giving_way() -> Iterator[None]:
    """Around what a thread computes in the background; several may be in it at a time."""
    turns = _now
    turns.change(1)
    try:
        yield
    finally:
        turns.change(-1)


def _forget() -> None:
    """In the child of a fork, which has none of the threads."""
    global _now
    if _now.count:
        sys.setswitchinterval(_now.before)
    _now = _Turns()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
