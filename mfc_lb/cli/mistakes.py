"""How an error is told: an exit code and one line, in the words of the command line."""

import errno
import re
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from typing import NoReturn

import click

FAILED, MISTAKE = 1, 2

# Modules of the extras; any other that is missing is the book's.
_EXTRAS = {
    "google": "cluster",
    "grpc": "cluster",
    "gymnasium": "train",
    "stable_baselines3": "train",
    "torch": "train",
}
# Modules of the errors that a run ends with when it cannot go on.
_FAILURES = {"mfc_lb.cluster.rpc.errors", "mfc_lb.companion.errors"}
# Where an option is not called as the library's parameter is.
_OPTIONS = {
    "rates": "--arrival-rates",
    "kernel": "--arrival-kernel",
    "initial": "--arrival-initial",
    "decision_rule": "--decision-rule",
}
# A message begins with "field must", "field[index] must" or "field shape must".
_FIELD = re.compile(r"\A(?P<name>[a-z_]+)(?=(\[\d+\])?( shape)? must )")
_SETTING = re.compile(r"\b(?P<name>[a-z_]+)='(?P<value>\w+)'")


def explain(error: Exception) -> tuple[int, str] | None:
    """Return the exit code and the line for an error; None for an error of our own."""
    from mfc_lb.errors import InvalidInput

    if isinstance(error, click.ClickException):
        return MISTAKE, _told_by_click(error)
    if isinstance(error, InvalidInput):
        return MISTAKE, str(error)
    if isinstance(error, ModuleNotFoundError) and not _is_ours(error):
        extra = _EXTRAS.get(str(error.name).partition(".")[0], "book")
        told = f"this needs {error.name}, from the extra {extra!r}"
        return MISTAKE, f"{told}: pip install 'mfc_lb[{extra}]'"
    return _explain_failure(error)


def _explain_failure(error: Exception) -> tuple[int, str] | None:
    if isinstance(error, MemoryError):
        return FAILED, "there is not enough memory for this; ask for less of it"
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return FAILED, f"nothing more can be written: {error.strerror}"
    if isinstance(error, BrokenExecutor):
        return FAILED, "a process of the run was killed, most likely for want of memory"
    if isinstance(error, ConnectionError):
        return FAILED, f"{error}; start it again"
    if type(error).__module__ in _FAILURES:
        return FAILED, str(error)
    return None


def _is_ours(error: ModuleNotFoundError) -> bool:
    return error.name is None or error.name.partition(".")[0] == "mfc_lb"


def _told_by_click(error: click.ClickException) -> str:
    if isinstance(error, click.BadParameter) and error.param and error.message.startswith("must "):
        return f"{option_name(error.param)} {error.message}"
    return " ".join(error.format_message().split())


def option_name(parameter: click.Parameter) -> str:
    """Return the name by which a parameter is written on the command line."""
    if isinstance(parameter, click.Argument):
        return parameter.human_readable_name
    return max(parameter.opts, key=len)


@contextmanager
def naming_options(**special: str) -> Iterator[None]:
    """Turn the library's refusal of a value into one that names the option.

    Parameters
    ----------
    **special : str
        What fields are called whose names differ from their options' in this command.
    """
    from mfc_lb.errors import InvalidInput

    def called(field: str) -> str:
        return special.get(field, _option(field))

    try:
        yield
    except InvalidInput as error:
        message = _FIELD.sub(lambda found: called(found["name"]), str(error))
        message = _SETTING.sub(lambda set_: f"{_option(set_['name'])} {set_['value']}", message)
        raise click.UsageError(message) from None


def refuse(field: str, allowed: str, value: object) -> NoReturn:
    """Raise the error of an option's value, in the house's one-line form."""
    raise click.UsageError(f"{field} must be {allowed}, got {value!r}")


def _option(field: str) -> str:
    return _OPTIONS.get(field, "--" + field.replace("_", "-"))
