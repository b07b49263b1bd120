"""What a figure's cell says about it."""

import pytest

from mfc_lb.companion.labels import Label, read_labels
from tests.companion.cells import figure_cell, notebook, parameters_cell


@pytest.mark.parametrize(
    ("caption", "title"),
    [
        ("Drops against the delay. Bars are intervals.", "Drops against the delay"),
        ("One run", "One run"),
        ("For 0, 1, …, 5 packets. Left: all join.", "For 0, 1, …, 5 packets"),
        ("At $M = 0.5$ and 2.5 agents. More", "At $M = 0.5$ and 2.5 agents"),
        ("By {eq}`eq-rate`, $x$ decays\nslowly. {doc}`Next <b>`", "By eq-rate, $x$ decays slowly"),
        ("Does it grow? It does.", "Does it grow?"),
    ],
)
def test_a_title_is_the_captions_first_sentence(caption, title):
    assert Label("drops", caption, "").title == title


def test_labels_come_in_the_notebooks_order():
    other = {"figure": {"name": "fig-b", "caption": "B."}, "image": {"alt": "A line of b"}}
    content = notebook(parameters_cell(), figure_cell("", other), "1", figure_cell())
    first, second = read_labels(content)
    assert first == Label("b", "B.", "A line of b")
    assert second.identifier == "decay"
