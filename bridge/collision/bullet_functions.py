"""Where Bullet's C functions lie in this process, and whether they do what PyBullet does: else PyBullet must serve.

PyBullet's shared library exports them; the handle that they take stands in a static table, which only the library's
symbol table tells of. Whatever is missing, or differs in one bit from what PyBullet says of a scene of known contacts,
is a reason to do without.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache

import numpy as np
import pybullet

from bridge.collision import bullet_calls as calls
from bridge.collision.bullet_calls import Census, Functions
from bridge.collision.contact_points import RawPoints
from bridge.collision.placing import Placing, note_due
from bridge.collision.symbol_table import symbols
from recursive_dyn.spatial.algebra import pose

_TABLE = "sPhysicsClients1"
_NAMES = tuple(name for name in Functions._fields if name.startswith("b3"))
_METHODS = (pybullet.DIRECT, pybullet.GUI)  # connections within this process


def reached(client: int) -> Functions | None:
    """Bullet's functions, if they serve this connection; None where it must be spoken to through PyBullet."""
    bullet = functions()
    if bullet is None or pybullet.getConnectionInfo(client)["connectionMethod"] not in _METHODS:
        return None
    handle = calls.handle_of(bullet, client)
    ids = [pybullet.getBodyUniqueId(k, client) for k in range(pybullet.getNumBodies(client))]
    empty = np.zeros(0, dtype=np.int64)
    known = handle > 0 and calls.is_unchanged(bullet, handle, Census(np.array(ids, dtype=np.int64), empty, empty))
    return bullet if known else None


@lru_cache(maxsize=1)
def functions() -> Functions | None:
    """What is found once a process, and tried."""
    bullet = _found()
    return _tried(bullet) if bullet is not None else None


def _found() -> Functions | None:
    """The functions of the library that PyBullet is, without the type of a status."""
    path = pybullet.__file__
    known = symbols(path, (_TABLE, *_NAMES))
    if len(known) < 1 + len(_NAMES):
        return None
    try:
        library = ctypes.PyDLL(path)
        addresses = [ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0 for name in _NAMES]
    except (OSError, AttributeError):
        return None
    starts = {address - known[name].offset for name, address in zip(_NAMES, addresses, strict=True)}
    if len(starts) > 1:  # the file is not the one that was loaded
        return None
    bullet = Functions(starts.pop() + known[_TABLE].offset, known[_TABLE].size // 8, 0, *addresses)
    handles = (ctypes.c_int64 * bullet.clients).from_address(bullet.handles)
    connected = [bool(handle) == bool(pybullet.isConnected(client)) for client, handle in enumerate(handles)]
    return bullet if connected and all(connected) else None


def _tried(bullet: Functions) -> Functions | None:
    """The functions, if a scene is the same through them and through PyBullet, bit for bit."""
    client = pybullet.connect(pybullet.DIRECT)
    if client < 0:
        return None
    try:
        handle = calls.handle_of(bullet, client)
        if handle <= 0:
            return None
        _, box, ball = (_body(client, kind, **sizes) for kind, sizes in _SCENE)
        bullet = bullet._replace(completed=calls.status_of_points(bullet, handle))
        same = _knows(bullet, handle, client, ball) and _places(bullet, handle, client, box)
        return bullet if same and _tells(bullet, handle, client) else None
    finally:
        pybullet.disconnect(client)


_SCENE = (
    (pybullet.GEOM_BOX, {"halfExtents": (1.1, 1.2, 0.1)}),
    (pybullet.GEOM_BOX, {"halfExtents": (0.13, 0.17, 0.19)}),
    (pybullet.GEOM_SPHERE, {"radius": 0.11}),
)
_PLACE = pose((0.31, -0.12, 0.285), rpy=(0.002, -0.003, 0.7))  # some corners of a box deep in the floor
_TWIST = np.array([0.1, -0.2, 0.3, 0.4, -0.5, 0.6])


def _body(client: int, kind: int, **sizes: object) -> int:
    shape = pybullet.createCollisionShape(kind, physicsClientId=client, **sizes)
    body: int = pybullet.createMultiBody(0, shape, useMaximalCoordinates=False, physicsClientId=client)
    pybullet.setCollisionFilterGroupMask(body, -1, 2, -1, physicsClientId=client)
    return body


def _knows(bullet: Functions, handle: int, client: int, body: int) -> bool:
    """Whether a census sees who is there and who went."""
    text = "recursive-dyn probe 123"  # 24 bytes with its end
    words = np.frombuffer(f"{text}\0".encode(), dtype=np.int64)
    mark = pybullet.addUserData(body, text, text, physicsClientId=client)
    ids = [pybullet.getBodyUniqueId(k, client) for k in range(pybullet.getNumBodies(client))]
    census = Census(np.array(ids, dtype=np.int64), np.array([mark], dtype=np.int64), words)
    there = calls.is_unchanged(bullet, handle, census)
    fewer, other = census._replace(ids=census.ids[:-1].copy()), census._replace(text=words + 1)
    return there and not calls.is_unchanged(bullet, handle, fewer) and not calls.is_unchanged(bullet, handle, other)


def _places(bullet: Functions, handle: int, client: int, body: int) -> bool:
    """Whether a body is put where PyBullet says it is."""
    unknown, numbers = np.full((1, 4, 4), np.nan), np.zeros(1, dtype=np.int64)
    placing = Placing(
        numbers + body, numbers, unknown, np.zeros((1, 4)), np.zeros((1, 6)), numbers.copy(), unknown.copy(),
        np.ones(1), np.ones(1),
    )  # fmt: skip
    calls.place(bullet, handle, placing, note_due(placing, _PLACE[None], _TWIST[None]))
    position, turn = pybullet.getBasePositionAndOrientation(body, client)
    velocity, omega = pybullet.getBaseVelocity(body, client)
    told, given = [*position, *omega, *velocity], [*_PLACE[:3, 3], *_TWIST]
    pybullet.resetBasePositionAndOrientation(body, position, placing.quaternions[0].tolist(), client)
    return told == given and turn == pybullet.getBasePositionAndOrientation(body, client)[1]


def _tells(bullet: Functions, handle: int, client: int) -> bool:
    """Whether contacts are those that PyBullet tells of."""
    raw = RawPoints(np.zeros((64, 4), dtype=np.int64), np.zeros((64, 10)))
    calls.detect(bullet, handle)
    count = calls.tell(bullet, handle, raw)
    told = pybullet.getContactPoints(physicsClientId=client)
    if not 4 < len(told) == count <= len(raw.ids):
        return False
    ids = [list(point[1:5]) for point in told]
    values = [[*point[5], *point[6], *point[7], point[8]] for point in told]
    return bool(raw.ids[:count].tolist() == ids and raw.values[:count].tolist() == values)
