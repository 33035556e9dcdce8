"""The benchmark of pictures draws what it says."""

import numpy as np
import pytest

from bridge.drawing.gl_context import usable
from bridge.picture import egl
from demos.benchmark import drawing


@pytest.mark.skipif(not (usable() and egl.usable()), reason="OpenGL 3.3 or Bullet's EGL renderer does not work here")
def test_both_draw_the_bodies(monkeypatch):
    monkeypatch.setattr(drawing, "SIZE", (80, 60))
    monkeypatch.setattr(drawing, "least", lambda run, repeats=1: (float(run() is not None), 1.0))
    assert set(drawing.ours(5)) == {"fine", "fine, CPU", "fast", "fast, CPU", "poses"}
    assert set(drawing.bullets(5)) == {"1", "1, CPU", "4", "4, CPU"}
    assert np.isfinite(drawing.poses(5)).all()
