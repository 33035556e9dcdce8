"""Keys in ascending order, as of pairs of bodies."""

from __future__ import annotations

from recursive_dyn.codegen.compiled import Integers, compiled


@compiled
def place_among(keys: Integers, key: int) -> int:
    """How many keys, which are in ascending order, are less than this one: where it stands, if it is among them."""
    low, high = 0, len(keys)
    while low < high:
        middle = (low + high) >> 1
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def holds(keys: Integers, key: int) -> bool:
    """Whether a key is among those in ascending order."""
    place = place_among(keys, key)
    return place < len(keys) and keys[place] == key
