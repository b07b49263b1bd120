"""Recorded live runs, in ``data/live_cluster``: what the book shows of them.

A live run is different each time, so the book cannot show one that is made with it and still be the
same twice. Each recorded run is an event log with a card beside it that says how it was made.
"""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mfc_lb.cluster import log_bytes, parse_log
from mfc_lb.errors import require
from mfc_lb.experiments.live_cluster import LiveRun, LiveSetting, run
from mfc_lb.experiments.live_comparison import jitter
from mfc_lb.experiments.live_traces import open_trace
from mfc_lb.files import sha256, write_whole, write_whole_json
from mfc_lb.results.circumstances import circumstances, package_versions
from mfc_lb.results.folders import data_folder
from mfc_lb.results.storage import read_json

COMMAND = "mfc-lb results record-live"
#: Real seconds for each second of the trace, by the size of the book.
TIME_SCALES = {"quick": LiveSetting().time_scale, "paper": 1.0}
#: In which a worker is killed.
KILLED = "killed"
#: Packages that a live run depends on.
PACKAGES = ("grpcio", "protobuf", "numpy", "numba")
#: What is recorded, by name.
RECORDED = {
    f"{balancer}-{size}": LiveSetting(balancer=balancer, time_scale=time_scale)
    for balancer in ("round-robin", "least-loaded")
    for size, time_scale in TIME_SCALES.items()
} | {KILLED: LiveSetting()}


def record(names: tuple[str, ...] = (), folder: Path | None = None) -> Iterator[Path]:
    """Make live runs and keep them.

    Parameters
    ----------
    names : tuple of str, optional
        Of `RECORDED`; all by default, which takes three minutes.
    folder : Path, optional
        Where to; ``data/live_cluster`` by default.

    Yields
    ------
    Path
        Of each log; its card, with the suffix ``.json``, is beside it.
    """
    for name in names or RECORDED:
        require(name in RECORDED, "name", name, f"one of {', '.join(RECORDED)}")
    for name in names or RECORDED:
        path = (folder or records_folder()) / f"{name}.log"
        done = run(RECORDED[name], kill=name == KILLED)
        content = log_bytes(done.log)
        write_whole(path, content)
        write_whole_json(path.with_suffix(".json"), _card(name, done, content))
        yield path


def recorded(name: str, folder: Path | None = None) -> LiveRun:
    """Return a recorded live run.

    Parameters
    ----------
    name : str
        Of `RECORDED`.
    folder : Path, optional
        Where it is; ``data/live_cluster`` by default.

    Raises
    ------
    InvalidInput
        If it is not there, or its log is not that of its card.
    """
    path = (folder or records_folder()) / f"{name}.log"
    content = path.read_bytes() if path.is_file() else b""
    digest = (card(name, folder) or {}).get("sha256")
    allowed = "there, with the checksum of its card"
    require(digest == sha256(content), f"recorded run {path.name}", str(path.parent), allowed)
    setting = RECORDED[name]
    return LiveRun(setting, open_trace(setting.trace), parse_log(content, str(path)))


def card(name: str, folder: Path | None = None) -> Any:
    """Return the card of a recorded run, or None."""
    return read_json((folder or records_folder()) / f"{name}.json")


def drawn(fresh: LiveRun, shown: str, name: str) -> LiveRun:
    """Return the run that a page draws.

    Parameters
    ----------
    fresh : LiveRun
        The run of the page.
    shown : {"recorded", "this run"}
        What the reader asks for.
    name : str
        Of the recorded run, which stands for any with the chapter's own setting only.
    """
    return recorded(name) if shown == "recorded" and fresh.setting == LiveSetting() else fresh


def records_folder() -> Path:
    """Return where recorded runs are: ``data/live_cluster``."""
    return data_folder() / "live_cluster"


def _card(name: str, done: LiveRun, content: bytes) -> dict[str, Any]:
    processes = done.setting.workers + 2
    computed = circumstances(processes) | {"packages": package_versions(PACKAGES)}
    return {
        "name": name,
        "command": f"{COMMAND} {name}",
        "setting": asdict(done.setting),
        "jobs": len(done.trace),
        "events": len(done.log),
        "jitter_milliseconds": jitter(done).round(3).to_dict("index"),
        "computed": computed,
        "sha256": sha256(content),
    }
