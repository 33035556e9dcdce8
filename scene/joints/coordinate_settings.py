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
from recursive_dyn.joint.turn_limits import TurnLimits
from recursive_dyn.spatial.spaces import RigidMotion, Rotation
from scene.number_checks import as_floats

MAX_COORDINATES = 6  # of a joint
UNLIMITED = (-np.inf, np.inf)
DEFAULTS: dict[str, Any] = {
    "limits": None, "damping": 0.0, "stiffness": 0.0, "rest": 0.0, "armature": 0.0, "friction": 0.0,
    "effort": np.inf, "velocity": np.inf,
}  # fmt: skip
_INSTEAD = {True: "use limits=joints.TurnLimits(...),", False: "use"}
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
    given = chosen.pop("limits")
    turns, limits = _turns(names, given), _limits(names, _without_turns(given))
    columns = {key: _per_coordinate(names, key, value) for key, value in chosen.items()}
    return tuple(
        Coordinate(name, limits[i], turn=turns.get(i), **{key: column[i] for key, column in columns.items()})
        for i, name in enumerate(names)
    )


def settings_of(coordinates: Sequence[Coordinate]) -> dict[str, Any]:
    """What a joint takes to give its coordinates these properties."""
    if not coordinates:
        return {}
    return {key: [getattr(c, key) for c in coordinates] for key in DEFAULTS} | {
        "limits": [c.turn or c.limits for c in coordinates]
    }


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


def _turns(names: Sequence[str], limits: Any) -> dict[int, TurnLimits]:
    """The limits of balls among those given, by the number of the coordinate that has them: of one, the first."""
    listed = [limits] if isinstance(limits, TurnLimits) else limits if isinstance(limits, (list, tuple)) else []
    found = {i: x for i, x in enumerate(listed) if isinstance(x, TurnLimits)}
    if found and max(found) >= len(names):
        raise ModelError(f"TurnLimits are of a ball or a free joint, not of one of ({', '.join(names)})")
    return found


def _without_turns(limits: Any) -> Any:
    """The same limits, of which those of balls leave the coordinates free."""
    if isinstance(limits, TurnLimits):
        return None
    if isinstance(limits, (list, tuple)) and any(isinstance(x, TurnLimits) for x in limits):
        return [UNLIMITED if x is None or isinstance(x, TurnLimits) else x for x in limits]
    return limits


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
        if c.damping or c.stiffness or c.armature or c.friction or mosts or c.turn is not None:
            raise ModelError(f"coordinate '{c.name}' is driven by others: give {WRITTEN} to those")


def refuse_on_manifolds(program: JointProgram, coordinates: Sequence[Coordinate]) -> None:
    """ModelError for limits where the position is no number, or is one, and is to be a rotation; and for springs of
    which there is no rotation vector."""
    turning = {f.first_v for f in program.factors if isinstance(f.space, Rotation | RigidMotion)}
    turning |= {0} if program.charts else set()
    for i, c in enumerate(coordinates):
        if c.turn is not None and i not in turning:
            raise ModelError(
                f"TurnLimits of coordinate '{c.name}': they are of a ball or a free joint, and of the first of its"
                " coordinates where limits are listed one by one"
            )
    for f in program.factors:
        if not f.space.flat:
            turns = isinstance(f.space, Rotation | RigidMotion)
            for c in coordinates[f.first_v : f.first_v + f.nv]:
                if c.limits != UNLIMITED or (c.stiffness and not turns):
                    raise ModelError(
                        f"coordinate '{c.name}' is a velocity on the space '{f.space.name}', whose points are"
                        f" {f.space.written}: {'limits' if turns else 'stiffness and limits'} have no meaning there;"
                        f" {_INSTEAD[turns]} joints.euler or joints.universal"
                    )


def only_turns(coordinates: Sequence[Coordinate]) -> bool:
    """Whether nothing is said of coordinates but how far their joint turns, which has a meaning in every chart."""
    return all(replace(c, turn=None) == Coordinate(c.name) for c in coordinates)


def refuse_in_charts(coordinates: Sequence[Coordinate]) -> None:
    """ModelError for what the coordinates of a joint of several charts cannot have."""
    if not only_turns(coordinates):
        raise ModelError(
            f"a joint of several charts takes no {WRITTEN}: they have no meaning in all of them; it takes"
            " limits=joints.TurnLimits(...), and springs and dampers by scene.bushing or scene.spring"
        )


def with_torsion(program: JointProgram, coordinates: tuple[Coordinate, ...]) -> tuple[Coordinate, ...]:
    """What dynamics know the coordinates as: springs of a ball or a free joint act on its point as a whole."""
    if not any(c.stiffness for c in coordinates) or all(f.space.flat for f in program.factors):
        return coordinates
    result = list(coordinates)
    for f in program.factors:
        if not f.space.flat:
            for i in range(f.first_v, f.first_v + f.nv):
                result[i] = replace(result[i], stiffness=0.0, torsion=result[i].stiffness)
    return tuple(result)
