"""On-disk cache of what is slow to make: written atomically, trusted and checked before use, made again when damaged.

An entry is a SHA-256 digest of its key, its size and its bytes, the size, and the bytes. The key, its name, covers
everything the bytes depend on. The folder is ``$RECURSIVE_DYN_CACHE``, or ``recursive-dyn`` under the user's cache
folder; the value "off" turns the cache off. Machine code is run as it is read, so that entries are read only where
nobody else can have written them. Whatever goes wrong here costs the time of making the thing, never the program.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import struct
import tempfile
import warnings
from functools import lru_cache
from pathlib import Path

_HEAD = struct.Struct("<32sQ")  # digest, number of bytes
_AS_IT_IS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)  # no link is followed, no pipe waited for


def folder() -> Path | None:
    """Where entries live, or None when the cache is off."""
    chosen = os.environ.get("RECURSIVE_DYN_CACHE")
    if chosen == "off":
        return None
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "recursive-dyn"


def key_of(*parts: object) -> str:
    """Key of an entry from everything its content depends on."""
    return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()


def trusted(status: os.stat_result) -> bool:
    """Whether a file or folder is plain, this user's own, and not to be written by anyone else."""
    if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
        return False
    if not hasattr(os, "geteuid"):  # without owners in st_uid, as on Windows, the folder's place has to do
        return True
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def load(key: str) -> bytes | None:
    """The entry's bytes, or None when there is none, or it is damaged or not to be trusted."""
    shelf = _shelf(key)
    if shelf is None:
        return None
    try:
        with open(shelf / key, "rb", opener=lambda path, flags: os.open(path, flags | _AS_IT_IS)) as file:
            status = os.fstat(file.fileno())
            if not trusted(status) or status.st_size < _HEAD.size:
                return None
            digest, size = _HEAD.unpack(file.read(_HEAD.size))
            if size != status.st_size - _HEAD.size:
                return None
            payload = file.read(size)
    except (OSError, struct.error):
        return None
    return payload if digest == _digest(key, payload) else None


def store(key: str, payload: bytes) -> None:
    """Write an entry so that a concurrent reader sees all of it or nothing; failure to write is no error."""
    with contextlib.suppress(OSError):
        shelf = _shelf(key, make=True)
        if shelf is None:
            return
        handle, name = tempfile.mkstemp(dir=shelf, prefix=".new-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_HEAD.pack(_digest(key, payload), len(payload)) + payload)
            os.replace(name, shelf / key)
        except BaseException:
            os.unlink(name)
            raise


def stored(key: str, payload: bytes) -> bytes:
    """The bytes, which are also kept."""
    store(key, payload)
    return payload


def _digest(key: str, payload: bytes) -> bytes:
    return hashlib.sha256(f"{key} {len(payload)} ".encode() + payload).digest()


def _shelf(key: str, make: bool = False) -> Path | None:
    """The folder of an entry, made if wanted; None when the cache is off, the folder is missing or not trusted."""
    place = folder()
    if place is None:
        return None
    shelf = place / key[:2]
    try:
        if make:
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            shelf.mkdir(mode=0o700, exist_ok=True)
        for level, status in ((place, place.stat()), (shelf, shelf.lstat())):
            if not trusted(status):
                _warn(level)
                return None
    except (OSError, ValueError):  # ValueError: a name that no file can have
        return None
    return shelf


@lru_cache(maxsize=64)
def _warn(place: Path) -> None:
    """Once for each folder and process."""
    warnings.warn(
        f"'{place}' is not used as a cache: it must be a folder of your own that nobody else may write (chmod go-w), as"
        " machine code is kept there; programs are compiled anew",
        stacklevel=2,
    )


@lru_cache(maxsize=1)
def source_fingerprint() -> str:
    """Hash of this package's own source: entries made by other code are other entries."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).resolve().parents[2].rglob("*.py")):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()
