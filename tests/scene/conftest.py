"""Robots written to files and read back."""

import pytest

from scene import Scene


@pytest.fixture
def write(tmp_path):
    def to_file(*elements, text=None):
        path = tmp_path / "robot.urdf"
        path.write_text(f"<robot name='r'>{''.join(elements)}</robot>" if text is None else text)
        return path

    return to_file


@pytest.fixture
def load(write):
    def from_elements(*elements, fixed_base=True, **options):
        return Scene.from_urdf(write(*elements), fixed_base=fixed_base, **options)

    return from_elements
