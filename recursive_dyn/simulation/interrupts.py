"""Ctrl-C between steps, not in them: an interrupt finds the state of a finished step."""

from __future__ import annotations

import threading

# ``signal`` looks every handler up among enumerations first, which takes longer than many a step
from _signal import getsignal, signal  # type: ignore[import-not-found]
from signal import SIGINT
from types import FrameType, MethodType
from typing import Any

_INTERRUPT = int(SIGINT)


class Held:
    """A context in which Ctrl-C waits: what SIGINT does otherwise, it does at the context's end, or at ``serve``.

    Where Python would not run a handler (outside the main thread, or with the system's own in force) it changes
    nothing. Contexts may be nested; the outermost one decides, but where it is opened.
    """

    __slots__ = ("_closed", "_handler", "_noted", "_open", "_outer", "_was_open")

    def __enter__(self) -> Held:
        self._noted: tuple[int, FrameType | None] | None = None
        self._handler: Any = None
        self._open = self._closed = False
        self._outer: Held | None = None
        if threading.current_thread() is threading.main_thread():
            handler = getsignal(_INTERRUPT)
            if type(handler) is MethodType and type(handler.__self__) is Held:
                # it notes already; where it is opened it waits for this context as well
                self._outer = handler.__self__
                self._was_open, self._outer._open = self._outer._open, False
            elif callable(handler):
                self._handler = handler
                signal(_INTERRUPT, self._note)
        return self

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._noted = number, frame
        if self._open:
            self._take()

    def _take(self) -> None:
        """Do what an interrupt that waits asks for."""
        noted, self._noted = self._noted, None
        if noted is not None:
            was_open = self._open
            self._open, self._closed = False, True  # before it raises: what cleans up then is not interrupted again
            self._handler(*noted)
            self._open, self._closed = was_open, False  # it raised nothing

    def serve(self) -> None:
        """Where an interrupt that waits may be taken now: nothing here is half done."""
        outer = self._outer
        if outer is None:
            if self._noted is not None:
                self._take()
        elif self._was_open:
            outer._take()

    def let(self, opened: bool) -> None:
        """Open, or close."""
        if self._outer is None:
            self._open = opened
        elif self._was_open and not self._outer._closed:
            self._outer._open = opened

    def opened(self) -> Opened:
        """A context within this one in which Ctrl-C waits for the contexts within it only.

        It closes at the first interrupt, so that a ``finally`` around it, within this context, runs undisturbed.
        """
        return Opened(self)

    def __exit__(self, *exception: object) -> None:
        if self._outer is not None:
            if self._was_open and not self._outer._closed:
                self._outer._open = True
                self._outer._take()
        elif self._handler is not None:
            signal(_INTERRUPT, self._handler)
            if self._noted is not None:
                self._take()


class Opened:
    """What ``Held.opened`` gives."""

    __slots__ = ("_held",)

    def __init__(self, held: Held) -> None:
        self._held = held

    def __enter__(self) -> None:
        self._held.let(True)

    def __exit__(self, *exception: object) -> None:
        self._held.let(False)
