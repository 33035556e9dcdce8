"""What is drawn of a joint, as fields of a scene file and back: the wire of a curve, the patch of a surface.

Both are sampled from the joint's own transform, so that only their ranges are written.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.spatial.spaces import Flat
from scene.file.document import fields, flag, number, table
from scene.joints.base import Joint
from scene.joints.curves.patch import PatchShape
from scene.joints.curves.polyline import CurvePath


def write(joint: Joint) -> dict[str, Any]:
    """The fields "path" and "patch" of a joint that has them. ModelError for one that is not sampled from it."""
    result: dict[str, Any] = {}
    path, patch = joint.path, joint.patch
    if path is not None:
        _check_source("path", path, CurvePath, joint)
        domain = [float(x) for x in path.domain]
        result["path"] = {"domain": domain, "length": float(path.length), "closed": bool(path.closed)}
    if patch is not None:
        _check_source("patch", patch, PatchShape, joint)
        domains = np.array(patch.domain, dtype=float).tolist()
        result["patch"] = {"domain": domains, "closed": [bool(x) for x in patch.closed]}
    return result


def read(given: dict[str, Any], joint: Joint) -> None:
    """Give the joint the path and the patch that its fields tell of. Raises ModelError."""
    if "path" in given:
        path = fields("path", given["path"], ("domain", "length", "closed"))
        domain = _ranges("domain of path", path["domain"], (2,))
        transform, length = _transform("path", joint, 1), number("length of path", path["length"])
        joint.path = CurvePath(transform, domain, length, flag("closed of path", path["closed"]))
    if "patch" in given:
        patch = fields("patch", given["patch"], ("domain", "closed"))
        domain = _ranges("domain of patch", patch["domain"], (2, 2))
        u, v = table("closed of patch", patch["closed"], (2,), flag)
        joint.patch = PatchShape(_transform("patch", joint, 2), domain, (u, v))


def _check_source(what: str, drawn: Any, kind: type, joint: Joint) -> None:
    """Refuse what would be another thing once it is made from the joint again."""
    factors = joint.program.factors
    pairs = zip(drawn._transform.flat, factors[0].transform.flat, strict=True) if factors else ()
    if type(drawn) is not kind or not factors or not all(a is b or a == b for a, b in pairs):
        raise ModelError(f"its {what} is not the one that its own transform gives; set joint.{what} = None")


def _transform(what: str, joint: Joint, count: int) -> np.ndarray:
    factors = joint.program.factors
    if [f.space for f in factors] != [Flat(count)] or joint.program.parameters:
        raise ModelError(
            f"only a joint of one plain factor in {count} coordinates, without names in quotes, has a {what}; remove it"
        )
    return factors[0].transform


def _ranges(what: str, value: Any, shape: tuple[int, ...]) -> Any:
    """(start, end), or one for each coordinate."""
    result = table(what, value, shape).astype(float)
    if not (result[..., 0] < result[..., 1]).all():
        raise ModelError(f"{what} must start below its end")
    pairs = [(float(a), float(b)) for a, b in result.reshape(-1, 2)]
    return pairs[0] if len(shape) == 1 else tuple(pairs)
