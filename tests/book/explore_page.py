"""What the live page shows, drawings as numbers on their axes, and what the library says of it."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
from matplotlib.colors import to_rgb
from numpy.typing import NDArray
from playwright.sync_api import Page

from mfc_lb import (
    ArrivalProcess,
    ConstantPolicy,
    MeanFieldSystem,
    SystemParameters,
    join_shortest_queue,
    load_policy,
    random_choice,
    softmin,
)
from mfc_lb.figures.style import look
from mfc_lb.figures.trajectories import filling_colors

PAPER = {"dt": 5.0, "high": 0.9, "low": 0.6, "beta": 0.5, "demand": "drawn", "seed": 1}
# The book's names of the page's rules.
POLICIES = {"random": "RND", "softmin": "softmin", "jsq": "JSQ", "learned": "MF"}
NEAR = 0.06  # of a pixel: the page rounds places to tenths
ROUGH, FINE, PERCENT = 1e-2, 1e-4, 1e-1  # the last digit of what is written

# Everything that a reader sees, with each shape's place, colours and strength as they are drawn.
READ = """async () => {
  for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame);  // drawn for this screen
  for (const fold of document.querySelectorAll("details")) fold.open = true;
  const find = id => document.getElementById(`explore-${id}`);
  const seen = (parent, selector) => [...parent.querySelectorAll(selector)].filter(
    node => node.checkVisibility({ opacityProperty: true, visibilityProperty: true }));
  const shape = node => {
    const { fill, stroke, opacity, strokeWidth } = getComputedStyle(node);
    const { x, y, width, height } = node.getBBox(), moved = node.transform.baseVal.consolidate();
    return { tag: node.tagName, kind: node.getAttribute("class") || "", text: node.textContent,
      outline: node.getAttribute("d") || "", fill, stroke, opacity: Number(opacity),
      weight: parseFloat(strokeWidth), box: [x, y, x + width, y + height],
      place: moved ? [moved.matrix.e, moved.matrix.f] : [x, y] };
  };
  const row = tr => ({ cells: seen(tr, "th, td").map(cell => cell.textContent.trim()),
    chosen: tr.classList.contains("chosen"), shapes: seen(tr, "path").map(shape) });
  return {
    texts: Object.fromEntries(["summary", "learned", "shown-policy"].map(
      id => [id, seen(document, `#explore-${id}`).map(node => node.textContent).join()])),
    rule: document.querySelector("[name=policy]:checked").parentNode.textContent.trim(),
    values: Object.fromEntries(seen(document, "output").map(
      output => [output.htmlFor.value, output.value])),
    tables: Object.fromEntries(["totals", "epoch-table"].map(
      id => [id, seen(find(id), "tr").map(row)])),
    legend: seen(find("legend"), "span").map(entry => [entry.textContent.trim(),
      getComputedStyle(entry.querySelector("i")).backgroundColor]),
    panels: Object.fromEntries(seen(document, "figure svg[role=img]").map(svg => [
      svg.parentNode.id.replace("explore-", ""),
      { description: svg.getAttribute("aria-label"), shapes: seen(svg, "*").map(shape) }])),
  };
}"""

NUMBER = re.compile(r"([+−±]?)(\d+(?:\.\d+)?(?:·10⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)?)")
COORDINATE = re.compile(r"-?\d*\.?\d+(?:e[+-]?\d+)?")
COMMAND = re.compile(r"([MLHVhvlZ])([^MLHVhvlZ]*)")
POWER = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def read(page: Page) -> dict[str, Any]:
    """Return what the page shows."""
    shown = page.evaluate(READ)
    for row in [row for table in shown["tables"].values() for row in table]:
        row["shapes"] = [Shape(**shape) for shape in row["shapes"]]
    shown["panels"] = {name: Panel.of(**panel) for name, panel in shown["panels"].items()}
    return shown


def numbers(text: str) -> list[float]:
    """Return the numbers in a text."""
    return [(-1 if sign == "−" else 1) * positive(found) for sign, found in NUMBER.findall(text)]


def positive(text: str) -> float:
    """Return a number that may be written with a power of ten."""
    factor, _, exponent = text.partition("·10")
    return float(factor) * 10 ** int(exponent.translate(POWER) or 0)


def rgb(color: str) -> tuple[int, ...]:
    """Return red, green and blue, from 0 to 255, of a colour as a browser writes it."""
    return tuple(map(int, re.findall(r"\d+", color)[:3]))


def rgb_of(color: Any) -> tuple[int, ...]:
    """Return the same of a colour of matplotlib's."""
    return tuple(round(255 * part) for part in to_rgb(color))


def corners(outline: str) -> Iterator[tuple[float, float]]:
    """Return the points of a path of straight lines."""
    reached = (0.0, 0.0)
    for command, written in COMMAND.findall(outline):
        values = [float(value) for value in COORDINATE.findall(written)]
        for point in targets(command, values, reached):
            yield point
            reached = point


