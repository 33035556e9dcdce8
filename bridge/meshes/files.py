"""Meshes as files, which is how Bullet takes them."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Hashable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Protocol

import numpy as np

from recursive_dyn.errors import ModelError

LONGEST = 1000  # bytes of a path: Bullet has room for 1024, folders it looks into included, and crashes beyond


class Writable(Protocol):
    """What a mesh file is made of."""

    @property
    def outline(self) -> np.ndarray:
        """Outermost points (n, 3), m."""
        ...

    @property
    def faces(self) -> np.ndarray:
        """Triangles (m, 3), by number of vertex."""
        ...

    def write(self, path: Path) -> None:
        """Write an OBJ file."""
        ...


class MeshFile:
    """A mesh, its outermost points (n, 3) in m, and the path of its file, which is written when it is asked for."""

    def __init__(self, mesh: Writable, files: MeshFiles) -> None:
        self.mesh, self._files = mesh, weakref.ref(files)

    @cached_property
    def path(self) -> str:
        files = self._files()
        if files is None:
            raise ModelError("the folder of this mesh's file is gone with the mirror that had it; make another mirror")
        return files.written(self.mesh.write)

    def write(self) -> str:
        """Write the file now, if it is not yet, where someone may still refuse what it is for; returns its path."""
        return self.path

    @cached_property
    def outline(self) -> np.ndarray:
        return self.mesh.outline

    @property
    def faces(self) -> int:
        return len(self.mesh.faces)


class MeshFiles:
    """Temporary OBJ files, one a mesh: equal meshes share one, so that renderers load it once.

    They lie in the system's folder of temporary files, or in memory (/dev/shm) where that is full, and go with
    ``close`` or with the last who holds this. Raises ModelError if there is no room.
    """

    def __init__(self) -> None:
        self._folders: dict[str | None, Path] = {}
        self._remove = weakref.finalize(self, _removed, self._folders)
        self._files: dict[Hashable, MeshFile] = {}
        self._count = 0

    def get(self, key: Hashable, make: Callable[[], Writable]) -> MeshFile:
        """The file of the mesh that ``key`` stands for, made at its first use."""
        if key not in self._files:
            self._files[key] = self.add(make())
        return self._files[key]

    def add(self, mesh: Writable) -> MeshFile:
        """A new file."""
        return MeshFile(mesh, self)

    def readable(self, path: Path) -> str:
        """A path of an OBJ file's content that Bullet can read: its own, or a copy's where that is too long."""
        if len(os.fsencode(path)) <= LONGEST:
            return str(path)
        return self.written(lambda copy: shutil.copyfile(path, copy))

    def written(self, write: Callable[[Path], object]) -> str:
        """The path of a new file, once written."""
        troubles = []
        self._count += 1
        for place in (None, "/dev/shm"):
            try:
                if place not in self._folders:
                    self._folders[place] = Path(tempfile.mkdtemp(prefix="recursive_dyn_", dir=place))
                path = self._folders[place] / f"{self._count}.obj"
                if len(os.fsencode(path)) > LONGEST:
                    raise OSError(errno.ENAMETOOLONG, "Bullet reads no path as long as that of its folder")
                write(path)
            except OSError as trouble:
                troubles.append(str(trouble))
            else:
                return str(path)
        raise ModelError(
            f"Bullet reads meshes from files, and there is no room for one ({'; '.join(troubles)}); make room, or name"
            " another folder for temporary files in TMPDIR"
        )

    def close(self) -> None:
        """Remove the files; harmless when repeated."""
        self._remove()
        self._files.clear()


def _removed(folders: Mapping[str | None, Path]) -> None:
    for folder in folders.values():
        shutil.rmtree(folder, ignore_errors=True)
