"""Ctrl-C between steps, not in them: an interrupt finds the state of a finished step."""

from __future__ import annotations

import threading

# ``signal`` looks every handler up among enumerations first, which takes longer than many a step
from _signal import getsignal, signal  # type: ignore[import-not-found]
from signal import SIGINT
from types import FrameType
from typing import Any

_INTERRUPT = int(SIGINT)


class Held:
    """A context in which Ctrl-C waits: what SIGINT does otherwise, it does at the context's end.

    Where Python would not run a handler (outside the main thread, or with the system's own in force) it changes
    nothing. Contexts may be nested; the outermost one decides, but where it is opened.
    """

    __slots__ = ("_handler", "_noted", "_open")

    def __enter__(self) -> Held:
        self._noted: tuple[int, FrameType | None] | None = None
        self._handler: Any = None
        self._open = False
        if threading.current_thread() is threading.main_thread():
            handler = getsignal(_INTERRUPT)
            if callable(handler):
                self._handler = handler
                signal(_INTERRUPT, self._note)
        return self

    def _note(self, number: int, frame: FrameType | None) -> None:
        if not self._open:
            self._noted = number, frame
            return
        self._open = False  # before it raises: whatever cleans up then is not interrupted again
        self._handler(number, frame)
        self._open = True  # it raised nothing

    def serve(self) -> None:
        """Where an interrupt that waits is taken now."""
        if self._noted is not None and self._handler is not None:
            noted, self._noted = self._noted, None
            self._handler(*noted)

    def opened(self) -> Opened:
        """A context within this one in which Ctrl-C waits for the contexts within it only.

        It closes at the first interrupt, so that a ``finally`` around it, within this context, runs undisturbed.
        """
        return Opened(self)

    def __exit__(self, *exception: object) -> None:
        if self._handler is not None:
            signal(_INTERRUPT, self._handler)
            if self._noted is not None:
                self._handler(*self._noted)


class Opened:
    """What ``Held.opened`` gives."""

    __slots__ = ("_held",)

    def __init__(self, held: Held) -> None:
        self._held = held

    def __enter__(self) -> None:
        self._held._open = True

    def __exit__(self, *exception: object) -> None:
        self._held._open = False
