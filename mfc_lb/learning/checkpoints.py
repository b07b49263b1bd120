"""The state of a training run in a file, from which it goes on exactly as if never stopped."""

import io
import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mfc_lb.errors import InvalidInput, require
from mfc_lb.files import as_path, sha256, write_whole
from mfc_lb.model import SystemParameters

# Before the content stands its SHA-256, in hexadecimal: torch itself notices no flipped bit.
_DIGEST_LENGTH = 64

#: Where a checkpoint may be.
File = str | os.PathLike[str]


@dataclass(frozen=True)
class Checkpoint:
    """A file for the state of one training run.

    Parameters
    ----------
    file : str, Path or None
        Where it is; with None nothing is kept.
    parameters : SystemParameters
        The model.
    settings : dataclass
        The trainer's settings. A file of other parameters or settings is refused.
    every : float, optional
        Seconds between two writings. How often has no effect on the result.
    """

    file: File | None
    parameters: SystemParameters
    settings: Any
    every: float = 5.0

    def __post_init__(self) -> None:
        """Refuse what is no path before anything is trained."""
        _ = self.path

    @property
    def path(self) -> Path | None:
        """Where it is, if anything is kept."""
        return None if self.file is None else as_path("checkpoint", self.file)

    @property
    def _origin(self) -> str:
        # A subclass's demand is its own, whatever its numbers are.
        given = self.settings, self.parameters, self.parameters.arrivals
        kinds = [repr(type(one)) for one in given]
        return json.dumps([kinds, asdict(self.settings), asdict(self.parameters)], default=_told)

    def read(self) -> dict[str, Any] | None:
        """Return the stored state, or None if there is none.

        Raises
        ------
        InvalidInput
            If the file is not a checkpoint, or one of other parameters or settings.
        """
        if self.path is None:
            return None
        try:
            stored = _parsed(self.path.read_bytes())
            origin, state = stored["origin"], stored["state"]
        except (FileNotFoundError, NotADirectoryError):
            return None
        except Exception:  # noqa: BLE001  torch raises what it pleases on a damaged file
            raise InvalidInput(
                f"checkpoint must be one that training wrote, got {str(self.path)!r}, which is "
                "damaged or something else"
            ) from None
        same = "of a run with the same parameters and settings"
        require(origin == self._origin, "checkpoint", str(self.path), same)
        return dict(state)

    def writer(self) -> Callable[[Callable[[], dict[str, Any]]], None]:
        """Return a function that writes a state if it is time to; the state is asked for then."""
        last = time.monotonic()

        def write(state: Callable[[], dict[str, Any]]) -> None:
            nonlocal last
            if self.path is not None and time.monotonic() - last >= self.every:
                self._write(self.path, state())
                last = time.monotonic()

        return write

    def _write(self, path: Path, state: dict[str, Any]) -> None:
        content = io.BytesIO()
        stored = {"origin": self._origin, "state": state}
        torch.save(stored, content)
        whole = sha256(content.getvalue()).encode() + content.getvalue()
        if not _same(_parsed(whole), stored):
            raise InvalidInput("the checkpoint cannot be written: it does not read back the same")
        try:
            write_whole(path, whole)
        except OSError as error:
            raise InvalidInput(f"the checkpoint cannot be written: {error}") from None

    def remove(self) -> None:
        """Remove the file, when the run is complete."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)


def _told(value: Any) -> Any:
    """Return what JSON holds of a subclass's own fields: all of an array, which text is not."""
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else repr(value)


def _parsed(whole: bytes) -> dict[str, Any]:
    digest, content = whole[:_DIGEST_LENGTH], whole[_DIGEST_LENGTH:]
    if digest != sha256(content).encode():
        raise ValueError("damaged")
    return dict(torch.load(io.BytesIO(content), weights_only=True))


def _same(first: Any, second: Any) -> bool:
    """Compare two states to the byte; what is not a number is equal to itself here."""
    if isinstance(first, Tensor) and isinstance(second, Tensor):
        arrays = [one.detach().numpy() for one in (first, second)]
        return len({(one.dtype, one.shape, one.tobytes()) for one in arrays}) == 1
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(_same(first[k], second[k]) for k in first)
    if isinstance(first, (list, tuple)) and isinstance(second, (list, tuple)):
        return len(first) == len(second) and all(map(_same, first, second))
    return type(first) is type(second) and repr(first) == repr(second)
