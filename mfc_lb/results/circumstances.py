"""When, where and with what something was computed: for people, numbers do not depend on it."""

import platform
import re
import subprocess
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import joblib

from mfc_lb.baseline import in_force
from mfc_lb.results.folders import LIBRARY

#: Packages whose rounding or random numbers a result could show.
PACKAGES = ("numpy", "scipy", "numba", "torch", "stable-baselines3")
_CPU_FILE = Path("/proc/cpuinfo")
_MODEL = re.compile(r"^model name\s*:\s*(.+)$", re.MULTILINE)


def circumstances(processes: int) -> dict[str, Any]:
    """Return when, where and with what a result is computed now.

    Parameters
    ----------
    processes : int
        Number of processes; -1 for one per core.

    Returns
    -------
    dict
        ``finished`` (UTC), ``commit``, ``machine``, ``baseline``, ``processes``, ``python`` and
        ``packages``.
    """
    return {
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit(LIBRARY.parent),
        "machine": machine(),
        "baseline": in_force(),
        "processes": joblib.effective_n_jobs(processes),
        "python": platform.python_version(),
        "packages": package_versions(PACKAGES),
    }


def commit(folder: Path) -> str:
    """Return the commit of a checkout, with ``+`` behind it if files were changed since."""
    head = _git(folder, "rev-parse", "HEAD")
    if not head:
        return "unknown"
    return head + ("+" if _git(folder, "status", "--porcelain", "--untracked-files=no") else "")


def commit_date(folder: Path) -> str:
    """Return when the commit of a checkout was made, with its zone."""
    return _git(folder, "show", "-s", "--format=%cI") or "unknown"


def machine() -> str:
    """Return the processor, its cores that may be used, and the system."""
    found = _MODEL.search(_CPU_FILE.read_text("utf-8")) if _CPU_FILE.is_file() else None
    processor = found[1].strip() if found else platform.processor() or platform.machine()
    return f"{processor}, {joblib.cpu_count()} cores, {platform.system()} {platform.machine()}"


def package_versions(names: tuple[str, ...]) -> dict[str, str]:
    """Return the versions of those packages that are installed."""
    found = {}
    for name in names:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _git(folder: Path, *words: str) -> str:
    """Return what git says of a folder; nothing if there is no git or no repository."""
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *words], capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return done.stdout.strip()
