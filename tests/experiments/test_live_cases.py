"""Cases that notebooks compute themselves, through the experiments' own code."""

import numpy as np
import pytest

from mfc_lb import SystemParameters
from mfc_lb import join_shortest_queue as jsq
from mfc_lb.errors import InvalidInput
from mfc_lb.experiments import EXPERIMENTS
from mfc_lb.experiments.live_cases import compute, paths_to_limit
from mfc_lb.experiments.modelling_choices import ChoicesSize
from mfc_lb.experiments.prose import as_text

SIZE = ChoicesSize(delta_ts=(10.0,), nums_queues=(5,), nums_runs=(4,))


def test_a_live_table_has_the_columns_of_the_stored_one() -> None:
    table = compute("modelling_choices", SIZE)
    assert list(table.columns) == list(EXPERIMENTS["modelling_choices"].columns)


def test_the_seed_decides_the_runs() -> None:
    tables = [compute("modelling_choices", SIZE, seed) for seed in (1, 1, 2)]
    assert tables[0].equals(tables[1])
    assert not tables[0].equals(tables[2])


def test_an_unknown_experiment_is_refused() -> None:
    with pytest.raises(InvalidInput, match="experiment"):
        compute("comparision", SIZE)


def test_larger_systems_follow_the_mean_field_more_closely() -> None:
    p = SystemParameters(delta_t=5.0)
    paths = paths_to_limit(p, jsq(p), (10, 1000), horizon=100.0, seed=1)
    wide = paths.pivot(index="time", columns="num_queues", values="mean_filling")
    gaps = wide.sub(wide[np.inf], axis=0).abs().mean()
    assert gaps[1000] < gaps[10] / 3
    assert wide.index.max() == 100.0


def test_a_rounded_negative_zero_has_no_sign() -> None:
    assert as_text(-0.001, 2) == "0.00"
