"""The kernel that runs a notebook: this very Python, apart from a user's own settings."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mfc_lb import baseline
from mfc_lb.companion.location import LIBRARY
from mfc_lb.companion.records import RUN_FOLDER_VARIABLE

if TYPE_CHECKING:
    from jupyter_client.manager import AsyncKernelManager

LOG_FILE = "kernel.log"


def kernel_manager_class(run_folder: Path, scratch: Path) -> "type[AsyncKernelManager]":
    """Return a kernel manager for one run.

    An installed kernel named ``python3`` may belong to another Python, so none is looked up: the
    kernel is the interpreter that runs this function, and it imports this very library.

    Parameters
    ----------
    run_folder : Path
        Where the notebook's values and figures go.
    scratch : Path
        Home of IPython's own files, so that nobody's start-up scripts change a result, and of the
        kernel's log, which has the last words of one that dies.
    """
    from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager
    from traitlets import default

    launcher = ["-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = KernelSpec(
        argv=[sys.executable, *launcher, "--HistoryManager.enabled=False"],
        language="python",
        display_name="Python 3",
        env=_environment(run_folder, scratch),
    )

    class ThisPython(KernelSpecManager):
        def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
            del kernel_name
            return spec

    class Manager(AsyncKernelManager):
        @default("kernel_spec_manager")
        def _this_python(self) -> KernelSpecManager:
            return ThisPython()

        # Kernels that start together may pick the same TCP port; files cannot collide.
        @default("transport")
        def _by_file(self) -> str:
            return "tcp" if os.name == "nt" else "ipc"

        @default("connection_file")
        def _in_scratch(self) -> str:
            return str(scratch / "kernel.json")

        # Asynchronous as in the base class, which only assigns it, so that its type is lost.
        async def start_kernel(self, **options: Any) -> None:  # type: ignore[override]
            with (scratch / LOG_FILE).open("wb") as log:
                await super().start_kernel(**options, stdout=log, stderr=log)

    return Manager


def library_path() -> str:
    """Return a PYTHONPATH by which a child process imports this very library."""
    inherited = os.environ.get("PYTHONPATH")
    return os.pathsep.join([str(LIBRARY.parent), *([inherited] if inherited else [])])


def _environment(run_folder: Path, scratch: Path) -> dict[str, str]:
    return {
        **baseline.environment(),
        RUN_FOLDER_VARIABLE: str(run_folder),
        "IPYTHONDIR": str(scratch),
        "PYTHONPATH": library_path(),
        # The debugger's remarks on frozen modules are of no use to anybody here.
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    }
