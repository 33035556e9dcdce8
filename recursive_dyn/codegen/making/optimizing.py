"""What is not compiled yet runs at once, in a plain way, and gets faster while it runs, by code from another process.

LLVM takes seconds to simplify the larger loops and a twentieth of that to write them down as they stand; programs can
be interpreted (``interpreting.interpreter``). So the first call of what no cache knows is plain; a process of its own,
as LLVM lets one thread at a time in, makes the better code, keeps it in the cache and hands it over. Whatever calls a
loop asks for its code anew at each call (``loops.calling.Bound``), a program's table says what runs, and both ways give
the same results bit for bit, so that nobody can tell when it happens.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO, Protocol

from recursive_dyn.codegen.making import cache, jit
from recursive_dyn.codegen.making.building import building
from recursive_dyn.codegen.making.progress import waiting
from recursive_dyn.codegen.making.turns import giving_way

SHORT = 4000  # statements of a program, which take a tenth of a second to compile: those of a robot
GATHERING = 0.2  # s without a wish after the last one: few processes come, and none beside what still makes wishes
_PATIENCE = 20  # times so long, after which they are seen to although others come
_HEAD = struct.Struct("<Q")  # bytes of an object that follow
_PROGRAM = """
import os
if hasattr(os, "nice"):
    os.nice(10)  # the program that waits for it goes first, from the first import on
from recursive_dyn.codegen.making.optimizing import serve
serve()
from recursive_dyn.codegen.forests.forest_kernel import compile_common
compile_common()  # what the next scene may need at once
"""


class Work(Protocol):
    """What code is made from; it can be pickled."""

    def packed(self) -> bytes:
        """The code as a cache entry, as good as it gets."""
        ...


@dataclass(frozen=True)
class LoopsCode:
    """The IR text of compiled loops."""

    text: str

    def packed(self) -> bytes:
        """The code as a cache entry, optimized."""
        return jit.pack([jit.compile_loops(self.text, jit.FULL)], {})


@dataclass(frozen=True, eq=False)
class Wish:
    """Code of ``work()`` for the cache's ``key``; ``take`` is given it. index: another key, that leads to this one."""

    key: str
    work: Callable[[], Work]
    take: Callable[[jit.Native], None]
    index: str = ""


def begin(key: str, text: Callable[[], str], take: Callable[[jit.Native], None]) -> None:
    """Give ``take`` code of the loops ``text()`` that runs now; the optimized one is given later, unless
    ``$RECURSIVE_DYN_EFFORT`` says 0."""
    text = lru_cache(maxsize=1)(text)  # it is needed again
    take(jit.native(cache.key_of("plain", key), lambda: [jit.compile_loops(text(), 0)]))
    if jit.effort():
        add(Wish(key, lambda: LoopsCode(text()), take))


def add(wish: Wish) -> None:
    """Have a wish granted in the background."""
    _WORKER.add(wish)


def hurry() -> None:
    """From now on something runs that must not wait, as a scene that is edited: the shortest program is made later."""
    _WORKER.hurried = True


def is_worth_waiting_for(statements: int) -> bool:
    """Whether the machine code of so long a program is made while its first caller waits, who then measures no less."""
    return statements <= SHORT and not _WORKER.hurried


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
        self.hurried = False

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

    def _gather(self) -> None:
        """Wait until no more wishes come: who makes them needs the processor, as does the program it makes them for."""
        for _ in range(_PATIENCE):
            known = len(self._wishes)
            time.sleep(GATHERING)
            if len(self._wishes) == known:
                return

    def _run(self) -> None:
        while True:
            self._gather()
            with self._lock:
                wishes, self._wishes = self._wishes, []
            with giving_way(), contextlib.suppress(Exception):  # what cannot be made better runs on as it is
                self._grant(wishes)
            with self._lock:
                if not self._wishes or self._over:
                    self._thread = None
                    return

    def _grant(self, wishes: list[Wish]) -> None:
        for wish in wishes:  # here, as files take milliseconds that who wishes has not
            if wish.index:
                cache.store(wish.index, wish.key.encode())
        for wish, entry in zip(wishes, [] if self._over else _optimized(wishes), strict=False):
            with building():  # no fork happens meanwhile, and no end of the program
                if not self._over:
                    wish.take(jit.load(entry))


def _optimized(wishes: list[Wish]) -> Iterator[bytes]:
    """A cache entry for each wish, from a process as soon as it has it, or, where there can be none, made here."""
    done = 0
    with contextlib.suppress(OSError, ValueError, TypeError, struct.error):
        for entry in _elsewhere(wishes):
            yield entry
            done += 1
    for wish in wishes[done:]:
        yield _made(wish.key, wish.work())


def _elsewhere(wishes: list[Wish]) -> Iterator[bytes]:
    """A cache entry for each wish, as far as a process of its own answers; OSError where there can be none."""
    if getattr(sys, "frozen", False) or not Path(sys.executable or "").name.startswith("python"):
        raise OSError("there is no Python to run: the executable is a program of its own, as a game is")
    asked = pickle.dumps([(wish.key, wish.work()) for wish in wishes])
    paths = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path), "RECURSIVE_DYN_PROGRESS": "off"}
    # Ctrl-C is not meant for it, and it ends soon by itself.
    with subprocess.Popen(
        [sys.executable, "-P", "-c", _PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, env=os.environ | paths, start_new_session=True,
    ) as process:  # fmt: skip
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(asked)
        process.stdin.close()
        yield from _answers(process.stdout)


def _answers(stream: IO[bytes]) -> Iterator[bytes]:
    """What ``serve`` writes, one after the other, as far as it is whole."""
    while len(head := stream.read(_HEAD.size)) == _HEAD.size:
        entry = stream.read(size := _HEAD.unpack(head)[0])
        if len(entry) < size:
            return
        yield entry


def _made(key: str, work: Work) -> bytes:
    return cache.stored(key, work.packed())


def serve() -> None:
    """What the process does: read wishes, keep each one's code in the cache, and write it."""
    for key, work in pickle.load(sys.stdin.buffer):
        entry = jit.known(key) or _made(key, work)
        with contextlib.suppress(OSError):  # who asked may be gone; the next one finds it in the cache
            sys.stdout.buffer.write(_HEAD.pack(len(entry)) + entry)
            sys.stdout.buffer.flush()


_WORKER = _Worker()
atexit.register(lambda: _WORKER.stop())


def _forget() -> None:
    """In the child of a fork, which has none of the threads."""
    global _WORKER
    _WORKER = _Worker()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
