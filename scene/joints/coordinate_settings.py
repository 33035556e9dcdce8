"""Limits, damping, stiffness, rest, armature, friction, effort and velocity of a joint's coordinates, as given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.joint.coordinate import Coordinate
from recursive_dyn.joint.joint_program import JointProgram
from scene.number_checks import as_floats

MAX_COORDINATES = 6  # of a joint
UNLIMITED = (-np.inf, np.inf)
DEFAULTS: dict[str, Any] = {
    "limits": None, "damping": 0.0, "stiffness": 0.0, "rest": 0.0, "armature": 0.0, "friction": 0.0,
    "effort": np.inf, "velocity": np.inf,
}  # fmt: skip
_MOSTS = ("effort", "velocity")  # which may be infinite
WRITTEN = ", ".join(DEFAULTS).replace(", velocity", " and velocity")


def refuse_many(names: Sequence[str]) -> None:
    """ModelError for more coordinates than a joint may have."""
    if len(names) > MAX_COORDINATES:
        listed = ", ".join(names[: 2 * MAX_COORDINATES]) + (", ..." if len(names) > 2 * MAX_COORDINATES else "")
        raise ModelError(f"a joint has at most {MAX_COORDINATES} coordinates, this one has {len(names)} ({listed})")


def check_names(names: Sequence[str]) -> None:
    """ModelError for more coordinates than a joint may have, and for two of one name."""
    refuse_many(names)
    if len(set(names)) != len(names):
        raise ModelError(f"a joint names each coordinate once, this one has ({', '.join(names)})")


def coordinates_of(names: Sequence[str], settings: Mapping[str, Any]) -> tuple[Coordinate, ...]:
    """Coordinates of these names with the settings a joint takes; ModelError names the one that is wrong."""
    return _coordinates(names, settings) if settings else _plain(tuple(names))


@lru_cache(maxsize=256)
def _plain(names: tuple[str, ...]) -> tuple[Coordinate, ...]:
    """Coordinates of which nothing is said, as most of those that come by the hundred."""
    return _coordinates(names, {})


def _coordinates(names: Sequence[str], settings: Mapping[str, Any]) -> tuple[Coordinate, ...]:
    unknown = sorted(settings.keys() - DEFAULTS.keys())
    if unknown:
        raise ModelError(f"a joint takes {WRITTEN}, not '{unknown[0]}'")
    chosen = {**DEFAULTS, **settings}
    limits = _limits(names, chosen.pop("limits"))
    columns = {key: _per_coordinate(names, key, value) for key, value in chosen.items()}
    return tuple(
        Coordinate(name, limits[i], **{key: column[i] for key, column in columns.items()})
        for i, name in enumerate(names)
    )


def settings_of(coordinates: Sequence[Coordinate]) -> dict[str, Any]:
    """What a joint takes to give its coordinates these properties."""
    return {key: [getattr(c, key) for c in coordinates] for key in DEFAULTS} if coordinates else {}


def told_apart(joints: Iterable[Sequence[Coordinate]]) -> tuple[Coordinate, ...]:
    """The coordinates of several joints together: names that are taken get a number."""
    result: dict[str, Coordinate] = {}
    for c in chain.from_iterable(joints):
        name, i = c.name, 2
        while name in result:
            name, i = f"{c.name}_{i}", i + 1
        result[name] = replace(c, name=name)
    return tuple(result.values())


def _per_coordinate(names: Sequence[str], key: str, value: Any) -> list[float]:
    if value is DEFAULTS[key]:
        return [value] * len(names)
    values = as_floats(value)
    if values.ndim == 0:
        values = np.broadcast_to(values, (len(names),))
    if values.shape != (len(names),):
        raise ModelError(f"{key} needs a number or one for each of the coordinates ({', '.join(names)})")
    for name, x in zip(names, values, strict=True):
        if key in _MOSTS:
            wrong, wanted = not x > 0.0, "above 0, or infinite"
        else:
            wrong = not np.isfinite(x) or (key != "rest" and x < 0.0)
            wanted = "finite" + (" and not negative" if key != "rest" else "")
        if wrong:
            raise ModelError(f"{key} of coordinate '{name}' is {x}; it must be {wanted}")
    return [float(x) for x in values]


def _limits(names: Sequence[str], limits: Any) -> list[tuple[float, float]]:
    if limits is None:
        return [UNLIMITED] * len(names)
    table = as_floats(limits)
    if table.shape == (2,):
        table = np.tile(table, (len(names), 1))
    if table.shape != (len(names), 2):
        raise ModelError(f"limits need a pair (low, high), or one for each of the coordinates ({', '.join(names)})")
    for name, (low, high) in zip(names, table, strict=True):
        if not low < high:
            raise ModelError(f"limits of coordinate '{name}' are ({low}, {high}); low must be less than high")
    return [(float(low), float(high)) for low, high in table]


def refuse_settings_of_driven(coordinates: Sequence[Coordinate]) -> None:
    """ModelError for what belongs to the coordinates that drive these."""
    for c in coordinates:
        mosts = np.isfinite([*c.limits, c.effort, c.velocity]).any()
        if c.damping or c.stiffness or c.armature or c.friction or mosts:
            raise ModelError(f"coordinate '{c.name}' is driven by others: give {WRITTEN} to those")


def refuse_springs_on_manifolds(program: JointProgram, coordinates: Sequence[Coordinate]) -> None:
    """ModelError for stiffness and limits where the position is a quaternion."""
    for f in program.factors:
        if not f.space.flat:
            for c in coordinates[f.first_v : f.first_v + f.nv]:
                if c.stiffness or c.limits != UNLIMITED:
                    raise ModelError(
                        f"coordinate '{c.name}' is a velocity on the space '{f.space.name}', whose points are"
                        f" {f.space.written}: stiffness and limits have no meaning there; use joints.euler or"
                        " joints.universal"
                    )
