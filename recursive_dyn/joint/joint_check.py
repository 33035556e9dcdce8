"""What a joint must be to have dynamics: rigid, in declared symbols only, using every coordinate, not degenerate."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Expression
from recursive_dyn.graph.traversal import evaluate, reachable
from recursive_dyn.joint.chart import charts_problem
from recursive_dyn.joint.chart_cover import hole
from recursive_dyn.joint.charted_program import TurnedProgram
from recursive_dyn.joint.coordinate import TIME, Coordinate
from recursive_dyn.joint.joint_program import Carried, JointProgram

_RIGID_TOLERANCE = 1e-9
_POINTS = 24
_EYE = np.eye(4)
_SOUND: set[Any] = set()  # joints with their settings in which nothing is wrong
_MOST_SOUND = 4096
FAR = 1e9  # limits beyond this are none for the purpose of sampling


def coordinate_labels(joint: JointProgram, coordinates: Sequence[Coordinate], body: str) -> list[str]:
    """Names (nq,) of a joint's configuration coordinates."""
    labels: list[str] = []
    for f in joint.factors:
        own = [c.name for c in coordinates[f.first_v : f.first_v + f.nv]]
        labels += [f"{body}.{name}" for name in f.space.labels(own)]
    return labels


def check_joint(
    joint: JointProgram, body: str, coordinates: Sequence[Coordinate], parameters: Mapping[str, float]
) -> None:
    """Refuse a joint that is not a rigid motion, does not use a coordinate, or whose S never has full rank.

    The transform is sampled within the coordinates' limits, else in [-2, 2], at the parameters' values. Raises
    ModelError naming the body and the coordinate. The moving core of equal joints is checked once. Of several charts
    each is checked by itself, and all for describing the same motion; a hole between them is told by a warning.
    """
    for chart in joint.charts[:1] if isinstance(joint, TurnedProgram) else joint.charts:
        check_joint(chart, body, coordinates, parameters)
    if isinstance(joint, TurnedProgram):
        return  # one formula
    if joint.charts:
        problem = charts_problem(joint, parameters)
        if problem:
            raise ModelError(f"joint of '{body}': {problem}")
        _tell_of_holes(joint, body, coordinates, parameters)
        return
    checked = joint.key, tuple(c.limits for c in coordinates), tuple((p, parameters.get(p)) for p in joint.parameters)
    if checked in _SOUND:
        return
    unknown = sorted(joint.parameters - parameters.keys())
    if unknown:
        raise ModelError(
            f"joint of '{body}': its transform uses the symbol '{unknown[0]}', which is neither one of its"
            " coordinates nor a scene.parameter; list it in the coordinates or declare it with scene.parameter"
        )
    leading, core, trailing = joint.split
    problem = next(filter(None, (_constant_problem(X, parameters) for X in (*leading, *trailing))), None)
    if problem is None and core.factors:
        _check_use(core, body, coordinate_labels(core, coordinates, body))
        try:
            problem = _core_problem(core.key, *_setting(core, coordinates, parameters), Carried(core))
            problem = problem or _rank_problem(core, coordinates, parameters)
        except ModelError as error:  # a constant that is not finite turned up while the derivatives were made
            problem = str(error)
    if problem:
        raise ModelError(f"joint of '{body}': {problem}")
    if len(_SOUND) == _MOST_SOUND:
        _SOUND.clear()
    _SOUND.add(checked)


def check_placement(X: np.ndarray, body: str, parameters: Mapping[str, float]) -> None:
    """Refuse a place in the parent (4, 4) that is not a rigid motion at the parameters' values."""
    problem = _constant_problem(X, parameters)
    if problem:
        raise ModelError(f"the placement of body '{body}': {problem}")


def _check_use(core: JointProgram, body: str, labels: Sequence[str]) -> None:
    nodes = reachable(x for f in core.factors for x in f.transform[:3].flat)
    present = {n.args[0] for n in nodes if n.op == "input"}
    for i, label in enumerate(labels):
        if ("q", i) not in present:
            raise ModelError(
                f"joint of '{body}': its transform does not use the coordinate '{label}'; remove it or use it"
            )


def _domain(core: JointProgram, coordinates: Sequence[Coordinate]) -> np.ndarray:
    domain = np.tile([-2.0, 2.0], (core.nq, 1))
    for f in core.factors:
        if f.space.flat:
            for k in range(f.nv):
                limits = coordinates[f.first_v + k].limits
                if max(map(abs, limits)) < FAR:
                    domain[f.first_q + k] = limits
    return domain


def _constant_problem(X: np.ndarray, parameters: Mapping[str, float]) -> str | None:
    if not any(type(x) is Expression for x in X.flat):
        numbers = X.astype(float)
        moved_only = (numbers[:3, :3] == _EYE[:3, :3]).all() and (numbers[3] == _EYE[3]).all()
        return None if moved_only and np.isfinite(numbers).all() else _rigidity_problem(numbers[None])
    values = evaluate(list(X.flat), {("parameter", p): v for p, v in parameters.items()})
    return _rigidity_problem(np.array(values, dtype=float).reshape(1, 4, 4))


def dependence(
    joint: JointProgram, coordinates: Sequence[Coordinate], parameters: Mapping[str, float]
) -> tuple[int, tuple[int, ...]]:
    """(greatest rank of S at the sampled points, the coordinates that can change together without moving the child).

    The rank is -1 where S is not finite at any sampled point.
    """
    own = tuple(i for i in range(joint.nv) if coordinates[i] is not TIME)  # which goes on whatever they do
    return _dependence(joint.key, *_setting(joint, coordinates, parameters), own, Carried(joint))


