"""What takes long is told while it lasts, on standard error: what is waited for, how much of it is done, for how long.

On a terminal it is one line, with a bar where the share is known, that is drawn again and wiped out at the end;
elsewhere there is one line when it begins and one when it ends. Whatever is done in a moment prints nothing.
``$RECURSIVE_DYN_PROGRESS``, set to "off", silences all of it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

Item = TypeVar("Item")
PATIENCE = 0.3  # s that pass without a word
REFRESH = 0.2  # s between two drawings of the line
BAR = 24  # characters


@dataclass(eq=False)
class _Wait:
    what: str
    start: float = field(default_factory=time.monotonic)
    share: float | None = None

    def __str__(self) -> str:
        if self.share is None:
            return self.what
        done = round(BAR * min(max(self.share, 0.0), 1.0))
        return f"{self.what} [{'#' * done}{'.' * (BAR - done)}] {100.0 * self.share:.0f} %"


class _Line:
    """Everything that is waited for at present, the innermost last, and the thread that tells of it."""

    def __init__(self) -> None:
        self.lock = threading.RLock()  # held while writing, so that no fork happens within
        self._waits: list[_Wait] = []
        self._over = threading.Event()
        self._drawn = 0  # characters of the line on the terminal
        self._begun: _Wait | None = None  # whose beginning was printed where there is no terminal

    def begin(self, wait: _Wait) -> None:
        with self.lock:
            self._waits.append(wait)
            if len(self._waits) == 1:
                self._over = threading.Event()
                threading.Thread(target=self._tell, args=(self._over,), name="progress", daemon=True).start()

    def end(self, wait: _Wait) -> None:
        with self.lock:
            self._waits = [other for other in self._waits if other is not wait]
            if not self._waits:
                self._over.set()
                self._wipe()
                self._print_end()

    def _tell(self, over: threading.Event) -> None:
        pause = PATIENCE
        while not over.wait(pause):
            with self.lock:
                if over.is_set():
                    return
                with contextlib.suppress(OSError, ValueError, AttributeError):  # standard error is closed, or None
                    if not sys.stderr.isatty():
                        self._begun = self._waits[0]
                        sys.stderr.write(f"recursive_dyn: {_joined(wait.what for wait in self._waits)} ...\n")
                        sys.stderr.flush()
                        return
                    self._draw()
            pause = REFRESH

    def _draw(self) -> None:
        text = f"{_joined(map(str, self._waits))}, {time.monotonic() - self._waits[0].start:.0f} s"
        text = text[: shutil.get_terminal_size().columns - 1]
        sys.stderr.write("\r" + text.ljust(self._drawn))
        sys.stderr.flush()
        self._drawn = len(text)

    def _print_end(self) -> None:
        begun, self._begun = self._begun, None
        if begun is not None:
            with contextlib.suppress(OSError, ValueError, AttributeError):
                sys.stderr.write(f"recursive_dyn: {begun.what}, {time.monotonic() - begun.start:.1f} s\n")
                sys.stderr.flush()

    def _wipe(self) -> None:
        if self._drawn:
            with contextlib.suppress(OSError, ValueError, AttributeError):
                sys.stderr.write("\r" + " " * self._drawn + "\r")
                sys.stderr.flush()
            self._drawn = 0


def _joined(names: Iterable[str]) -> str:
    return ": ".join(dict.fromkeys(names))  # what waits for a part of the same name says so once


_LINE = _Line()


def _forget() -> None:
    """In the child of a fork, which has none of the threads."""
    global _LINE
    _LINE = _Line()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=lambda: _LINE.lock.acquire(), after_in_parent=lambda: _LINE.lock.release(), after_in_child=_forget
    )


@contextmanager
def waiting(what: str) -> Iterator[Callable[[float], None]]:
    """Tell that ``what`` goes on, should it last; yields a function to be called with the share done, 0 to 1.

    Within another one it is a part of that: both are told, on the same line.
    """
    if os.environ.get("RECURSIVE_DYN_PROGRESS") == "off":
        yield lambda share: None
        return
    wait = _Wait(what)
    _LINE.begin(wait)
    try:
        yield lambda share: setattr(wait, "share", share)
    finally:
        _LINE.end(wait)


def each(items: Iterable[Item], what: str, total: int | None = None) -> Iterator[Item]:
    """The items one after the other, while it is told how much of them is done: ``what`` and a bar, should it last.

    total: how many there will be of what has no length.
    """
    known = items if total is not None else list(items)
    count = len(known) if isinstance(known, list) else total or 0
    with waiting(what) as share:
        for k, item in enumerate(known):
            share(k / count)
            yield item
