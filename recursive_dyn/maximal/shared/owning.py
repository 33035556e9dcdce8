"""Which joint a coordinate is found from, and which are found from several joints together."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from recursive_dyn.graph.traversal import evaluate, reachable
from recursive_dyn.maximal.kinds.timed_joints import driven_by_time
from recursive_dyn.maximal.shared.posed_joints import hides
from recursive_dyn.model.model import Link, Model


@dataclass(frozen=True)
class Ownership:
    """owners: the link of each slot whose joint says its coordinate; together: (links, slots) of what several joints
    say together; posed: the links among these whose poses are measured, as their joints hide a coordinate somewhere."""

    owners: dict[int, int]
    together: list[tuple[list[int], list[int]]]
    posed: set[int]


def ownership(model: Model) -> Ownership:
    """A coordinate is that of the first joint that has it as its own, else of one that it drives alone, or together
    with others of which this is true, and that shows it everywhere; else that of all joints that it moves."""
    clock = {model.clock[1]} if model.clock is not None else set()
    owners, driven = dict[int, int](), list[int]()
    posed = _posed(model, clock)
    for i, link in enumerate(model.links):
        if link.drive is None:
            for slot in () if i in posed else link.slots:
                owners.setdefault(slot, i)
        elif not driven_by_time(model, link):
            driven.append(i)
    for i in driven:
        own = set(model.links[i].slots) - clock
        if own.isdisjoint(owners) and len(own) <= model.links[i].joint.nv and _steady(model, model.links[i], own):
            owners |= dict.fromkeys(own, i)
    together = list[tuple[list[int], list[int]]]()
    for links, slots in _joined(model, sorted([*driven, *posed]), clock | owners.keys(), posed):
        link = model.links[links[0]]
        if (
            len(links) == 1
            and links[0] not in posed
            and set(link.slots) - clock == slots
            and len(slots) <= link.joint.nv
        ):
            owners |= dict.fromkeys(slots, links[0])
        else:
            together.append((links, sorted(slots)))
    return Ownership({slot: i for slot, i in owners.items() if slot not in clock}, together, posed)


def _posed(model: Model, clock: set[int]) -> set[int]:
    """Links whose own joints hide coordinates somewhere which others have, too."""
    uses = Counter(slot for link in model.links for slot in link.slots)
    shared = {slot for slot, count in uses.items() if count > 1} - clock
    return {i for i, link in enumerate(model.links) if not shared.isdisjoint(link.slots) and hides(model, link)}


def _steady(model: Model, link: Link, own: set[int]) -> bool:
    """Whether what a link follows changes with what drives it in the same way everywhere, and shows all of it."""
    assert link.drive is not None
    phi = link.drive.derived.phi[:, [slot in own for slot in link.slots]]
    if any(node.op == "input" and node.args[0][0] != "parameter" for node in reachable(list(phi.flat))):
        return False
    values = {("parameter", name): value for name, value in model.parameters}
    numbers = np.array(evaluate(list(phi.flat), values), dtype=float).reshape(phi.shape)
    return bool(np.linalg.matrix_rank(numbers) == len(own))


def _joined(model: Model, driven: list[int], known: set[int], posed: set[int]) -> list[tuple[list[int], set[int]]]:
    """(links, slots): links that slots which are not known have to do with each other by; those that are posed
    always."""
    groups = list[tuple[list[int], set[int]]]()
    for i in driven:
        links, slots = [i], set(model.links[i].slots) - known
        if not slots and i not in posed:
            continue
        for group in [group for group in groups if not group[1].isdisjoint(slots)]:
            groups.remove(group)
            links, slots = group[0] + links, slots | group[1]
        groups.append((sorted(links), slots))
    return groups
