"""The packages that are installed beside this one, whatever else has their names."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

_HOME = Path(__file__).resolve().parent.parent


def own(name: str) -> ModuleType:
    """The package ``name`` of this project, from now on the one that ``import name`` finds.

    ImportError where a file of that name, such as a user's own scene.py, was imported before.
    """
    place, found = _HOME / name / "__init__.py", sys.modules.get(name)
    if found is not None:
        file = getattr(found, "__file__", None)
        if file is None or Path(file).resolve() != place:
            raise ImportError(
                f"'{name}' is {file or 'another module'}, which was imported before this project's package of that"
                f" name; write 'from recursive_dyn.{name} import ...' ahead of it, or give that file another name"
            )
        return found
    spec = spec_from_file_location(name, place, submodule_search_locations=[str(place.parent)])
    if spec is None or spec.loader is None:
        raise ImportError(f"the package '{name}' is not at {place}; install the project again")
    module = sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
