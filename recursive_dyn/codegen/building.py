"""Building programs and machine code: one thread at a time, and without collections of garbage there is none of."""

from __future__ import annotations

import gc
import os
import threading

# A fork waits for it: a child would find the lock taken by a thread that it does not have.
_LOCK = threading.RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_LOCK.acquire, after_in_parent=_LOCK.release, after_in_child=_LOCK.release)


def occupied() -> bool:
    """Whether another thread is building something, for which this one would have to wait."""
    if _LOCK.acquire(blocking=False):
        _LOCK.release()
        return False
    return True


class building:
    """Everything that makes a graph, a program or machine code happens in this; it may be entered again."""

    def __enter__(self) -> None:
        _LOCK.acquire()
        self._collects = gc.isenabled()
        gc.disable()  # graphs hold a great many objects and no garbage: collections would only cost time

    def __exit__(self, *error: object) -> None:
        if self._collects:
            gc.enable()
        _LOCK.release()
