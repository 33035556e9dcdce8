"""How fast a gap grows with its direction, in closed form: of a cap on a ball the derivative is a cone's."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.curved.distances import CYLINDER, ELLIPSOID
from bridge.curved.gap_along import gap_along
from bridge.curved.gap_growth import growth
from bridge.curved.solid import Solid

RADIUS, HALF = 0.1, 0.02


def solids(aside, angle):
    """A cylinder whose lower cap is over a ball, so far aside of its top, and the direction between them."""
    ball = Solid(ELLIPSOID, np.zeros(3), np.eye(3), np.full(3, 0.05))
    centre = np.array([aside * math.cos(angle), aside * math.sin(angle), 0.05 + HALF])
    return Solid(CYLINDER, centre, np.eye(3), np.array([RADIUS, HALF, 0.0])), ball


@settings(max_examples=60, deadline=None)
@given(st.floats(0.0, 3.0), st.floats(0.0, 2.0 * math.pi))
def test_over_a_cap_the_gap_grows_as_its_middle_is_beyond_the_rim(share, angle):
    """Nowhere while something of the cap is above the top of the ball, also close to its rim."""
    cylinder, ball = solids(share * RADIUS, angle)
    n, way = np.array([0.0, 0.0, 1.0, 0.0]), np.zeros(3)
    speed = growth(cylinder, ball, n, way)
    assert speed == pytest.approx(max(share - 1.0, 0.0) * RADIUS, abs=1e-7)
    if share > 1.01:
        np.testing.assert_allclose(way, (math.cos(angle), math.sin(angle), 0.0), atol=1e-3)
        a, b, step = np.zeros(3), np.zeros(3), 1e-6
        ahead = (n[:3] + step * way) / math.hypot(1.0, step)
        grown = gap_along(cylinder, ball, ahead, a, b) - gap_along(cylinder, ball, n[:3], a, b)
        assert grown == pytest.approx(step * speed, rel=1e-3)
