"""Numbers in prose: which are results that somebody typed."""

import nbformat
import pytest
from nbformat.v4 import new_markdown_cell

from mfc_lb.companion import CompanionError
from mfc_lb.companion.typed_numbers import check_typed_numbers, read_allowed
from tests.companion.cells import LABEL, figure_cell, notebook, parameters_cell

RESULTS = [
    "JSQ loses 28 packets more.",
    "The policy drops 0.5 per cent less.",
    "It is 3 times faster.",
    "It takes 12 seconds.",
    "The relative error is below 1e-6.",
    "The gap is 4 %.",
    "The mean is $28.4$ packets.",
    "The mean is $\\approx 28.4 \\pm 0.1$ packets.",
    "## Drops fall by 3",
    "| JSQ drops 28 | {value}`x/y` |",
    "| JSQ | 28.4 |",
    "| JSQ | ≈ 28 % |",
    "| JSQ | **28.4 ± 0.1** |",
    "Drops are few,\nnamely 28.",
    "JSQ(2) reaches 61 packets per queue.",
    "It reaches 61.3 packets.",
    "It is changed by a factor of 3.",
    "It changes by 12 percentage points.",
    "It changes by 12 ‰.",
    "It changes by about 12.",
    "It loses packets, i.e. 61 of them.",
    "It drops many; 61 in all.",
    "It drops these: 61 in all.",
    "The two lose packets.[^1]\n\n[^1]: Namely 61.3.",
    "They drop ½ of them.",
    "By $D = 38.2$ it is large.",
    "It is $\\bar D \\approx 38.2$ then.",
    "The mean is $\\mathbf{38}$.",
    "It loses $38\\,\\text{packets}$.",
    "$$38.2$$",
    "It is {math}`D = 38.2` then.",
    "```{math}\n:label: eq\nD = 38.2\n```",
    "```{note}\nJSQ(2) drops 61 packets.\n```",
    "```{note} JSQ(2) drops 61 packets\nSo it is.\n```",
    "````{note}\nAs above:\n```{tip}\nIt drops 61 packets.\n```\n````",
    ":::{note}\nJSQ(2) drops 61 packets.\n:::",
    "```{figure} x.png\n:alt: It drops 61 packets\n:name: fig-x\n```",
    "```{figure} x.png\n:name: fig-x\n\nIt drops 61 packets.\n```",
    "```{list-table}\n* - JSQ\n  - 61\n```",
    "| JSQ | 38 packets |",
    "| JSQ | 38.2 (37.9 to 38.4) |",
    "| JSQ | > 38 |",
    "| $38$ packets | ~ |",
    '<img src="x.png" alt="It drops 61 packets" width="3">',
    "![It drops 61 packets](x.png)",
    "It is `38.2`.",
    "See {doc}`61 drops <page>`.",
]
NO_RESULTS = [
    "JSQ loses {value}`comparison/lost` packets more.",
    "There are 100 queues.",
    "The ratio is $\\lambda_1 / 2$.",
    "$$\n\\text{drops} = 28\n$$ (eq-drops)",
    "Drops: `drops = 28`.",
    "```\ndrops = 28\n```",
    "The error is in [another place](https://example.org/28).",
    "1. Drops are counted.\n2. The mean is taken.",
    "(sec-28)=\n## Drops",
    "Many drops. There are 100 queues.",
    "| queues | drops |\n| --- | --- |\n| M = 100 | {value}`x/y` |",
    "There are $M = 100$ queues.",
    "See version 0.1.0 of python3.11.",
    "The doi is 10.1145/3545008.3545025.",
    "```{eval-rst}\n.. drops 28\n```",
    "```{figure} x.png\n:name: fig-drops-28\n:width: 28 %\n```",
    "```{math}\n:label: eq-28.2\n\\text{drops} = x\n```",
    "~~~python\ndrops = 28.2\n~~~",
    '<img src="drops28.png" alt="A line" width="28.2%">',
    "See {doc}`28.2`.",
    "Drops are counted. E.g. there are 100 queues.",
]


