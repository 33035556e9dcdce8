"""Threads that stand ready for machine code, which gives Python's lock up while it runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import lru_cache
from typing import TypeVar

from recursive_dyn.errors import ModelError

_R = TypeVar("_R")


@lru_cache(maxsize=1)
def cores() -> int:
    """Of the CPU, that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def threads() -> int:
    """How many to use at once: ``$RECURSIVE_DYN_THREADS``, or as many as there are cores; ModelError for no number."""
    chosen = os.environ.get("RECURSIVE_DYN_THREADS", "")
    if chosen and not (chosen.isdecimal() and int(chosen) > 0):
        raise ModelError(f"RECURSIVE_DYN_THREADS is '{chosen}': set how many threads a step may use, 1 for no others")
    return int(chosen) if chosen else cores()


@lru_cache(maxsize=1)
def pool() -> ThreadPoolExecutor:
    """Of this process: as many as there are cores."""
    return ThreadPoolExecutor(cores(), thread_name_prefix="recursive-dyn")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=pool.cache_clear)  # a child has none of its parent's threads


def at_once(calls: Sequence[Callable[[], _R]], count: int) -> list[_R]:
    """What calls give, the first of them in this thread, the others beside it if ``count`` is more than 1.

    All are over when it returns, and when an interrupt of this thread is passed on.
    """
    if count < 2 or len(calls) < 2:
        return [call() for call in calls]
    begun = list[Future[_R]]()
    try:
        for call in calls[1:]:
            begun.append(pool().submit(call))
    except RuntimeError:  # Python ends, and begins no more
        pass
    try:
        return [calls[0](), *(one.result() for one in begun), *(call() for call in calls[1 + len(begun) :])]
    finally:
        _await(begun)


def _await(begun: Sequence[Future[_R]]) -> None:
    interrupt: BaseException | None = None
    while not all(one.done() for one in begun):
        try:
            wait(begun)
        except BaseException as raised:
            interrupt = raised
    if interrupt is not None:
        raise interrupt
