"""Contact beside PyBullet's own simulation and MuJoCo: each scene is described once, every engine builds it itself."""
