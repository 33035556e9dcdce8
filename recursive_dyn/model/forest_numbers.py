"""Numbers of a forest's trees, kind after kind: where each begins among links, bodies, slots and places of the whole.

Where each tree is all that hangs on a body of the world, and was attached before the next one, each has its own numbers
one after the other. All that is where in such forests are sums of how many trees there are, and addresses: it is
worked out once for all forests of the same kinds (``PlannedForest``).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from recursive_dyn.codegen.addresses import address
from recursive_dyn.codegen.forests.forest_kernel import TABLE
from recursive_dyn.codegen.forests.linear import symbol
from recursive_dyn.codegen.forests.runs import Run, Runs
from recursive_dyn.codegen.making import jit

Array = np.ndarray
LINKS, BODIES, SLOTS, PLACES = range(4)  # what has numbers
_OWN = ("size", "cleared")  # symbols of a kernel, whatever the numbers of its trees
_WHOLE = ("nl", "nb", "nv", "nq", "unit_count", "unit_table", "zeros")  # of a forest
_OF_KINDS = ("systems", "links", "bodies", "slots", "places")  # and of each of its kinds


class ForestNumbers:
    """Of P trees, part after part, those of K kinds in lanes, kind after kind, each kind filled up to whole registers.

    kinds (P,): the kind of each tree; firsts (4, P + 1): where each begins, and the end; counts (K,): trees of a kind;
    lanes (n,): the tree in each; begins (K,): first lane of each kind. known: what was found of forests with these
    trees in this order, whatever else differs (``forest.once_alike``).
    """

    def __init__(self, kinds: Array, firsts: Array) -> None:
        width = jit.vector_width()
        self.kinds, self.firsts, self.counts = kinds, firsts, np.bincount(kinds)
        order, ends = kinds.argsort(kind="stable"), self.counts.cumsum()
        filled = -(-self.counts // width) * width
        self.begins = filled.cumsum() - filled
        shift, number = (self.begins - ends + self.counts).repeat(filled), np.arange(filled.sum())
        self.lanes = order[np.minimum(number - shift, (ends - 1).repeat(filled))]
        self._starts = firsts.take(self.lanes, axis=1)
        self.at = address(self._starts) + 8 * (self.begins + len(number) * np.arange(4)[:, None])  # (4, K)
        self._zeros = np.zeros_like(number)
        self.known: dict[Hashable, Any] = {}

    def trees(self, kind: int) -> Array:
        """The trees of a kind (T,)."""
        first = self.begins[kind]
        return self.lanes[first : first + self.counts[kind]]

    def starts(self, kind: int, of: int) -> Array:
        """Where those of a kind begin, (T,)."""
        first = self.begins[kind]
        own: Array = self._starts[of, first : first + self.counts[kind]]
        return own

    def runs(self, kind: int, of: int, length: int) -> Runs:
        """``length`` numbers of each of a kind."""
        first, count = int(self.begins[kind]), int(self.counts[kind])
        end = self.begins[kind + 1] if kind + 1 < len(self.begins) else len(self.lanes)
        run = Run(self._starts[of, first:end], int(self.at[of, kind]), length)
        return Runs(count, (run,) if length else ())

    def values(self, sizes: Sequence[int], stretches: Sequence[Sequence[int]]) -> tuple[Array, list[Array]]:
        """Values of the symbols of a kernel, and what holds what lies at addresses; sizes: those of _OWN, and of _WHOLE
        but the last; stretches: as a ``PlannedForest`` was asked for."""
        found = [np.array([*sizes, address(self._zeros)]), self.counts, self.at.reshape(-1)]
        if not stretches:
            return np.concatenate(found), []
        each = np.array(stretches).take(self.kinds, axis=1)
        ends = each.cumsum(axis=1)
        starts = (ends - each).take(self.lanes, axis=1)
        own = np.empty((len(starts), 1 + len(self.begins)), dtype=np.int64)
        own[:, 0] = ends[:, -1]
        own[:, 1:] = self.begins * 8 + (address(starts) + starts.strides[0] * np.arange(len(starts))[:, None])
        return np.concatenate([*found, own.reshape(-1)]), [starts]


class PlannedForest:
    """What functions of forests ask of a model, as symbols; ``kinds``: of one tree each, of these models.

    stretched: of how many numbers a tree of each kind stretches were asked for.
    """

    constraints: tuple[Any, ...] = ()

    def __init__(self, models: Sequence[Any], parameters: Sequence[tuple[str, float]]) -> None:
        self.nl, self.nb, self.nv, self.nq, self.unit_count, self.unit_table = map(symbol, _WHOLE[:-1])
        self.size, self.cleared = map(symbol, _OWN)
        self.parameters = tuple(parameters)
        self.kinds = [PlannedKind(model, k, len(self.parameters)) for k, model in enumerate(models)]
        self.stretched: list[Sequence[int]] = []

    def stretches(self, counts: Sequence[int]) -> tuple[list[Runs], Any]:
        """So many numbers a tree of each kind, tree after tree; and their end."""
        number = len(self.stretched)
        self.stretched.append(counts)
        found = [
            Runs.of_starts(kind.count, symbol(("stretch", number, k)), counts[k]) for k, kind in enumerate(self.kinds)
        ]
        return found, symbol(("end", number))

    @property
    def own_symbols(self) -> list[Hashable]:
        """Those that say where the numbers of one forest's own lie: a kernel's table, constants of each kind."""
        return [TABLE, *(("constants", k) for k in range(len(self.kinds)))]

    @property
    def symbols(self) -> list[Hashable]:
        """All others, as ``ForestNumbers.values`` has their values."""
        kinds = range(len(self.kinds))
        names: list[Hashable] = [*_OWN, *_WHOLE, *((name, k) for name in _OF_KINDS for k in kinds)]
        for number in range(len(self.stretched)):
            names += [("end", number), *(("stretch", number, k) for k in kinds)]
        return names


class PlannedKind:
    """What they ask of a kind, whose trees are of this model."""

    def __init__(self, model: Any, number: int, parameters: int) -> None:
        self.model, self._number, self._parameters = model, number, parameters
        self.count, self.constant_table = symbol(("systems", number)), symbol(("constants", number))

    def _runs(self, name: str, length: int) -> Runs:
        return Runs.of_starts(self.count, symbol((name, self._number)), length)

    @cached_property
    def link_runs(self) -> Runs:
        """Numbers of the links."""
        return self._runs("links", self.model.nl)

    @cached_property
    def body_runs(self) -> Runs:
        """Numbers of the bodies."""
        return self._runs("bodies", self.model.nb)

    @cached_property
    def slot_runs(self) -> Runs:
        """Slots."""
        return self._runs("slots", self.model.nv)

    @cached_property
    def place_runs(self) -> Runs:
        """Places."""
        return self._runs("places", self.model.nq)

    @cached_property
    def parameter_runs(self) -> Runs:
        """Parameters: those that all trees have."""
        return self.shared(0, self._parameters)

    def nothing(self) -> Runs:
        """No numbers."""
        return Runs.nothing(self.count)

    def shared(self, first: int, length: int) -> Runs:
        """The same numbers for all."""
        return Runs.of_starts(self.count, symbol("zeros"), length).after(first)
