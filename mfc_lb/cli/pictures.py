"""Pictures that commands write; they appear whole or not at all."""

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from mfc_lb.cli.mistakes import refuse
from mfc_lb.cli.options import OUTPUT, option
from mfc_lb.cli.table_file import NewFile

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class PictureFile(NewFile):
    """The name of a picture's file."""

    suffix = ".png"


picture = option(
    "--picture",
    type=PictureFile(),
    section=OUTPUT,
    metavar="FILE.png",
    text="Write a picture to this file. Needs the extra 'book': pip install 'mfc_lb[book]'.",
)


def write_picture(figure: "Figure", path: Path) -> None:
    """Write a figure; the same figure gives the same bytes."""
    from mfc_lb.files import write_whole

    content = BytesIO()
    figure.savefig(content, format="png", dpi=200, metadata={"Software": None})
    try:
        write_whole(path, content.getvalue())
    except OSError as error:
        refuse("--picture", f"a file that can be written ({error.strerror})", str(path))
