"""What a figure shows, read back from what is drawn in it; and tables to draw.

Every table is made of numbers that differ from each other, so that a column, a sign, a factor, an
end of an interval or a place that is taken for another one shows.
"""

from collections.abc import Iterable, Mapping
from itertools import product

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgba
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle, StepPatch

from mfc_lb.figures.style import WIDTH


def estimates(columns: Mapping[str, Iterable], low: float = 2.0, high: float = 3.0) -> pd.DataFrame:
    """Return a row for each combination of the columns' values, with an estimate of its own.

    Estimates lie between `low` and `high`; the two arms of an interval differ.
    """
    rows = pd.DataFrame(list(product(*columns.values())), columns=list(columns))
    rng = np.random.default_rng(len(rows))
    estimate = rng.uniform(low, high, len(rows))
    arms = rng.uniform(0.02, 0.05, (2, len(rows))) * max(abs(low), abs(high))
    ends = {"interval_low": estimate - arms[0], "interval_high": estimate + 2.0 * arms[1]}
    return rows.assign(estimate=estimate, **ends)


def legend_colors(figure: Figure) -> dict[str, object]:
    """Return the colours of the legend's entries by their labels."""
    (legend,) = figure.legends
    handles = zip(legend.texts, legend.legend_handles, strict=True)
    return {text.get_text(): _color(handle) for text, handle in handles}


def _color(artist: Line2D | Rectangle) -> object:
    return artist.get_color() if isinstance(artist, Line2D) else artist.get_facecolor()


def _like(artist_color: object, color: object) -> bool:
    return color is None or to_rgba(artist_color)[:3] == to_rgba(color)[:3]


def lines(panel: Axes, color: object = None, style: str | None = None) -> list[Line2D]:
    """Return lines and rows of markers over places of the axis, in the order of their drawing."""
    return [
        line
        for line in panel.lines
        if _like(line.get_color(), color)
        and style in (None, line.get_linestyle())
        and line.get_transform() == panel.transData
    ]


def points(line: Line2D) -> np.ndarray:
    """Return the points of a line, shape (number, 2)."""
    return np.column_stack(line.get_data()).astype(float)


def curve(panel: Axes, color: object, style: str = "-") -> np.ndarray:
    """Return the points of the only line of a colour and a style."""
    (line,) = lines(panel, color, style)
    return points(line)


def levels(panel: Axes, color: object = None, style: str | None = None) -> list[float]:
    """Return the heights of lines that cross the whole panel."""
    return [
        float(line.get_ydata()[0])
        for line in panel.lines
        if _like(line.get_color(), color)
        and style in (None, line.get_linestyle())
        and line.get_transform() == panel.get_yaxis_transform(which="grid")
    ]


def bands(panel: Axes, color: object = None) -> list[np.ndarray]:
    """Return bands as rows (place, lower end, upper end)."""
    return [
        _ends(band.get_paths()[0].vertices)
        for band in panel.collections
        if isinstance(band, PolyCollection) and _like(band.get_facecolor()[0], color)
    ]


def _ends(corners: np.ndarray) -> np.ndarray:
    heights = {x: corners[corners[:, 0] == x, 1] for x in np.unique(corners[:, 0])}
    return np.array([(x, ends.min(), ends.max()) for x, ends in heights.items()])


def bars(panel: Axes, color: object = None, face: object = None) -> list[np.ndarray]:
    """Return rows of markers with error bars, each as rows (place, height, lower, upper end)."""
    return [
        _marks(container)
        for container in panel.containers
        if isinstance(container, ErrorbarContainer)
        and _like(container.lines[0].get_color(), color)
        and _like(container.lines[0].get_markerfacecolor(), face)
    ]


def _marks(container: ErrorbarContainer) -> np.ndarray:
    line, _, (collection,) = container.lines
    segments = np.array(collection.get_segments()).reshape(-1, 2, 2)
    marks = points(line)
    # The bar stands at its marker.
    np.testing.assert_array_equal(segments[:, :, 0], marks[:, [0, 0]])
    return np.column_stack([marks, segments[:, :, 1]])


def steps(panel: Axes) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the values and the edges of each line of steps."""
    found = [patch.get_data() for patch in panel.patches if isinstance(patch, StepPatch)]
    return [(np.asarray(step.values), np.asarray(step.edges)) for step in found]


def rectangles(panel: Axes) -> np.ndarray:
    """Return bars and shaded spans as rows (left, right, bottom, top)."""
    boxes = [patch.get_bbox() for patch in panel.patches if isinstance(patch, Rectangle)]
    return np.array([(box.x0, box.x1, box.y0, box.y1) for box in boxes])


def assert_curve(shown: np.ndarray, rows: pd.DataFrame, x: str, y: str = "estimate") -> None:
    """Assert that a line goes through these rows, in their order."""
    assert len(rows) > 0
    assert shown == pytest.approx(rows[[x, y]].to_numpy(float))


def assert_band(panel: Axes, color: object, rows: pd.DataFrame, x: str) -> None:
    """Assert that the only line and the only band of a colour show these rows."""
    assert_curve(curve(panel, color), rows, x)
    (band,) = bands(panel, color)
    expected = rows.sort_values(x)[[x, "interval_low", "interval_high"]]
    assert band == pytest.approx(expected.to_numpy(float))


def assert_heights(marks: np.ndarray, rows: pd.DataFrame) -> None:
    """Assert that markers and their error bars stand at the heights of these rows."""
    assert len(rows) > 0
    expected = rows[["estimate", "interval_low", "interval_high"]]
    assert marks[:, 1:] == pytest.approx(expected.to_numpy(float))


def assert_side_by_side(
    rows_of_marks: list[np.ndarray], places: Iterable[float], within: float
) -> None:
    """Assert that markers stand around their places: together in the middle, none at another's."""
    x = np.array([marks[:, 0] for marks in rows_of_marks])
    expected = np.array(list(places), dtype=float)
    assert x.mean(axis=0) == pytest.approx(expected)
    assert np.abs(x - expected).max() < within
    assert all(len(set(column)) == len(rows_of_marks) for column in x.T)


def assert_laid_out(figure: Figure) -> None:
    """Assert that panels are labelled and show something, and that texts have their room."""
    figure.draw_without_rendering()
    width, height = figure.canvas.get_width_height()
    assert figure.get_facecolor() == to_rgba("white")
    assert figure.get_figwidth() == WIDTH
    assert all(panel.has_data() for panel in figure.axes)
    assert figure.axes[0].get_ylabel()
    assert any(panel.get_xlabel() for panel in figure.axes)
    for axis in (axis for panel in figure.axes for axis in (panel.xaxis, panel.yaxis)):
        box = axis.label.get_window_extent()
        assert min(box.x0, box.y0, width - box.x1, height - box.y1) >= -1
    for legend in figure.legends:
        box = legend.get_window_extent()
        assert min(box.x0, width - box.x1) >= -1
        assert not any(box.overlaps(panel.bbox) for panel in figure.axes)