def samples(
    joint: JointProgram, coordinates: Sequence[Coordinate], parameters: Mapping[str, float]
) -> dict[Any, np.ndarray]:
    """The points at which a joint is checked: values (points,) by input name."""
    return _inputs(joint, *_setting(joint, coordinates, parameters))


def _setting(
    joint: JointProgram, coordinates: Sequence[Coordinate], parameters: Mapping[str, float]
) -> tuple[tuple[tuple[str, float], ...], bytes]:
    values = tuple(sorted((p, float(parameters[p])) for p in joint.parameters))
    return values, _domain(joint, coordinates).tobytes()


def _inputs(joint: JointProgram, parameters: tuple[tuple[str, float], ...], domain: bytes) -> dict[Any, np.ndarray]:
    inputs = _samples(joint, np.frombuffer(domain).reshape(-1, 2))
    return inputs | {("parameter", p): np.full(_POINTS, v) for p, v in parameters}


@lru_cache(maxsize=4096)
def _core_problem(key: str, parameters: tuple[tuple[str, float], ...], domain: bytes, carrier: Carried) -> str | None:
    inputs = _inputs(carrier.joint, parameters, domain)
    problems = (_rigidity_problem(_table(factor.transform, inputs)) for factor in carrier.joint.factors)
    return next(filter(None, problems), None)


@lru_cache(maxsize=4096)
def _dependence(
    key: str, parameters: tuple[tuple[str, float], ...], domain: bytes, own: tuple[int, ...], carrier: Carried
) -> tuple[int, tuple[int, ...]]:
    S = _table(carrier.joint.kinematics().subspace, _inputs(carrier.joint, parameters, domain))
    S = S[np.all(np.isfinite(S), axis=(1, 2))][:, :, own]
    if not S.size:
        return (0 if len(S) else -1), ()
    ranks = np.array([np.linalg.matrix_rank(s, tol=1e-9 * max(1.0, np.abs(s).max())) for s in S])
    rank = int(ranks.max())
    idle = np.abs(np.linalg.svd(S[ranks == rank])[2][:, rank:]).max(axis=(0, 1), initial=0.0)
    return rank, tuple(own[i] for i in np.flatnonzero(idle > 1e-6))


def _rigidity_problem(G: np.ndarray) -> str | None:
    """What keeps sampled (n, 4, 4) transforms from being rigid motions; points that are not finite are passed over."""
    G = G[np.all(np.isfinite(G), axis=(1, 2))]
    if not len(G):
        return "its transform is not finite at any sampled point; a denominator or a tangent is zero everywhere"
    R = G[:, :3, :3]
    error = np.abs(np.swapaxes(R, 1, 2) @ R - np.eye(3)).max()
    if error > _RIGID_TOLERANCE or np.abs(G[:, 3] - [0, 0, 0, 1]).max() > _RIGID_TOLERANCE:
        return (
            f"its transform is not a rigid motion (R^T R differs from I by {error:.2g}, last row {G[0, 3].tolist()});"
            " the upper left 3 x 3 block must be a rotation and the last row 0 0 0 1"
        )
    if np.linalg.det(R).min() < 0.0:
        return "its transform is a reflection (det R = -1); flip one column, as in diag(1, -1, -1, 1)"
    return None


def _rank_problem(
    joint: JointProgram, coordinates: Sequence[Coordinate], parameters: Mapping[str, float]
) -> str | None:
    rank, idle = dependence(joint, coordinates, parameters)
    ways = sum(c is not TIME for c in coordinates)
    if rank == ways:
        return None
    if rank < 0:
        return "its motion subspace is not finite at any sampled point"
    names = " and ".join(f"'{coordinates[i].name}'" for i in idle)
    return (
        f"its {ways} coordinates move it in {rank} independent ways only, everywhere: {names} can change together"
        " without moving it; drop one of them"
    )


def _samples(joint: JointProgram, domain: np.ndarray) -> dict[Any, np.ndarray]:
    rng = np.random.default_rng(7)
    inputs: dict[Any, np.ndarray] = {}
    for factor in joint.factors:
        own = range(factor.first_q, factor.first_q + factor.nq)
        points = np.array([rng.uniform(domain[i, 0], domain[i, 1], _POINTS) for i in own]).reshape(-1, _POINTS).T
        inputs |= {("q", i): values for i, values in zip(own, factor.space.restored(points).T, strict=True)}
    return inputs


def _table(matrix: np.ndarray, inputs: Mapping[Any, np.ndarray]) -> np.ndarray:
    """Values (points, rows, columns) of a matrix of scalars at the sampled points."""
    values = evaluate(list(matrix.flat), inputs)
    return np.stack([np.broadcast_to(v, (_POINTS,)) for v in values], axis=-1).reshape(_POINTS, *matrix.shape)


def _tell_of_holes(
    joint: JointProgram, body: str, coordinates: Sequence[Coordinate], parameters: Mapping[str, float]
) -> None:
    found = hole(joint, parameters)
    if found is not None:
        place = ", ".join(f"{c.name} = {x:.3g}" for c, x in zip(coordinates, found[1], strict=True))
        warnings.warn(
            f"joint of '{body}': its charts leave a hole, in which all are singular, near {place} of chart {found[0]};"
            " a simulation that comes there stops; add a chart that serves there",
            stacklevel=2,
        )
