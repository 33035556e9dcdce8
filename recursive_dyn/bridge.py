"""``bridge`` by a name that no file beside a script takes: ``from recursive_dyn.bridge import PyBulletMirror``.

The same module, found where it is installed: after this, ``import bridge`` means it too. What it holds is lent, not
copied.
"""

from typing import TYPE_CHECKING, Any

from recursive_dyn.own_packages import own

if TYPE_CHECKING:
    from bridge import *  # noqa: F403
    from bridge import __all__ as __all__

own("scene")  # which the bridge imports by that name
_BRIDGE = own("bridge")


def __getattr__(name: str) -> Any:
    """What the package has; nothing that would make a second package of this module."""
    if name in ("__path__", "__spec__", "__file__"):
        raise AttributeError(name)
    return getattr(_BRIDGE, name)


def __dir__() -> list[str]:
    """What there is."""
    return dir(_BRIDGE)
