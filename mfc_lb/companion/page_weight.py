"""Lighter pages: the theme's icons that are used, pictures in a denser format, nothing twice."""

import re
import shutil
from pathlib import Path

_ICON_SCRIPT = re.compile(r'\s*<script src="[^"]*fontawesome[^"]*"></script>')
_ICON_RULE = re.compile(r'((?:\.fa-[\w-]+:{1,2}before,?)+)\{content:"[^"]*"\}')
_ICON_NAME = re.compile(r"\bfa-[\w-]+")
_CODE_POINT = re.compile(r"\\([ef][0-9a-f]{3})\b")
# An icon may also stand in a style sheet as the character itself.
_ICON = re.compile("[\ue000-\uf8ff]")
_DENSE_SOURCE = re.compile(r'url\([^)]*\.woff2\) format\("woff2"\),')
_PICTURE = re.compile(r'(?<=src=")(_images/[\w.-]+)\.png(?=")')


def lighten(pages: Path) -> None:
    """Take from all pages in a folder what they load without need; they look the same after it."""
    paths = sorted(pages.glob("*.html"))
    for folder in (pages / "_static" / "vendor").glob("fontawesome/*"):
        _keep_used_icons(pages, folder)
    for page in paths:
        text = _ICON_SCRIPT.sub("", page.read_text("utf-8"))
        page.write_text(_PICTURE.sub(r"\1.webp", text), "utf-8")
    for picture in sorted((pages / "_images").glob("*.png")):
        _make_denser(picture)


def _keep_used_icons(pages: Path, folder: Path) -> None:
    """Leave those icons in the style sheet and the font that a page, script or style names.

    The theme loads all two thousand of them twice: as a font, and as drawings in a script that
    would replace the font's.
    """
    shutil.rmtree(folder / "js", ignore_errors=True)
    style = folder / "css" / "all.min.css"
    others = [*pages.rglob("*.html"), *pages.rglob("*.js"), *pages.rglob("*.css")]
    texts = [path.read_text("utf-8") for path in others if folder not in path.parents]
    named = set(_ICON_NAME.findall("\n".join(texts)))
    kept = _ICON_RULE.sub(
        lambda rule: rule[0] if named & set(_ICON_NAME.findall(rule[1])) else "",
        style.read_text("utf-8"),
    )
    style.write_text(_DENSE_SOURCE.sub("", kept), "utf-8")
    everything = "\n".join([kept, *texts])
    code_points = {int(code, 16) for code in _CODE_POINT.findall(everything)}
    code_points |= set(map(ord, _ICON.findall(everything)))
    for font in (folder / "webfonts").glob("*.ttf"):
        _keep_glyphs(font, code_points)
        font.with_suffix(".woff2").unlink(missing_ok=True)


def _keep_glyphs(font: Path, code_points: set[int]) -> None:
    from fontTools import subset

    options = subset.Options(drop_tables=["FFTM"], notdef_outline=True)
    with subset.load_font(str(font), options) as loaded:
        subsetter = subset.Subsetter(options)
        subsetter.populate(unicodes=code_points)
        subsetter.subset(loaded)
        subset.save_font(loaded, str(font), options)


def _make_denser(picture: Path) -> None:
    """Write a PNG as lossless WebP in its place; the PNG to download lies in ``figures/``."""
    from PIL import Image

    with Image.open(picture) as image:
        image.save(picture.with_suffix(".webp"), lossless=True, quality=50, method=3)
    picture.unlink()
