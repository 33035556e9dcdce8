"""What contacts and queries call what is no body of the scene."""

from __future__ import annotations

WORLD = "world"  # scenery and ground


def of_bullet(body: int) -> str:
    """The name of a body that Bullet has from elsewhere."""
    return f"bullet:{body}"
