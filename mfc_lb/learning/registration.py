"""The environment's name in gymnasium.

gymnasium takes a second to import, for which those who only load a policy should not wait. So where
it is not imported yet, the name is registered once it is.
"""

import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from typing import Any

ENVIRONMENT = "mfc_lb/MeanField-v0"
SINGLE, VECTOR = (f"mfc_lb.learning.environment:MeanField{one}Env" for one in ("", "Vector"))
_REGISTRY = "gymnasium.envs"


def register() -> None:
    """Let ``gymnasium.make`` and ``gymnasium.make_vec`` know the environment, now or later."""
    if _REGISTRY in sys.modules:
        _register()
    else:
        sys.meta_path.insert(0, _OnceImported())


def _register() -> None:
    from gymnasium.envs import registration

    if ENVIRONMENT not in registration.registry:
        registration.register(ENVIRONMENT, SINGLE, vector_entry_point=VECTOR)


class _OnceImported(MetaPathFinder):
    """Finds nothing itself, but registers the environment once gymnasium has its own."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if fullname != _REGISTRY:
            return None
        sys.meta_path.remove(self)
        spec = find_spec(fullname)
        loader: Any = spec.loader if spec else None
        if loader is not None:
            execute = loader.exec_module

            def execute_and_register(module: Any) -> None:
                execute(module)
                _register()

            loader.exec_module = execute_and_register
        return spec
