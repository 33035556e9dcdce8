"""Compiled loops run at once, as plain machine code, and get faster while they run, by code from another process.

LLVM takes seconds to simplify the larger loops and a twentieth of that to write them down as they stand. So the first
call of a loop that no cache knows is of plain code; a process of its own, as LLVM lets one thread at a time in, makes
the better one, keeps it in the cache and hands it over. Whatever calls a loop asks for its code anew at each call
(``loops.calling.Bound``), and both give the same results bit for bit, so that nobody can tell when it happens.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from recursive_dyn.codegen import cache, jit
from recursive_dyn.codegen.building import building
from recursive_dyn.codegen.progress import waiting

GATHERING = 0.2  # s after the first wish, in which others come, so that few processes do
_HEAD = struct.Struct("<Q")  # bytes of an object that follow
_PROGRAM = "from recursive_dyn.codegen.optimizing import serve; serve()"


@dataclass(frozen=True, eq=False)
class Wish:
    """Code of the IR ``text()`` for the cache's ``key``; ``take`` is given it, the plain one first."""

    key: str
    text: Callable[[], str]
    take: Callable[[jit.Native], None]


def begin(wish: Wish) -> None:
    """Give code that runs now; the optimized one is given later, unless ``$RECURSIVE_DYN_EFFORT`` says 0."""
    wish = replace(wish, text=lru_cache(maxsize=1)(wish.text))  # it is needed again
    wish.take(jit.native(cache.key_of("plain", wish.key), lambda: [jit.compile_loops(wish.text(), 0)]))
    if jit.effort():
        _WORKER.add(wish)


def finish() -> None:
    """Wait until everything that was called so far is optimized."""
    with waiting("optimizing loops"):
        _WORKER.join()


class _Worker:
    """Wishes that are not yet granted, and the thread that sees to them while there are any."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wishes: list[Wish] = []
        self._thread: threading.Thread | None = None
        self._over = False

    def add(self, wish: Wish) -> None:
        with self._lock:
            self._wishes.append(wish)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="optimizing", daemon=True)
                self._thread.start()

    def join(self) -> None:
        while True:
            with self._lock:
                thread = self._thread
            if thread is None:
                return
            thread.join(0.1)  # not for ever: Ctrl-C must be heard

    def stop(self) -> None:
        """At the program's end: nothing is loaded any more, and the one that is being loaded is waited for."""
        self._over = True
        with building():
            pass

    def _run(self) -> None:
        time.sleep(GATHERING)
        while True:
            with self._lock:
                wishes, self._wishes = self._wishes, []
                if not wishes or self._over:
                    self._thread = None
                    return
            with contextlib.suppress(Exception):  # what cannot be made better runs on as it is
                for wish, code in zip(wishes, _optimized(wishes), strict=True):
                    with building():  # no fork happens meanwhile, and no end of the program
                        if not self._over:
                            wish.take(jit.load_objects([code], {}))


def _optimized(wishes: list[Wish]) -> list[bytes]:
    """Object code for each wish, from a process, or, where there can be none, made here."""
    asked = json.dumps([[wish.key, wish.text()] for wish in wishes]).encode()
    paths = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path), "RECURSIVE_DYN_PROGRESS": "off"}
    try:
        if getattr(sys, "frozen", False) or not Path(sys.executable or "").name.startswith("python"):
            raise OSError("there is no Python to run: the executable is a program of its own, as a game is")
        # Ctrl-C is not meant for it, and it ends soon by itself.
        done = subprocess.run(
            [sys.executable, "-P", "-c", _PROGRAM], input=asked, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env=os.environ | paths, start_new_session=True, check=True,
        )  # fmt: skip
        codes = _split(done.stdout)
    except (OSError, ValueError, TypeError, subprocess.SubprocessError):
        codes = []
    return codes if len(codes) == len(wishes) else [_made(wish.key, wish.text()) for wish in wishes]


def _split(answer: bytes) -> list[bytes]:
    codes, start = [], 0
    while start + _HEAD.size <= len(answer):
        (size,) = _HEAD.unpack_from(answer, start)
        codes.append(answer[start + _HEAD.size : start + _HEAD.size + size])
        start += _HEAD.size + size
    return codes


def _made(key: str, text: str) -> bytes:
    code = jit.compile_loops(text, jit.FULL)
    cache.store(key, jit.pack([code], {}))
    return code


def serve() -> None:
    """What the process does: read wishes, keep each one's code in the cache, and write them all."""
    if hasattr(os, "nice"):
        os.nice(5)  # the program that waits for it goes first
    codes = [_known(key) or _made(key, text) for key, text in json.loads(sys.stdin.buffer.read())]
    with contextlib.suppress(OSError):  # who asked may be gone; the next one finds them in the cache
        sys.stdout.buffer.write(b"".join(_HEAD.pack(len(code)) + code for code in codes))
        sys.stdout.buffer.flush()


def _known(key: str) -> bytes | None:
    """What another process has made meanwhile."""
    payload = cache.load(key)
    try:
        return None if payload is None else jit.unpack(payload)[0][0]
    except (struct.error, ValueError, KeyError, TypeError, IndexError):
        return None


_WORKER = _Worker()
atexit.register(lambda: _WORKER.stop())


def _forget() -> None:
    """In the child of a fork, which has none of the threads."""
    global _WORKER
    _WORKER = _Worker()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
