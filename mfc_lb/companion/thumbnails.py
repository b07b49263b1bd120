"""Small pictures of the figures, for the page that shows them all."""

from pathlib import Path

THUMBNAILS_FOLDER = "thumbnails"
#: All are of one size, so that nothing moves on the page while they are loaded.
WIDTH, HEIGHT = 320, 220


def write_thumbnails(figures: Path, folder: Path) -> None:
    """Write a small version of each PNG file among the figures as WebP, on white.

    Parameters
    ----------
    figures : Path
        Where the PNG files are; it need not exist.
    folder : Path
        Gets them in a folder ``thumbnails``.
    """
    from PIL import Image, ImageOps

    target = folder / THUMBNAILS_FOLDER
    target.mkdir()
    for path in sorted(figures.glob("*.png")):
        with Image.open(path) as opened:
            small = ImageOps.pad(opened.convert("RGB"), (WIDTH, HEIGHT), color="white")
        small.save(target / f"{path.stem}.webp", format="WEBP", quality=60, method=6)
