"""The state of a training run in a file, from which it goes on exactly as if never stopped."""

import io
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from mfc_lb.errors import InvalidInput, require
from mfc_lb.files import write_whole
from mfc_lb.model import SystemParameters


@dataclass(frozen=True)
class Checkpoint:
    """A file for the state of one training run.

    Parameters
    ----------
    path : Path or None
        Where it is; with None nothing is kept.
    parameters : SystemParameters
        The model.
    settings : dataclass
        The trainer's settings. A file of other parameters or settings is refused.
    every : float, optional
        Seconds between two writings. How often has no effect on the result.
    """

    path: Path | None
    parameters: SystemParameters
    settings: Any
    every: float = 5.0

    @property
    def _origin(self) -> str:
        method = type(self.settings).__name__
        return json.dumps([method, asdict(self.settings), asdict(self.parameters)], default=str)

    def read(self) -> dict[str, Any] | None:
        """Return the stored state, or None if there is none.

        Raises
        ------
        InvalidInput
            If the file is not a checkpoint, or one of other parameters or settings.
        """
        if self.path is None or not self.path.exists():
            return None
        try:
            stored = torch.load(self.path, weights_only=True)
            origin, state = stored["origin"], stored["state"]
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
        torch.save({"origin": self._origin, "state": state}, content)
        try:
            write_whole(path, content.getvalue())
        except OSError as error:
            raise InvalidInput(f"the checkpoint cannot be written: {error}") from None

    def remove(self) -> None:
        """Remove the file, when the run is complete."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)
