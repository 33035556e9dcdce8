"""A joint's factors as text and back: a joint read back is the same program down to its content hash."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import array, evaluate, reachable
from recursive_dyn.joint.joint_program import Factor, JointProgram, build
from recursive_dyn.spatial.spaces import Flat, RigidMotion, Rotation, Space
from scene.file import graph_text
from scene.file.graph_text import GraphText

CONSTANT, PLAIN = "constant", "plain"
_POSES: dict[str, Rotation | RigidMotion] = {"ball": Rotation(), "free": RigidMotion()}
KINDS = (CONSTANT, PLAIN, *_POSES)


def kind_of(space: Space) -> str:
    """What a factor on a space is called in a file. ModelError for a space that has no name there."""
    if space.flat:
        return PLAIN if space.size else CONSTANT
    for kind, known in _POSES.items():
        if space == known:
            return kind
    raise ModelError(f"a joint on the space '{space.name}' has no name in a file, which knows {', '.join(KINDS)}")


def space_of(kind: str, count: int) -> Space:
    """The space of a factor of this kind, of ``count`` plain coordinates."""
    return _POSES.get(kind) or Flat(count)


def write(program: JointProgram) -> tuple[GraphText, np.ndarray]:
    """The joint's text, and the entries of the factors' transforms in it, (factors, 4, 4) numbers and texts."""
    text = graph_text.write([x for factor in program.factors for x in factor.transform.flat])
    return text, np.array(text.entries, dtype=object).reshape(-1, 4, 4)


def read(reader: graph_text.Reader, factors: Sequence[tuple[Space, Sequence[Any]]]) -> JointProgram:
    """The joint of factors (space, 16 entries row by row, numbers or texts).

    ModelError names the factor: an unknown name, a coordinate of another factor, a ball or free factor whose transform
    is another.
    """
    found: list[tuple[Space, np.ndarray]] = []
    for i, (space, entries) in enumerate(factors):
        try:
            transform = array([reader.entry(x) for x in entries]).reshape(4, 4)
        except ModelError as error:
            raise ModelError(f"factor {i + 1}: {error}") from None
        found.append((space, transform))
    program = build(reader.graph, found)
    for i, factor in enumerate(program.factors):
        _check_inputs(i + 1, factor)
        _check_manifold(i + 1, factor, program.parameters)
    return program


def _check_inputs(number: int, factor: Factor) -> None:
    own = range(factor.first_q, factor.first_q + factor.nq)
    for node in reachable(factor.transform.flat):
        segment, name = node.args[0] if node.op == "input" else ("", 0)
        if segment == "q" and name not in own:
            has = f"q{own[0]} ... q{own[-1]}" if own else "none"
            raise ModelError(f"factor {number}: it uses q{name}, and its own coordinates are {has}; correct it")


def _check_manifold(number: int, factor: Factor, parameters: frozenset[str]) -> None:
    """A ball's or free body's velocity is defined by its transform being the standard one."""
    space = factor.space
    if not isinstance(space, Rotation | RigidMotion):
        return
    rng = np.random.default_rng(4)
    for _ in range(3):
        q = rng.uniform(-1.0, 1.0, factor.nq)
        inputs = {("q", factor.first_q + i): x for i, x in enumerate(q)} | {("parameter", p): 1.0 for p in parameters}
        expected = space.pose(q).astype(float)
        actual = np.array(evaluate(list(factor.transform.flat), inputs), dtype=float).reshape(4, 4)
        if not np.abs(actual - expected).max() < 1e-9:
            raise ModelError(
                f"factor {number}: its transform is not that of a {kind_of(space)} joint; copy it from a saved scene,"
                " or make the factor plain"
            )
