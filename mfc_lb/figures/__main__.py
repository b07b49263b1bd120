"""Draw the picture of the README: ``python -m mfc_lb.figures``."""

from pathlib import Path

import mfc_lb
from mfc_lb.baseline import restart
from mfc_lb.experiments import load
from mfc_lb.figures.trajectories import herd

PICTURE = Path(mfc_lb.__file__).resolve().parents[1] / "book" / "_static" / "herd.png"

if __name__ == "__main__":
    restart()
    herd(load("trajectories", "paper")).savefig(PICTURE, dpi=200, metadata={"Software": None})
