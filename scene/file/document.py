"""JSON documents: strictly read, legibly written, with every field of every object accounted for.

Errors are ModelErrors that name the field; who knows the file and the element puts their names in front.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from recursive_dyn.codegen.making import whole_file
from recursive_dyn.errors import ModelError, SceneFileError

_WIDTH = 120
_line = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_ROUNDING = 1e-14  # constructors make poses orthonormal and normals unit; what is so already keeps its every bit


def read(path: Path) -> Any:
    """The value in a JSON file. SceneFileError when it is missing, is not JSON, or names a field twice."""
    try:
        return decode(path.read_bytes())
    except ModelError as error:
        raise SceneFileError(f"{path}: {error}") from error
    except (OSError, ValueError) as error:
        raise SceneFileError(f"{path}: cannot be read ({whole_file.reason(error)}); check the path") from error


def decode(data: bytes) -> Any:
    """The value that UTF-8 JSON stands for. Raises ModelError."""
    try:
        return json.loads(data.decode("utf-8-sig"), object_pairs_hook=_unique, parse_constant=_refuse)
    except ModelError:
        raise
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise ModelError(
            f"is not JSON ({error.msg}, {where}); it may be cut off or damaged: save the scene again"
        ) from error
    except (ValueError, RecursionError) as error:
        raise ModelError(f"is not a JSON text that can be read ({error}); save the scene again") from error


def encode(value: Any) -> bytes:
    """JSON with what fits on one line on one line. ModelError for a text that UTF-8 cannot hold."""
    try:
        return (_formatted(value, 0) + "\n").encode()
    except UnicodeEncodeError as error:
        text = str(error.object)[max(0, error.start - 20) : error.end + 20]
        raise ModelError(f"{text!a} holds a character that cannot be written; rename it") from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for name, value in pairs:
        if name in result:
            raise ModelError(f"the field '{name}' occurs twice in one object; remove one")
        result[name] = value
    return result


def _refuse(name: str) -> None:
    raise ModelError(f"holds the number {name}; every number must be finite")


def _formatted(value: Any, indent: int, before: int = 0) -> str:
    """The value as JSON in lines that start at ``indent``, the first of them ``before`` characters later."""
    if not value or not isinstance(value, (dict, list)):
        return _line(value)
    if not _is_large(value):
        line = _line(value)
        if indent + before + len(line) < _WIDTH:
            return line
    inner, space = indent + 2, "\n" + " " * (indent + 2)
    if isinstance(value, dict):
        names = [f"{_line(name)}: " for name in value]
        parts = [n + _formatted(v, inner, len(n)) for n, v in zip(names, value.values(), strict=True)]
    elif (
        isinstance(value[0], list)
        and value[0]
        and isinstance(value[0][0], (int, float))
        and '"' not in (line := _line(value))
    ):
        parts = [line[1:-1].replace("], [", f"],{space}[")]  # a table of numbers, a mesh's of thousands of rows
    else:
        parts = [_formatted(v, inner) for v in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return f"{opening}{space}{(',' + space).join(parts)}\n{' ' * indent}{closing}"


def _is_large(value: Any) -> bool:
    """Whether a value surely does not fit on a line, told without writing it."""
    waiting, count = [value], 0
    while waiting and count < _WIDTH:
        part = waiting.pop()
        count += 1
        if isinstance(part, (dict, list)):
            if len(part) > _WIDTH:
                return True
            waiting.extend(part.values() if isinstance(part, dict) else part)
    return bool(waiting)


def mapping(what: str, value: Any) -> dict[str, Any]:
    """An object. Raises ModelError."""
    if not isinstance(value, dict):
        raise ModelError(f"{what} must be an object {{...}}, not {brief(value)}")
    return value


def fields(what: str, value: Any, required: Collection[str], optional: Collection[str] = ()) -> dict[str, Any]:
    """An object that has all required fields and no others but optional ones. Raises ModelError."""
    mapping(what, value)
    missing = [name for name in required if name not in value]
    if missing:
        raise ModelError(f"{what} has no field '{missing[0]}'; add it")
    unknown = [name for name in value if name not in required and name not in optional]
    if unknown:
        raise ModelError(
            f"{what} has the unknown field '{unknown[0]}'; it may have {', '.join((*required, *optional))}"
        )
    return value


def number(what: str, value: Any) -> float:
    """A finite float. Raises ModelError."""
    try:
        result = float(value) if type(value) in (int, float) else math.nan
    except OverflowError:
        result = math.inf
    if not math.isfinite(result):
        raise ModelError(f"{what} must be a finite number, not {brief(value)}")
    return result


def whole(what: str, value: Any) -> int:
    """A whole number that a double holds. Raises ModelError."""
    if type(value) is not int or abs(value) > 2**53:
        raise ModelError(f"{what} must be a whole number, not {brief(value)}")
    return value


def text(what: str, value: Any) -> str:
    """A string that is not empty. Raises ModelError."""
    if not isinstance(value, str) or not value:
        raise ModelError(f"{what} must be a text that is not empty, not {brief(value)}")
    return value


def flag(what: str, value: Any) -> bool:
    """True or false. Raises ModelError."""
    if not isinstance(value, bool):
        raise ModelError(f"{what} must be true or false, not {brief(value)}")
    return value


def items(what: str, value: Any) -> list[Any]:
    """A list. Raises ModelError."""
    if not isinstance(value, list):
        raise ModelError(f"{what} must be a list [...], not {brief(value)}")
    return value


def table(what: str, value: Any, shape: tuple[int, ...], entry: Callable[[str, Any], Any] = number) -> np.ndarray:
    """Nested lists as an object array of that shape, each entry read by ``entry``. Raises ModelError."""
    flat = [value]
    for size in shape:
        if not all(isinstance(row, list) and len(row) == size for row in flat):
            raise ModelError(f"{what} must be {' x '.join(map(str, shape))} entries, not {brief(value)}")
        flat = [x for row in flat for x in row]
    result = np.empty(shape, dtype=object)
    result.reshape(-1)[:] = [entry(what, x) for x in flat]
    return result


def _said(shape: tuple[int, ...]) -> str:
    if shape == (-1, -1):
        return "a list of rows of numbers"
    return " x ".join("n" if n < 0 else str(n) for n in shape) + " entries"


def rectangle(what: str, value: Any, shapes: Sequence[tuple[int, ...]]) -> np.ndarray:
    """Nested lists of finite numbers as a float array of one of these shapes, -1 for any length.

    The lengths of all rows are checked before memory is asked for. Raises ModelError.
    """
    shape: list[int] = []
    part = value
    while isinstance(part, list):
        shape.append(len(part))
        part = part[0] if part else None
    if not any(len(s) == len(shape) and all(n in (-1, own) for n, own in zip(s, shape, strict=True)) for s in shapes):
        raise ModelError(f"{what} must be {' or '.join(map(_said, shapes))}, not {brief(value)}")
    return table(what, value, tuple(shape)).astype(float)


def unusual(given: Mapping[str, float], usual: Mapping[str, object]) -> dict[str, float]:
    """The numbers that are not what they are without being said; -0.0 is another number than 0.0."""
    return {name: x for name, x in given.items() if repr(x) != repr(usual[name])}


def as_given(made: np.ndarray, given: np.ndarray) -> np.ndarray:
    """What was given, to the last bit, if what a constructor made of it differs by its rounding only; else that."""
    if made.dtype == object or np.abs(made - given).max() > _ROUNDING:
        return made
    result = given.copy()
    result.setflags(write=False)
    return result


def brief(value: Any) -> str:
    """A value as errors show it, shortened."""
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:60]} ..."