def targets(command: str, values: list[float], start: tuple[float, float]) -> Iterable[Any]:
    """Return where a path's command leads to."""
    x, y = start
    pairs = list(zip(values[::2], values[1::2], strict=False))
    match command:
        case "H" | "h":
            return [(value + (x if command == "h" else 0), y) for value in values]
        case "V" | "v":
            return [(x, value + (y if command == "v" else 0)) for value in values]
        case "l":
            return [(x + right, y + down) for right, down in np.cumsum(pairs, axis=0)]
    return pairs


def color_of(name):
    return rgb_of(look(POLICIES[name]).color)


def by_rule(found):
    """Return what was found by colour, by the rule's name."""
    names = {color_of(name): name for name in POLICIES}
    return {names[color]: item for color, item in found.items()}


def marker_of(outline):
    """Return matplotlib's letter of a marker, by its corners."""
    if "A" in outline:  # an arc
        return "o"
    return {3: "^", 4: "s", 12: "P"}[len(list(corners(outline)))]


FILLINGS = list(map(rgb_of, filling_colors(range(6))))


@dataclass(frozen=True)
class Shape:
    """An element of a drawing, in the drawing's pixels; a box is left, top, right, bottom."""

    tag: str
    kind: str
    text: str
    outline: str
    fill: str
    stroke: str
    opacity: float
    weight: float
    box: list[float]
    place: list[float]

    @cached_property
    def points(self) -> NDArray[np.float64]:
        """Return the corners of a path, of shape (n, 2)."""
        return np.array(list(corners(self.outline)))

    def centre(self, direction: int) -> float:
        """Return the middle of the box, across (0) or down (1)."""
        return (self.box[direction] + self.box[direction + 2]) / 2


@dataclass(frozen=True)
class Panel:
    """A drawing with axes; what is drawn is given in data, as its ticks' numbers say."""

    description: str
    shapes: list[Shape]

    @classmethod
    def of(cls, description: str, shapes: list[dict[str, Any]]) -> "Panel":
        return cls(description, [Shape(**shape) for shape in shapes])

    def kind(self, kind: str) -> list[Shape]:
        """Return the shapes of a class."""
        return [shape for shape in self.shapes if shape.kind == kind]

    def lines(self) -> dict[tuple[int, ...], list[Shape]]:
        """Return the lines that stand for a rule, by colour, in the order of drawing."""
        found: dict[tuple[int, ...], list[Shape]] = {}
        for shape in self.shapes:
            if shape.tag == "path" and not shape.kind:
                found.setdefault(rgb(shape.stroke), []).append(shape)
        return found

    @cached_property
    def frame(self) -> NDArray[np.float64]:
        """Return the lower and the upper corner, in pixels, that both axes span: (2, 2)."""
        (axes,) = [axis.points for axis in self.kind("axis") if len(axis.points) == 3]
        return np.array([axes.min(axis=0), axes.max(axis=0)])

    def ticks(self, direction: int) -> NDArray[np.float64]:
        """Return pairs of a tick's place in pixels and its number: (n, 2)."""
        places = [
            axis.points[0, direction]
            for axis in self.kind("axis")
            if len(axis.points) == 2 and np.ptp(axis.points[:, direction]) == 0
        ]
        return np.array([(place, self.number_at(place, direction)) for place in places])

    def number_at(self, place: float, direction: int) -> float:
        """Return the number below the x-axis (0), or left of the y-axis (1), at a tick."""
        (left, _), (_, bottom) = self.frame
        (number,) = [
            numbers(shape.text)[0]
            for shape in self.shapes
            if NUMBER.fullmatch(shape.text)
            and (shape.box[1] >= bottom if direction == 0 else shape.box[2] <= left)
            and abs(shape.centre(direction) - place) < 4
        ]
        return number

    @cached_property
    def scales(self) -> NDArray[np.float64]:
        """Return slope and offset from pixels to data, for both axes: (2, 2)."""
        scales = []
        for ticks in (self.ticks(0), self.ticks(1)):
            fit = np.polyfit(ticks[:, 0], ticks[:, 1], 1)
            assert abs(np.polyval(fit, ticks[:, 0]) - ticks[:, 1]).max() < 0.01 * abs(fit[0])
            scales.append(fit)
        return np.array(scales)

    @property
    def pixel(self) -> NDArray[np.float64]:
        """Return the size of a pixel in data, on both axes."""
        return abs(self.scales[:, 0])

    def data(self, pixels: Any) -> NDArray[np.float64]:
        """Return points (..., 2) in data."""
        return np.asarray(pixels) * self.scales[:, 0] + self.scales[:, 1]

    def rectangle(self, shape: Shape) -> NDArray[np.float64]:
        """Return left, bottom, right and top of a shape, in data."""
        (left, top), (right, bottom) = self.data(np.reshape(shape.box, (2, 2)))
        return np.array([left, bottom, right, top])

    def is_near(self, direction: int, shown: Any, wanted: Any) -> bool:
        """Return whether places in data are the wanted ones, up to the rounding to tenths."""
        apart = np.abs(np.asarray(shown) - np.asarray(wanted))
        return bool(np.all(apart < NEAR * self.pixel[direction]))

    def is_at(self, pixels: Any, wanted: Any) -> bool:
        """Return whether points (..., 2) are drawn where data say."""
        shown, points = self.data(pixels), np.asarray(wanted, float)
        assert shown.shape == points.shape, (shown.shape, points.shape)
        return all(self.is_near(way, shown[..., way], points[..., way]) for way in (0, 1))


