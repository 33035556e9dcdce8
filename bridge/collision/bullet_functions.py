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

from bridge.bodies.bullet_groups import ALL, OTHERS, STATICS
from bridge.collision.bullet_calls import GONE, Census, Functions, ProbeBox, handle_of, probe, regroup
from bridge.collision.placing import Placement, Placing, placing_of
from bridge.collision.raw_points import RawPoints
from bridge.collision.symbol_table import symbols
from recursive_dyn.spatial.algebra import pose

_TABLE = "sPhysicsClients1"
_NAMES = tuple(name for name in Functions._fields if name.startswith("b3"))
_METHODS = (pybullet.DIRECT, pybullet.GUI)  # connections within this process


def reached(client: int) -> Functions | None:
    """Bullet's functions, if they serve this connection; None where it must be spoken to through PyBullet."""
    bullet = functions()
    return bullet if pybullet.getConnectionInfo(client)["connectionMethod"] in _METHODS else None


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
        floor = _body(client, pybullet.GEOM_BOX, halfExtents=(1.1, 1.2, 0.1))
        _body(client, pybullet.GEOM_SPHERE, radius=0.11)
        box = _body(client, pybullet.GEOM_BOX, halfExtents=(0.13, 0.17, 0.19))
        census, placement, raw = _census(client, box), _placement(box), _raw()
        around = ProbeBox(*_AROUND, np.zeros(1, dtype=np.int64), np.zeros(64, dtype=np.int64))
        for wrong in (census._replace(ids=census.ids[:-1].copy()), census._replace(text=census.text + 1)):
            if probe(bullet, client, wrong, placement, raw, around) != GONE:
                return None
        completed = probe(bullet, client, census, placement, raw, around)
        same = completed != GONE and _is_told(client, raw) and _is_found(client, around)
        same = same and _is_placed(client, box, placement.placing)
        same = same and _is_left_out(bullet, client, floor, box, placement.placing)
        return bullet._replace(completed=completed) if same else None
    finally:
        pybullet.disconnect(client)


_GROUP = 4  # of the body that is moved
_PLACE = pose((0.31, -0.12, 0.285), rpy=(0.002, -0.003, 0.7))  # corners of a box in the floor that the ball is in too
_TWIST = np.array([0.1, -0.2, 0.3, 0.4, -0.5, 0.6])
_AROUND = np.array([0.3, -0.2, 0.05]), np.array([0.4, -0.1, 0.2])  # in which the box and the floor are, not the ball


def _body(client: int, kind: int, **sizes: object) -> int:
    shape = pybullet.createCollisionShape(kind, physicsClientId=client, **sizes)
    body: int = pybullet.createMultiBody(0, shape, useMaximalCoordinates=False, physicsClientId=client)
    pybullet.setCollisionFilterGroupMask(body, -1, 2, -1, physicsClientId=client)  # what is static would never meet
    return body


def _census(client: int, body: int) -> Census:
    text = "recursive-dyn probe 123"  # 24 bytes with its end
    mark = pybullet.addUserData(body, text, text, physicsClientId=client)
    ids = [pybullet.getBodyUniqueId(k, client) for k in range(pybullet.getNumBodies(client))]
    words = np.frombuffer(f"{text}\0".encode(), dtype=np.int64)
    return Census(np.array(ids, dtype=np.int64), np.array([mark], dtype=np.int64), words)


def _placement(body: int) -> Placement:
    return Placement(placing_of([body], [0], [1.0], [_GROUP], [ALL]), _PLACE[None], _TWIST[None])


def _raw() -> RawPoints:
    return RawPoints(np.zeros((64, 4), dtype=np.int64), np.zeros((64, 10)), np.zeros(1, dtype=np.int64))


def _is_told(client: int, raw: RawPoints) -> bool:
    """Whether contacts are those that PyBullet tells of."""
    told, count = pybullet.getContactPoints(physicsClientId=client), int(raw.found[0])
    if not 4 < len(told) == count <= len(raw.ids):
        return False
    ids = [list(point[1:5]) for point in told]
    values = [[*point[5], *point[6], *point[7], point[8]] for point in told]
    return bool(raw.ids[:count].tolist() == ids and raw.values[:count].tolist() == values)


def _is_found(client: int, box: ProbeBox) -> bool:
    """Whether those in a box are the ones that PyBullet tells of."""
    told = pybullet.getOverlappingObjects(box.low.tolist(), box.high.tolist(), physicsClientId=client) or ()
    count = int(box.size[0])
    found = box.objects[: 2 * count].reshape(-1, 2).tolist()
    return 0 < count < pybullet.getNumBodies(client) and found == [list(link) for link in told]


def _is_placed(client: int, body: int, placing: Placing) -> bool:
    """Whether a body is where PyBullet would have put it."""
    position, turn = pybullet.getBasePositionAndOrientation(body, client)
    velocity, omega = pybullet.getBaseVelocity(body, client)
    told, given = [*position, *omega, *velocity], [*_PLACE[:3, 3].tolist(), *_TWIST.tolist()]
    pybullet.resetBasePositionAndOrientation(body, position, placing.quaternions[0].tolist(), client)
    return told == given and turn == pybullet.getBasePositionAndOrientation(body, client)[1]


def _is_left_out(bullet: Functions, client: int, floor: int, box: int, placing: Placing) -> bool:
    """Whether a body that sleeps meets nothing that stands still, and does again when it wakes."""
    pybullet.setCollisionFilterGroupMask(floor, -1, STATICS, OTHERS, physicsClientId=client)
    found = []
    for dormant in (0, 1, 0):
        placing.dormant[0], placing.due[0], placing.waiting[0] = dormant, 0, 1
        regroup(bullet, handle_of(bullet, client), placing)
        pybullet.performCollisionDetection(physicsClientId=client)
        found.append(len(pybullet.getContactPoints(box, floor, physicsClientId=client)))
    return found[0] == found[2] > 0 == found[1]
