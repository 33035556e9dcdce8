"""A joint's factors as fields of a scene file and back: lines, and the transform of each factor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import array, evaluate, reachable
from recursive_dyn.joint.joint_program import Factor, JointProgram, build
from recursive_dyn.spatial.spaces import Flat, RigidMotion, Rotation, Space
from scene.file import formula_reader, formula_writer
from scene.file.document import brief, fields, items, table
from scene.file.formula_reader import FormulaReader
from scene.joints.coordinate_settings import MAX_COORDINATES

CONSTANT, PLAIN = "constant", "plain"
_POSES: dict[str, Rotation | RigidMotion] = {"ball": Rotation(), "free": RigidMotion()}
_MOST_NUMBERS = 7 * MAX_COORDINATES  # of positions: more than any joint has
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


def write(program: JointProgram) -> dict[str, Any]:
    """The lines, tables and factors of a joint. ModelError for a number that is not finite."""
    what = "the transform"
    written = formula_writer.beside("factors", what, [x for f in program.factors for x in f.transform.flat])
    transforms = np.array(written["factors"], dtype=object).reshape(-1, 4, 4)
    written["factors"] = [
        {"kind": kind_of(f.space), **({"coordinates": f.nv} if f.space.flat and f.nv else {}), "transform": G.tolist()}
        for f, G in zip(program.factors, transforms, strict=True)
    ]
    return written


def read(given: dict[str, Any], check: Callable[[str], None]) -> JointProgram:
    """The program of such fields; ``check`` raises for an unknown name in quotes.

    ModelError names the factor: an unknown name, a coordinate of another factor, a ball or free factor whose transform
    is another.
    """
    reader = formula_reader.beside(given, check, _MOST_NUMBERS)
    factors = [_factor(f"factor {i + 1}", x, reader) for i, x in enumerate(items("factors", given["factors"]))]
    program = build(reader.graph, factors)
    for i, factor in enumerate(program.factors):
        _check_inputs(i + 1, factor)
        _check_manifold(i + 1, factor, program.parameters)
    return program


def _factor(what: str, value: Any, reader: FormulaReader) -> tuple[Space, np.ndarray]:
    given = fields(what, value, ("kind", "transform"), ("coordinates",))
    kind, count = given["kind"], given.get("coordinates", 0)
    if kind not in KINDS:
        raise ModelError(f"{what} has the unknown kind {brief(kind)}; use {', '.join(KINDS)}")
    if type(count) is not int or not (1 <= count <= MAX_COORDINATES if kind == PLAIN else count == 0):
        wanted = f"from 1 to {MAX_COORDINATES}" if kind == PLAIN else "left out"
        raise ModelError(f"{what} is {kind}, so that its number of coordinates is {wanted}, not {brief(count)}")
    return space_of(kind, count), array(table(f"{what}: transform", given["transform"], (4, 4), reader.entry))


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
