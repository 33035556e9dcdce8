"""Points as Bullet tells them."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Integers

BITS = 24  # Bullet's ids fit into as many
LOW = (1 << BITS) - 1
SURE = -3  # instead of a link: of two whose points do not depend on what Bullet remembers


class RawPoints(NamedTuple):
    """Points as Bullet tells them: ids (n, 4) of A, of B, and of their links; values (n, 10): the points on A and on B,
    the normal from B to A, the distance; m, world axes. found (1,): how many there are, be there room for all or not.
    """

    ids: Annotated[np.ndarray, int, 4]
    values: Annotated[np.ndarray, float, 10]
    found: Integers
