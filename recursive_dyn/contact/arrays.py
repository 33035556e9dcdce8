"""Types of arrays that compiled loops take."""

from __future__ import annotations

from typing import Annotated

import numpy as np

Floats = Annotated[np.ndarray, float]
Integers = Annotated[np.ndarray, int]
Flags = Annotated[np.ndarray, bool]