@pytest.fixture
def check(book):
    """Return a function that checks one page with this text and these allowed phrases."""

    def checked(text, *allowed):
        page = book.sources / "page.md"
        page.write_text(text, "utf-8")
        lines = [f"- {{phrase: '{phrase}', page: {on}, why: known}}" for phrase, on in allowed]
        (book.sources / "allowed_numbers.yml").write_text(
            "allowed:\n" + "\n".join(lines or ["  []"])
        )
        check_typed_numbers([page], book)

    return checked


@pytest.mark.parametrize("text", RESULTS)
def test_a_result_that_was_typed_is_found_and_its_page_named(check, text):
    with pytest.raises(CompanionError, match=r"^page: a number is typed by hand in "):
        check(f"Some words.\n\n{text}\n\nMore words.")


@pytest.mark.parametrize("text", NO_RESULTS)
def test_other_numbers_are_left_alone(check, text):
    check(f"Some words.\n\n{text}\n\nMore words.")


def test_captions_and_alternative_texts_are_prose(book):
    for part in ("figure", "image"):
        key = {"figure": "caption", "image": "alt"}[part]
        label = LABEL | {part: LABEL[part] | {key: "A line where 28 packets are lost"}}
        path = book.sources / "page.ipynb"
        nbformat.write(notebook(parameters_cell(), figure_cell(label=label)), path)
        with pytest.raises(CompanionError, match="'A line where 28 packets are lost'"):
            check_typed_numbers([path], book)


def test_notebooks_are_read_too(book):
    path = book.sources / "page.ipynb"
    nbformat.write(notebook(parameters_cell(), new_markdown_cell("It drops 28.")), path)
    with pytest.raises(CompanionError, match=r"page: a number is typed by hand in 'It drops 28.'"):
        check_typed_numbers([path], book)


def test_a_phrase_is_allowed_on_its_page_or_on_all(check):
    check("The interval covers 95 % of the mean.", ("95 %", "all"))
    check("The interval covers 95\n% of the mean.", ("95 %", "page"))
    with pytest.raises(CompanionError, match="page: a number is typed by hand"):
        check("The interval covers 95 % of the mean.", ("95 %", "other"))


def test_a_phrase_allows_nothing_beyond_itself(check):
    for text in ("It drops 195 %.", "It drops 95 % or 3.", "It drops 0.95 %."):
        with pytest.raises(CompanionError, match="page: a number is typed by hand"):
            check(text, ("95 %", "all"))


def test_a_phrase_may_be_in_the_plural(check):
    check("The 95 % intervals are small. A 95 % interval is.", ("95 % interval", "all"))
    for text, phrase in (("The 95 % intervalss", "95 % interval"), ("The mean of 5s", "5")):
        with pytest.raises(CompanionError, match="page: a number is typed by hand"):
            check(text, (phrase, "all"))


def test_a_phrase_with_a_formula_is_allowed(check):
    check("The mean is $\\lambda = 0.9$ here.", ("\\lambda = 0.9", "page"))


def test_a_phrase_that_no_page_needs_is_a_fault(check):
    with pytest.raises(CompanionError, match=r"allowed_numbers.yml: no page needs '28 drops'"):
        check("There are 28 queues.", ("28 drops", "page"))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("allowed: 3", "must hold a list 'allowed'"),
        ("other: []", "must hold a list 'allowed'"),
        ("allowed: [95 %]", "entry 1 must hold the texts"),
        ("allowed: [{phrase: 95 %, page: all}]", "entry 1 must hold the texts"),
        ("allowed: [{phrase: 95, page: all, why: x}]", "entry 1 must hold the texts"),
        ("allowed: [{phrase: 95 %, page: all, why: ' '}]", "entry 1 must hold the texts"),
    ],
)
def test_a_list_of_another_form_is_refused(book, text, fault):
    (book.sources / "allowed_numbers.yml").write_text(text, "utf-8")
    with pytest.raises(CompanionError, match=fault):
        read_allowed(book)
