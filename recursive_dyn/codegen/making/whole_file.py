"""Files that are replaced in one step."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from recursive_dyn.errors import SceneFileError


def replace(path: Path, data: bytes) -> None:
    """Write a file so that at every moment there is the old one or the new one. SceneFileError if it cannot be."""
    try:
        target = Path(os.path.realpath(path))
        draft = target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}")
        try:
            with draft.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft, target)
        finally:
            draft.unlink(missing_ok=True)
    except (OSError, ValueError) as error:
        raise SceneFileError(f"{path}: cannot be written ({reason(error)}); check its folder") from error


def reason(error: OSError | ValueError) -> object:
    """Why a file could not be read or written, in a few words."""
    return error.strerror if isinstance(error, OSError) else error
