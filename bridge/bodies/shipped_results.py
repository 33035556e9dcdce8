"""What comes with the package: convex parts of every hollow mesh that moves in pybullet_data's robots, and corners.

``python -m bridge.bodies.shipped_results`` makes them again, as it must be when the way of cutting changes. Without
them a first robot would wait for minutes; without corners for the import of what finds convex hulls.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from bridge.bodies.convex_decomposition import cut, parts_key
from bridge.mesh_cache import SHIPPED, packed
from bridge.planes.supports import corners, corners_key
from scene import shapes

HOLLOW = (
    *(f"bicycle/files/{name}_scaled.stl" for name in ("handlebar", "wheel")),
    *(f"bicycle/files/frame_scaled_{side}.stl" for side in ("left", "right")),
    *(f"laikago/{name}.stl" for name in ("hip_motor", "hip_motor_mirror", "lower_leg_3", "lower_leg_3_collision")),
    *(f"mini_cheetah/meshes/{name}.obj" for name in ("mini_abad", "mini_body")),
    "xarm/xarm_description/meshes/xarm6/visual/link6.stl",
    *(
        f"xarm/xarm_gripper/meshes/{side}_{name}.STL"
        for side in ("left", "right")
        for name in ("finger", "inner_knuckle", "outer_knuckle")
    ),
)  # files of pybullet_data
IN_PARTS = (  # cut already
    *(f"laikago/chassis_vhacd_mod{kind}.obj" for kind in ("", "_zup")),
    *(f"laikago/upper_leg_{side}_vhacd.obj" for side in ("left", "right")),
)


def mesh_of(name: str) -> shapes.Mesh:
    """A file of pybullet_data."""
    import pybullet_data

    return shapes.Mesh(Path(pybullet_data.getDataPath()) / name)


def main() -> None:
    """Make what is missing, and remove what is not wanted any more; all of it takes some minutes."""
    SHIPPED.mkdir(exist_ok=True)
    wanted: dict[str, Callable[[], dict[str, np.ndarray] | None]] = {}
    for mesh in map(mesh_of, (*HOLLOW, *IN_PARTS)):
        wanted[corners_key(mesh)] = partial(lambda mesh: {"corners": corners(mesh)}, mesh)
    for mesh in map(mesh_of, HOLLOW):
        wanted[parts_key(mesh)] = partial(cut, mesh)
    for path in SHIPPED.glob("*.npz"):
        if path.stem not in wanted:
            path.unlink()
    for key, make in wanted.items():
        path = SHIPPED / f"{key}.npz"
        found = None if path.exists() else make()
        if found is not None:
            path.write_bytes(packed(found))


if __name__ == "__main__":
    main()
