"""Bullet's collision groups and masks: two bodies meet where either's group is in the other's mask.

What is static, where mass 0 belongs, has a group and the mask of all others: two of these never meet. So the bodies of
a mirror are in a group of their own, which is not in the masks of its planes. Those that a mirror finds the neighbours
of by itself, ``bodies.seekers``, are in a second one, which is not in the masks of what they are found near.
"""

import pybullet

STATICS, OTHERS, ALL = 2, -3, -1
_SEEKERS = 14  # bits between the two groups of a mirror


def seekers(group: int) -> int:
    """The second group of the mirror that has this one."""
    return group << _SEEKERS


def regroup(body: int, group: int, mask: int, client: int) -> None:
    """Put a body into a group, with a mask."""
    pybullet.setCollisionFilterGroupMask(body, -1, group, mask, physicsClientId=client)
