"""On-disk cache of compiled objects: written atomically, checked before use, rebuilt when damaged.

An entry is a SHA-256 digest of its key and its bytes, and the bytes. The key, its name, covers everything the bytes
depend on. The folder is ``$RECURSIVE_DYN_CACHE``, or ``recursive-dyn`` under the user's cache folder; the value "off"
(or a folder that cannot be written) turns the cache off.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from functools import lru_cache
from pathlib import Path

_DIGEST = 32


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


def _digest(key: str, payload: bytes) -> bytes:
    return hashlib.sha256(key.encode() + payload).digest()


def load(key: str) -> bytes | None:
    """The entry's bytes, or None when there is none or it is damaged."""
    place = folder()
    if place is None:
        return None
    try:
        content = (place / key[:2] / key).read_bytes()
    except OSError:
        return None
    digest, payload = content[:_DIGEST], content[_DIGEST:]
    return payload if digest == _digest(key, payload) else None


def store(key: str, payload: bytes) -> None:
    """Write an entry so that a concurrent reader sees all of it or nothing; failure to write is no error."""
    place = folder()
    if place is None:
        return
    with contextlib.suppress(OSError):
        target = place / key[:2]
        target.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=target, prefix=".new-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_digest(key, payload) + payload)
            os.replace(name, target / key)
        except OSError:
            os.unlink(name)


@lru_cache(maxsize=1)
def source_fingerprint() -> str:
    """Hash of this package's own source: entries made by other code are other entries."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).resolve().parent.parent.rglob("*.py")):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()
