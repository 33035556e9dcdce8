"""The rows of joints that are solved for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recursive_dyn.maximal.joint_rows.joint_rows import JointRows

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class RowSystem:
    """Rows, their compliance (n, 6), infinite for those left out, and the rates (n, 6) they are to have."""

    rows: JointRows
    softness: Array
    wanted: Array
