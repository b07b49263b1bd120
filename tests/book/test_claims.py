"""What the pages say of their own scope, where the numbers can contradict it."""

import numpy as np
import pytest

from mfc_lb import (
    ConstantPolicy,
    MeanFieldSystem,
    SystemParameters,
    join_shortest_queue,
    random_choice,
)
from mfc_lb.companion.notebooks import read_prose
from mfc_lb.companion.settings import read_toc
from mfc_lb.companion.typed_numbers import read_allowed
from mfc_lb.learning import clairvoyant_drops
from mfc_lb.systems import rate_paths

NOT_OURS = "measured in the published code, which this book does not run"


def test_what_was_measured_in_the_published_code_is_marked_where_it_stands(book):
    pages = {
        page.stem: read_prose(page).replace("$", "").split("\n\n") for page in read_toc(book)[1]
    }
    measured = [entry for entry in read_allowed(book) if entry.why == NOT_OURS]
    stand = [(one, part) for one in measured for part in pages[one.page] if one.phrase in part]
    assert {one for one, _ in stand} == set(measured) != set()
    assert [one for one, part in stand if "not reproducible here" not in part] == []


def drops(rule, parameters, levels):
    policy = ConstantPolicy(rule(parameters))
    return MeanFieldSystem(parameters).simulate(policy, levels).drops.sum(axis=1).mean()


@pytest.mark.parametrize(
    ("buffer_size", "delta_t", "is_better"),
    [(2, 5.0, False), (5, 5.0, True), (5, 9.0, False), (10, 9.0, True)],
)
def test_where_jsq_and_random_routing_cross_depends_on_the_buffer(buffer_size, delta_t, is_better):
    p = SystemParameters(buffer_size=buffer_size, delta_t=delta_t)
    levels = rate_paths(p, p.num_epochs(500), 20, 1)
    ratio = drops(join_shortest_queue, p, levels) / drops(random_choice, p, levels)
    assert (ratio < 0.97) if is_better else (ratio > 1.03)


def test_a_longer_search_finds_less_so_that_the_gap_to_a_short_one_is_no_bound():
    p = SystemParameters(delta_t=5.0)
    levels, scores = rate_paths(p, 20, 3, 1), np.zeros((3, 20, 6))
    short, longer = (
        clairvoyant_drops(MeanFieldSystem(p), levels, scores, steps) for steps in (5, 60)
    )
    policy = MeanFieldSystem(p).simulate(ConstantPolicy(random_choice(p)), levels)
    assert (longer < short).all()
    assert (short < policy.drops.sum(axis=1)).all()
