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


class uncollected:
    """Around what makes a great many objects and no garbage, as graphs are: collections would only cost time."""

    _lock, _count, _before = threading.Lock(), 0, True  # of all threads; whether there were collections before

    def __enter__(self) -> None:
        with self._lock:
            if not uncollected._count:
                uncollected._before = gc.isenabled()
                gc.disable()
            uncollected._count += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._end(max(uncollected._count - 1, 0))

    @classmethod
    def _end(cls, count: int) -> None:
        uncollected._count = count
        if not count and uncollected._before:
            gc.enable()

    @classmethod
    def after_fork(cls) -> None:
        """In the child, which has none of the other threads."""
        uncollected._lock = threading.Lock()
        if uncollected._count:
            cls._end(0)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=uncollected.after_fork)


class building(uncollected):
    """Everything that makes a graph, a program or machine code happens in this; it may be entered again."""

    def __enter__(self) -> None:
        _LOCK.acquire()
        super().__enter__()

    def __exit__(self, *error: object) -> None:
        super().__exit__()
        _LOCK.release()
