"""``scene`` by a name that no file beside a script takes: ``from recursive_dyn.scene import Body, Scene, joints``.

The same module, found where it is installed: after this, ``import scene`` means it too. What it holds is lent, not
copied.
"""

from typing import TYPE_CHECKING, Any

from recursive_dyn.own_packages import own

if TYPE_CHECKING:
    from scene import *  # noqa: F403
    from scene import __all__ as __all__

_SCENE = own("scene")


def __getattr__(name: str) -> Any:
    """What the package has; nothing that would make a second package of this module."""
    if name in ("__path__", "__spec__", "__file__"):
        raise AttributeError(name)
    return getattr(_SCENE, name)


def __dir__() -> list[str]:
    """What there is."""
    return dir(_SCENE)
