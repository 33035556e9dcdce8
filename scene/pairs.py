"""What two bodies are like to each other where they touch."""

from __future__ import annotations

from dataclasses import dataclass

from recursive_dyn.contact.material import Material
from recursive_dyn.errors import ModelError


@dataclass(frozen=True)
class Pair:
    """Whether two bodies collide, None: as they would anyhow, and the material that replaces what theirs combine to."""

    collide: bool | None = None
    material: Material | None = None

    def __post_init__(self) -> None:
        if self.collide is not None and not isinstance(self.collide, bool):
            raise ModelError(f"collide is True or False, not {self.collide!r}")
        if self.material is not None and not isinstance(self.material, Material):
            raise ModelError(f"material is a rd.Material or None, not {self.material!r}")
