"""The engines that the contact tables compare."""

from demos.benchmark.contact.engines.bullet import BulletEngine
from demos.benchmark.contact.engines.engine import Engine
from demos.benchmark.contact.engines.mujoco_engine import MujocoEngine
from demos.benchmark.contact.engines.ours import OursEngine

ENGINES: dict[str, type[Engine]] = {engine.label: engine for engine in (OursEngine, BulletEngine, MujocoEngine)}

__all__ = ["ENGINES", "BulletEngine", "Engine", "MujocoEngine", "OursEngine"]
