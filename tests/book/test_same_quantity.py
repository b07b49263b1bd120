"""Two pages that show the same quantity, from runs of their own, agree."""

import json
import math
from itertools import product
from pathlib import Path

import pytest
from scipy.stats import binom

EXPECTED = Path(__file__).parents[2] / "book" / "expected"

#: What one page shows, what another shows of the same, and the unit of the first in the second's.
TWICE = [
    *(
        (f"trace_study/response_{trace}_{balancer}", f"trace_delay/{trace}_fresh_{balancer}", 1)
        for trace, balancer in product(("ct", "rt"), ("rnd", "rr", "ll"))
    ),
    ("trace_study/share_rc", "reproduction_notes/ramp_ours", 100),
    ("populations/rnd_limit", "trace_delay/drops_five_rnd", 1),
]


def score(entry, other, factor):
    """How many joint standard errors lie between two entries."""
    values, errors = (
        [one[key] * unit for one, unit in ((entry, 1), (other, factor))]
        for key in ("value", "standard_error")
    )
    return abs(values[0] - values[1]) / math.hypot(*errors)


def entry(name, size):
    page, value = name.split("/")
    return json.loads((EXPECTED / f"{page}.json").read_text("utf-8"))[size][value]


@pytest.mark.parametrize("size", ["quick", "paper"])
def test_pages_agree_on_what_both_show(size):
    scores = [score(entry(one, size), entry(two, size), unit) for one, two, unit in TWICE]
    assert max(scores) < 3.5
    beyond = sum(one > 1.96 for one in scores)
    assert beyond <= binom.isf(0.001, len(scores), 0.05)


def test_what_does_not_agree_is_found():
    """The response times of two pages as they once were, from 40 and from 100 runs."""
    once = {"value": 0.9184, "standard_error": 0.0185}
    assert score(once, {"value": 0.9792, "standard_error": 0.0080}, 1) > 2.9
    assert (
        score({"value": 2.0, "standard_error": 0.5}, {"value": 0.02, "standard_error": 0}, 100) == 0
    )
