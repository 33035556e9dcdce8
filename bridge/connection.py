"""A Bullet connection: the caller's, or one of our own with or without a window."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from types import TracebackType

import numpy as np
import pybullet

from bridge.display import check_display, has_display
from bridge.outsiders import WORLD
from recursive_dyn.errors import StateError
from recursive_dyn.simulation.interrupts import Held

_numbers = count()
_felt: weakref.WeakValueDictionary[int, Connection] = weakref.WeakValueDictionary()  # by client
_open: weakref.WeakSet[Connection] = weakref.WeakSet()
_GROUPS = (4, *(1 << k for k in range(6, 15)))  # Bullet's collision groups that it uses for nothing, or hardly
_TOLD = 3  # names of a scene's bodies that stand for it


class Connection:
    """Bullet's client ``id``, and ``bodies``, made in it: each id with the name of what it stands for.

    ``group``: the collision group that moving bodies made here are in, no other's in this connection unless there are
    ten. ``marks``: each id with that of the user data by which Bullet knows it as ours, which say ``mark_words`` (k,),
    a text in words of 8 bytes with the zero at its end.

    Without ``client`` a new one is opened: with a window if ``gui``, or if gui is None and there are a display and no
    window yet. Who holds it, a ``holder`` by its class, keeps Bullet's world: once nobody does, the bodies go, and the
    connection if it is ours.
    Raises StateError where no connection is to be had.
    """

    def __init__(self, client: int | None, gui: bool | None, holder: str = "PyBulletMirror") -> None:
        self.owned, self._holder, self._closed = client is None, holder, False
        self.id = _opened(gui) if client is None else client
        self.bodies: dict[int, str] = {}
        self.marks: dict[int, int] = {}
        if not pybullet.isConnected(self.id):
            raise StateError(f"there is no Bullet connection {self.id}; pass what pybullet.connect returned")
        self.window = pybullet.getConnectionInfo(self.id)["connectionMethod"] == pybullet.GUI
        # Bullet gives ids of removed bodies and of closed connections to others: what is ours is known by its mark.
        self._mark = f"recursive-dyn {next(_numbers):017d}"
        self.mark_words = np.frombuffer(f"{self._mark}\0".encode(), dtype=np.int64)
        taken = {other.group for other in _open if other.id == self.id and other._release.alive}
        self.group: int = next((group for group in _GROUPS if group not in taken), _GROUPS[-1])
        _open.add(self)
        self._release: weakref.finalize[..., Connection] = weakref.finalize(
            self, _released, self.id, self.owned, self.bodies, self._mark
        )
        self._release.atexit = False  # connections end with the process

    def guard(self, hold: bool = True) -> Guard:
        """A context for calls of Bullet, which must not be interrupted: Ctrl-C waits for its end, if ``hold``.

        Raises StateError once the connection is gone, before or within it.
        """
        return Guard(self, hold)

    def check(self) -> None:
        """Raise StateError unless there is a connection."""
        if self._closed:
            raise StateError(f"this {self._holder} is closed; create a new {self._holder}")
        if not pybullet.isConnected(self.id):
            raise StateError(
                f"Bullet's connection {self.id} was disconnected or its window closed; close this {self._holder} and"
                f" create a new {self._holder}"
            )

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Let a window wait until many bodies are made, which is far faster."""
        if self.window:
            pybullet.configureDebugVisualizer(pybullet.COV_ENABLE_RENDERING, 0, physicsClientId=self.id)
        try:
            yield
        finally:
            if self.window and pybullet.isConnected(self.id):
                pybullet.configureDebugVisualizer(pybullet.COV_ENABLE_RENDERING, 1, physicsClientId=self.id)

    def add(self, body: int, name: str) -> None:
        """A body was made here."""
        self.bodies[body] = name
        self.marks[body] = pybullet.addUserData(body, self._mark, self._mark, physicsClientId=self.id)

    def check_alone(self) -> None:
        """Raise StateError where bodies that another simulation feels are in this connection.

        Each of two would take the other's bodies for walls that move, and momentum would be nobody's.
        """
        other = _felt.get(self.id)
        if other is not None and other is not self:
            del other
            gc.collect()  # it may be waiting for that only
        other = _felt.get(self.id)
        if other is not None and other is not self and other._release.alive and other.is_whole():
            names = [f"'{name}'" for name in dict.fromkeys(other.bodies.values()) if name != WORLD]
            told = ", ".join(names[:_TOLD]) + (f" and {len(names) - _TOLD} more" if len(names) > _TOLD else "")
            raise StateError(
                f"Bullet's connection {self.id} has a mirror whose bodies a simulation feels, that of the scene of"
                f" {told or 'no bodies'}: close it, put all bodies into one scene, let this mirror have a connection of"
                " its own (no client), or only show its bodies here (contact=False)"
            )

    def be_felt(self) -> None:
        """A simulation feels the bodies of this connection from now on."""
        _felt[self.id] = self

    def remove(self, body: int) -> None:
        """A body that was made here goes."""
        del self.bodies[body], self.marks[body]
        pybullet.removeBody(body, physicsClientId=self.id)

    def is_own(self, body: int) -> bool:
        """Whether this id still is a body that was made here."""
        return _is_marked(body, self._mark, self.id)

    def is_whole(self) -> bool:
        """Whether all bodies still are those that were made here."""
        mark, client = self._mark, self.id
        return all(pybullet.getUserDataId(body, mark, -1, -1, client) >= 0 for body in self.bodies)

    def close(self) -> None:
        """Remove the bodies and, if it is ours, the connection; harmless when repeated."""
        self._closed = True
        self._release()


class Guard:
    """What ``Connection.guard`` gives."""

    __slots__ = ("_connection", "_held", "_hold")

    def __init__(self, connection: Connection, hold: bool) -> None:
        self._connection, self._hold, self._held = connection, hold, Held()

    def __enter__(self) -> Held:
        self._connection.check()
        return self._held.__enter__() if self._hold else self._held

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._hold:
            self._held.__exit__()
        if isinstance(error, SystemError) and isinstance(error.__cause__, KeyboardInterrupt):
            raise error.__cause__  # Ctrl-C within one of Bullet's functions
        if isinstance(error, pybullet.error):
            self._connection.check()


def _is_marked(body: int, mark: str, client: int) -> bool:
    return bool(pybullet.getUserDataId(body, mark, -1, -1, client) >= 0)


def _released(client: int, owned: bool, bodies: Mapping[int, str], mark: str) -> None:
    if not pybullet.isConnected(client):
        return
    own = [body for body in bodies if _is_marked(body, mark, client)]
    if not owned:
        for body in own:
            pybullet.removeBody(body, physicsClientId=client)
    elif own or not bodies:
        pybullet.disconnect(client)


def _opened(gui: bool | None) -> int:
    wanted = has_display() if gui is None else gui
    if wanted:
        check_display("pass gui=False: mirror.image() draws without one")  # Bullet would end the process
        try:
            window: int = pybullet.connect(pybullet.GUI)
        except pybullet.error as problem:  # there is one window a process
            if gui:
                raise StateError(
                    f"Bullet opened no window ({problem}); close the other one, or pass gui=False"
                ) from None
        else:
            if window >= 0:
                return window
            if gui:
                raise StateError("Bullet opened no window; is there a display? Pass gui=False to do without")
    client: int = pybullet.connect(pybullet.DIRECT)
    if client < 0:
        raise StateError("Bullet has no connection left; close some mirrors")
    return client