# --- the truth --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """What one rule does on the path: the epochs' beginnings, arrival rates and drops."""

    starts: np.ndarray
    arrival_rates: np.ndarray
    drops: np.ndarray
    rule: object

    @property
    def total(self):
        return self.drops.sum()


class Truth:
    """The library's results for an address of the page."""

    def __init__(self, fragment, policies):
        given = {name: number_or_word(text) for name, text in parse_qsl(fragment)}
        self.settings = PAPER | given
        self.dt, self.epoch, self.policy = (self.settings[key] for key in ("dt", "epoch", "policy"))
        self.arrivals = ArrivalProcess(rates=(self.settings["high"], self.settings["low"]))
        self.parameters = SystemParameters(delta_t=self.dt, arrivals=self.arrivals)
        self.folder = policies
        self.runs = {name: self.run(name) for name in POLICIES}

    @cached_property
    def levels(self):
        count, demand = self.parameters.num_epochs(500), self.settings["demand"]
        if demand == "drawn":
            generator = np.random.default_rng(self.settings["seed"])
            return self.arrivals.sample_levels(count, generator)
        return np.full(count, ["high", "low"].index(demand))

    @cached_property
    def rates(self):
        return np.array(self.arrivals.rates)[self.levels]

    @property
    def trained_for(self):
        return min(range(1, 11), key=lambda delay: (abs(delay - self.dt), -delay))

    @property
    def chosen(self):
        return self.runs[self.policy]

    @property
    def times(self):
        return self.dt * np.arange(len(self.levels) + 1)

    def rule(self, name):
        rules = {
            "random": lambda: random_choice(self.parameters),
            "jsq": lambda: join_shortest_queue(self.parameters),
            "softmin": lambda: softmin(self.parameters, self.settings["beta"]),
        }
        if name == "learned":
            return load_policy(self.folder / f"mf-dt{self.trained_for}")
        return ConstantPolicy(rules[name]())

    def label_numbers(self, name):
        """Return the numbers that are part of a rule's name."""
        return exactly(*{"softmin": [self.settings["beta"]], "jsq": [2]}.get(name, []))

    def summary_numbers(self):
        """Return what the summary says of the whole path, and then of the epoch."""
        run, reference, epoch = self.chosen, self.runs["random"].total, self.epoch
        rule, path = self.label_numbers(self.policy), exactly(len(self.levels), self.times[-1])
        versus = [plain(reference), (100 * (run.total / reference - 1), PERCENT)]
        total = [*exactly(self.dt), *rule, plain(run.total), *path]
        here = exactly(epoch, epoch * self.dt, self.rates[epoch])
        results = (*run.arrival_rates[epoch][[0, -1]], run.drops[epoch])
        return [*total, *(versus if self.policy != "random" else ()), *here, *map(plain, results)]

    def run(self, name):
        policy = self.rule(name)
        # A bare method is not asked what it was trained for.
        path = MeanFieldSystem(self.parameters).simulate(policy.__call__, self.levels)
        starts = path.distributions[:-1]
        rates = policy(starts, self.levels).arrival_rates(starts, self.rates)
        return Run(starts, rates, path.drops, policy)

    def within(self, name, epochs, parts):
        """Return the distributions at evenly spaced times from the first epoch's beginning on."""
        run = self.runs[name]
        starts, levels = run.starts[epochs], self.levels[epochs]
        seen = []
        for part in range(1, parts + 1):
            short = replace(self.parameters, delta_t=self.dt * part / parts)
            rule = run.rule(starts, levels)
            seen.append(MeanFieldSystem(short).step(starts, self.rates[epochs], rule)[0])
        inside = np.stack(seen, axis=1).reshape(-1, starts.shape[-1])
        return np.concatenate([starts[:1], inside])


def number_or_word(text):
    """Return a setting; whole numbers stay whole."""
    if text.isalpha():
        return text
    return float(text) if "." in text else int(text)


# --- numbers as they are written ---------------------------------------------------------------


def plain(value):
    """Return a result and the last digit that the page writes of it."""
    return value, FINE if value < 1 else ROUGH


def exactly(*values):
    return [(value, FINE) for value in values]


def assert_says(text, expected):
    """Check all numbers of a text, each up to half of its last digit."""
    said = numbers(text)
    assert len(said) == len(expected), (text, expected)
    for shown, (value, digit) in zip(said, expected, strict=True):
        assert abs(shown - value) <= 0.5001 * digit, (text, shown, value)


def rule_in_words(shown, truth):
    """Return the chosen rule's name as beside its control, with the value of β."""
    return shown["rule"].replace("β", f"{truth.settings['beta']:g}")
