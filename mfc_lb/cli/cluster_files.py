"""The files of a run of a cluster: its job table and its event log."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mfc_lb.cli.mistakes import refuse
from mfc_lb.cli.options import OUTPUT, combined, option
from mfc_lb.cli.table_file import NewFile, TableFile

if TYPE_CHECKING:
    import pandas as pd

    from mfc_lb.cluster import SimulationResult


class LogFile(NewFile):
    """The name of an event log."""

    suffix = ".log"


job_table = option(
    "--output",
    type=TableFile(),
    section=OUTPUT,
    metavar="FILE.csv",
    text="Write the job table to this file: job_id, worker, arrival_time_us, start_time_us, "
    "finish_time_us, waiting_time_us, response_time_us, final_state. It appears whole or not at "
    "all.",
)
event_log = option(
    "--log",
    type=LogFile(),
    section=OUTPUT,
    metavar="FILE.log",
    text="Write every action to this file, as protocol buffers; mfc-lb cluster check-log checks "
    "from it that the run kept the rules.",
)
#: Both.
files = combined(job_table, event_log)


def try_files(given: dict[str, Any], *names: str) -> None:
    """Refuse the names of files that cannot be written, before anything runs.

    Parameters
    ----------
    given : dict
        Values of the options.
    *names : str
        Options for files besides those of `files`.
    """
    for name in ("output", "log", *names):
        path = given.get(name)
        if path is not None:
            _writing(f"--{name}", path, _touch)


def write_files(result: "SimulationResult", given: dict[str, Any]) -> None:
    """Write what `files` asks for."""
    from mfc_lb.cluster import log_bytes
    from mfc_lb.files import write_whole

    write_table(given, "output", result.to_frame)
    if given["log"] is not None:
        content = log_bytes(result.log)
        _writing("--log", given["log"], lambda path: write_whole(path, content))


def write_table(given: dict[str, Any], name: str, table: Callable[[], "pd.DataFrame"]) -> None:
    """Write the table that an option for a file asks for, if it does."""
    from mfc_lb.files import write_whole

    if given[name] is not None:
        content = table().to_csv(index=False, lineterminator="\n").encode()
        _writing(f"--{name}", given[name], lambda path: write_whole(path, content))


def _touch(path: Path) -> None:
    neighbour = path.with_name(f".{path.name}.tmp")
    neighbour.touch()
    neighbour.unlink()


def _writing(name: str, path: Path, write: Callable[[Path], None]) -> None:
    try:
        write(path)
    except OSError as error:
        refuse(name, f"a file that can be written ({error.strerror})", str(path))
