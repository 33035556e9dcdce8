"""One cache of compiled code for the whole session, shared by all workers; repeatable hypothesis examples."""

import os
import shutil
import sys
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

settings.register_profile(
    "laws", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
settings.load_profile("laws")

_OWN = "RECURSIVE_DYN_CACHE" not in os.environ  # false in a worker: it inherits the controller's folder
if _OWN:
    os.environ["RECURSIVE_DYN_CACHE"] = tempfile.mkdtemp(prefix="recursive-dyn-tests-")


def pytest_unconfigure(config):
    if _OWN:
        shutil.rmtree(os.environ["RECURSIVE_DYN_CACHE"], ignore_errors=True)


_ORDER = ("contact", "bridge", "simulation", "demos", "laws", "codegen", "scene", "manifold")


def pytest_collection_modifyitems(items):
    """What needs the compiled loops of contact comes first: one worker compiles them for all while others do the rest.

    That holds when each worker starts with a stretch of the whole (``--dist worksteal``).
    """
    here = Path(__file__).resolve().parent

    def place(item):
        folder = item.path.relative_to(here).parts[0]
        return _ORDER.index(folder) if folder in _ORDER else len(_ORDER)

    items.sort(key=place)
