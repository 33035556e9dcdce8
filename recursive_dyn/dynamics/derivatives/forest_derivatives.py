"""Derivatives of inverse and forward dynamics of a forest: those of its trees, blocks on the diagonal."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from recursive_dyn.codegen.evaluator import Evaluator
from recursive_dyn.dynamics.derivatives.tree_derivatives import FORWARD, INVERSE, TreeDerivatives
from recursive_dyn.dynamics.forest_functions import Forest
from recursive_dyn.model.forest import Kind

Array = np.ndarray


class ForestDerivatives:
    """As ``TreeDerivatives``, of all trees of a kind in one loop; there are none where columns share coordinates."""

    def __init__(self, forest: Forest) -> None:
        self._forest, self._last = forest, threading.local()

    @cached_property
    def functions(self) -> tuple[str, ...]:
        """The functions that have derivatives here."""
        alone = [trees for _, _, trees in self._kinds]
        return () if any(trees.shared for trees in alone) else (INVERSE, FORWARD)

    @cached_property
    def _kinds(self) -> list[tuple[Kind, Evaluator, TreeDerivatives]]:
        """The kinds that move, the functions of one tree, and their derivatives."""
        moving = [(kind, self._forest.tree(kind)) for kind in self._forest.kinds if kind.model.nv]
        return [(kind, it, TreeDerivatives(kind.model)) for kind, it in moving]

    def single(self, it: Evaluator, function: str, arguments: Sequence[Any], parameters: Array) -> tuple[Array, ...]:
        """None: one state is no special case."""
        return ()

    def of(self, it: Evaluator, function: str, arrays: Sequence[Array], parameters: Array) -> tuple[Array, ...]:
        """By q, v and tau or a (..., size), each (..., nv, nv); ``doubtful`` says whether to look at them."""
        lead, n = np.broadcast_shapes(*(a.shape[:-1] for a in arrays)), arrays[1].shape[-1]
        result, doubts = tuple(np.zeros((*lead, n, n)) for _ in range(3)), []
        for kind, alone, trees in self._kinds:
            places = (kind.places, kind.slots, kind.slots)
            own = np.concatenate([parameters[kind.parameters], kind.constants], axis=-1)
            given = [a[..., where] for a, where in zip(arrays, places, strict=True)]
            blocks = trees.of(alone, function, given, own)
            doubts.append(trees.doubtful)
            for whole, block in zip(result, blocks, strict=True):
                whole[..., kind.slots[:, :, None], kind.slots[:, None, :]] = block
        self._last.doubtful = any(doubts)
        return result

    @property
    def doubtful(self) -> bool:
        """Whether this thread's last results were large or not finite."""
        return bool(self._last.doubtful)
