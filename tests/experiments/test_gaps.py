"""What the certificate says, in percent."""

import pandas as pd
import pytest

from mfc_lb.experiments.gaps import knowledge_gaps, optimality_gaps


def row(policy, measure, reference, estimate, error=0.0):
    ends = {"interval_low": estimate - 2 * error, "interval_high": estimate + 2 * error}
    what = {"policy": policy, "knows": "both", "measure": measure, "reference": reference}
    return {"delta_t": 5.0, **what, "estimate": estimate, "standard_error": error, **ends}


TABLE = pd.DataFrame(
    [
        row("RND", "drops", "none", 40.0),
        row("RND", "difference", "MF", 12.0, 0.4),
        row("MF", "drops", "none", 30.0),
        row("clairvoyant", "drops", "from MF", 20.0),
        row("clairvoyant", "drops", "from RND", 20.1),
        row("RND", "difference", "clairvoyant", 10.0),
        row("RND", "ratio", "clairvoyant", 1.5, 0.01),
        row("clairvoyant", "difference", "starts", 0.1, 0.02),
    ]
)


def test_optimality_gaps_are_ratios_less_one() -> None:
    random, starts = optimality_gaps(TABLE).itertuples()
    assert (random.policy, random.estimate) == ("RND", pytest.approx(50.0))
    assert (random.interval_low, random.interval_high) == pytest.approx((48.0, 52.0))
    assert random.standard_error == pytest.approx(1.0)
    assert (starts.policy, starts.estimate) == ("clairvoyant", pytest.approx(0.5))
    assert (starts.interval_low, starts.interval_high) == pytest.approx((0.3, 0.7))


def test_knowledge_gaps_are_in_percent_of_the_learned_policys_drops() -> None:
    (random,) = knowledge_gaps(TABLE).itertuples()
    assert (random.policy, random.estimate) == ("RND", pytest.approx(40.0))
    assert random.standard_error == pytest.approx(100 * 0.4 / 30)
