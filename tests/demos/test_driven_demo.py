"""The demo of what moves as told: boxes slip where friction says, and the crank's piston is where its angle says."""

import numpy as np
import pytest

from demos import driven
from demos.stage import advance, mirrored


@pytest.mark.slow
def test_boxes_slip_once_the_table_accelerates_by_mu_g():
    """Its amplitude grows by GROWTH t: from a turning point to the next its acceleration grows by GROWTH SHAKE pi."""
    stage = driven.build()
    with mirrored(stage):
        advance(stage, 8.0)
    log = stage.report.__self__
    for k, mu in enumerate(driven.FRICTIONS):
        there = driven.GROWTH * log.slipped[f"box {k}"] * driven.SHAKE**2
        assert mu * 9.81 < there < mu * 9.81 + 1.5 * driven.GROWTH * driven.SHAKE * np.pi
        held, slipped = driven.at_turns(log.slipped[f"box {k}"])
        assert held < mu * 9.81 < slipped and f"holds at {held:.2f} m/s^2 and slips at {slipped:.2f}" in stage.report()
    assert log.power > 100.0
