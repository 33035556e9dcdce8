"""What the functions of a model begin with: the graph of its tree, and of the solve that they have in common.

Each is built on it as if it were the only one: what the one before it added is taken back. So a program does not
depend on which others were built, in which order, or whether anything was kept for them.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from recursive_dyn.codegen.making.building import building, uncollected
from recursive_dyn.graph.expression import Graph
from recursive_dyn.model.model import Model
from recursive_dyn.recursion.context import Context
from recursive_dyn.recursion.equations.common_solve import CommonSolve
from recursive_dyn.recursion.forces.pushed_bodies import PUSHES, pushed_forces
from recursive_dyn.recursion.kinematics import Tree

_MOST_NODES = 300_000  # that are kept, some 100 MB
_KEPT: dict[tuple[int, bool], Groundwork] = {}
_around = 0  # how many are in ``together``


class Groundwork:
    """The tree of a model, and its common solve if that is wanted; with it, what pushes bodies, where it pushes any."""

    def __init__(self, model: Model, solves: bool) -> None:
        self.graph = Graph()
        self._model, self._tree = model, Tree(model, self.graph)
        self._common = CommonSolve(self._tree) if solves else None
        self._size = self._end = len(self.graph)
        self._pushed: Tree | None = None

    def context(self, method: str, pushed: bool) -> Context:
        """What a function is built with, of a tree that is ``pushed`` or not."""
        if not pushed or self._common is None:
            self._pushed, self._end = None, self._size
        self.graph.cut(self._end)
        context = Context(copy.copy(self._tree), self._model, self.graph, method, common=self._common)
        if not pushed or self._common is None:
            return context
        if self._pushed is None:
            self._pushed = self._tree.under(context.input(PUSHES))
            pushed_forces(self._pushed)
            self._end = len(self.graph)
        return replace(context, tree=copy.copy(self._pushed))


@contextmanager
def groundwork(model: Model, solves: bool) -> Iterator[Groundwork]:
    """That of a model, kept from one function to the next within ``together``."""
    key = id(model), solves
    with building():
        ground = _KEPT.pop(key, None) or Groundwork(model, solves)
        try:
            yield ground
        finally:
            if _around:
                _KEPT[key] = ground
                while len(_KEPT) > 1 and sum(len(it.graph) for it in _KEPT.values()) > _MOST_NODES:
                    _KEPT.pop(next(iter(_KEPT))).graph.forget()
            else:
                ground.graph.forget()


@contextmanager
def together() -> Iterator[None]:
    """Around functions that are built one after the other."""
    with uncollected():
        _count(1)
        try:
            yield
        finally:
            _count(-1)


def _forget() -> None:
    """In the child of a fork, which has none of the threads."""
    global _around
    _around = 0
    _KEPT.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def _count(by: int) -> None:
    global _around
    with building():
        _around = max(_around + by, 0)
        if not _around:
            for ground in _KEPT.values():
                ground.graph.forget()
            _KEPT.clear()
