"""Results know what they were made with: differences, equality, tables and files."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from mfc_lb import (
    ArrivalProcess,
    ConstantPolicy,
    EvaluationResult,
    FiniteSystem,
    InvalidInput,
    MeanFieldSystem,
    SystemParameters,
    evaluate,
    join_shortest_queue,
    random_choice,
    softmin,
)
from mfc_lb.systems import Estimate

P = SystemParameters(delta_t=5.0)


def result(p=P, rule=random_choice, *, num_epochs=10, num_runs=4, seed=1, **more):
    policy, runs = ConstantPolicy(rule(p)), {"num_epochs": num_epochs, "num_runs": num_runs}
    return evaluate(MeanFieldSystem(p), policy, seed=seed, **runs, **more)


class OwnArrivals(ArrivalProcess):
    """Same rates and levels; but it could draw others."""

    def sample_levels(self, num_epochs, generator):
        return super().sample_levels(num_epochs, generator)


RESULT = result()
DEMANDS = {
    "delta_t": {"p": P.replace(delta_t=1.0)},
    "rates": {"p": P.replace(arrivals=ArrivalProcess((0.1, 0.6)))},
    "kernel": {"p": P.replace(arrivals=ArrivalProcess(kernel=((0.5, 0.5), (0.5, 0.5))))},
    "initial": {"p": P.replace(arrivals=ArrivalProcess(initial=(0.2, 0.8)))},
    "num_epochs": {"num_epochs": 9},
    "num_runs": {"num_runs": 5},
    "seed": {"seed": 2},
    "arrivals": {"p": P.replace(arrivals=OwnArrivals())},  # though its levels are the same
}


@pytest.mark.parametrize(("field", "changes"), DEMANDS.items(), ids=DEMANDS)
def test_a_difference_on_another_demand_is_refused_and_says_what_differs(field, changes):
    with pytest.raises(InvalidInput, match=f"evaluated on the same paths, with {field} "):
        RESULT.difference(result(**changes))


def test_rates_that_differ_on_the_same_levels_are_another_demand():
    constant = (result(P.replace(arrivals=ArrivalProcess.constant(rate))) for rate in (0.9, 0.1))
    with pytest.raises(InvalidInput, match=r"with rates \(0.9,\), got \(0.1,\)"):
        next(constant).difference(next(constant))


def test_levels_that_differ_are_another_demand():
    with pytest.raises(InvalidInput, match="other must be evaluated on the same paths, got"):
        RESULT.difference(replace(RESULT, levels=1 - RESULT.levels))


def test_systems_policies_and_buffers_may_differ():
    finite = evaluate(
        FiniteSystem(P, 100, 10), ConstantPolicy(softmin(P, 1.0)), num_epochs=10, num_runs=4, seed=1
    )
    for other in (finite, result(P.replace(buffer_size=3)), result(rule=join_shortest_queue)):
        difference = RESULT.difference(other)
        assert difference.mean == pytest.approx(RESULT.mean - other.mean)


def test_a_result_knows_what_it_was_made_with():
    assert (RESULT.parameters, RESULT.seed) == (P, 1)
    assert (RESULT.num_runs, RESULT.num_epochs) == (4, 10)
    assert RESULT.system == "MeanFieldSystem(delta_t=5)"
    assert RESULT.policy == repr(ConstantPolicy(random_choice(P)))
    assert RESULT.nu.tolist() == P.empty_distribution.tolist()


def test_it_is_shown_in_one_line_with_mean_and_interval():
    low, high = RESULT.interval()
    shown = repr(RESULT)
    assert f"mean={RESULT.mean:.6g}, interval=({low:.6g}, {high:.6g}), num_runs=4" in shown
    assert "\n" not in shown
    assert len(shown) < 300


def test_equal_results_are_equal():
    assert result() == RESULT
    assert hash(result()) == hash(RESULT)
    assert RESULT != "a result"
    assert len({RESULT, result(), result(seed=2), result(rule=join_shortest_queue)}) == 3
    assert result(nu=np.eye(6)[5]) != RESULT
    assert pickle.loads(pickle.dumps(RESULT)) == RESULT


def test_a_function_is_named_without_its_place_in_memory():
    def policy(*_):
        return softmin(P, 1.0)

    once, again = (
        evaluate(MeanFieldSystem(P), policy, num_epochs=2, num_runs=2, seed=1) for _ in range(2)
    )
    assert once == again
    assert "policy" in once.policy
    assert "0x" not in once.policy


def test_a_table_has_a_row_for_each_epoch_of_each_run():
    table = RESULT.to_frame()
    assert list(table) == ["run", "epoch", "level", "arrival_rate", "drops"]
    assert table.groupby("run").drops.sum().to_numpy() == pytest.approx(RESULT.total_drops)
    assert set(table.arrival_rate[table.level == 1]) == {0.6}
    table.loc[:, "drops"] = 0.0
    assert RESULT.mean > 0


def test_a_file_gives_the_result_back(tmp_path):
    RESULT.save(tmp_path / "deep" / "result.npz")
    loaded = EvaluationResult.load(tmp_path / "deep" / "result.npz")
    assert loaded == RESULT
    assert loaded.difference(RESULT).mean == 0.0
    loaded.save(str(tmp_path / "again"))
    assert (tmp_path / "again").read_bytes() == (tmp_path / "deep" / "result.npz").read_bytes()
    assert len(list(tmp_path.iterdir())) == 2


def test_a_damaged_file_is_never_another_result(tmp_path):
    file = tmp_path / "result.npz"
    RESULT.save(file)
    content = file.read_bytes()
    for place in range(0, len(content), 5):
        damaged = bytearray(content)
        damaged[place] ^= 4
        file.write_bytes(damaged)
        try:
            assert EvaluationResult.load(file) == RESULT
        except InvalidInput:
            continue
    file.write_bytes(content[:-30])
    with pytest.raises(InvalidInput, match="path must be a file of an EvaluationResult"):
        EvaluationResult.load(file)


@pytest.mark.parametrize("path", ["", ".", "/", "no/such/file.npz"])
def test_what_is_no_file_is_refused(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInput, match=r"path must be .* file"):
        EvaluationResult.load(path)
    if "file" not in path:
        with pytest.raises(InvalidInput, match=r"path must be .* file"):
            RESULT.save(path)


def test_arrivals_of_a_subclass_are_not_put_into_a_file(tmp_path):
    class Own(ArrivalProcess):
        pass

    with pytest.raises(InvalidInput, match="in a file must be an ArrivalProcess, got 'Own'"):
        result(P.replace(arrivals=Own())).save(tmp_path / "result.npz")
    assert not list(tmp_path.iterdir())


def test_a_ratio_of_means_is_known_better_than_either_mean():
    rng = np.random.default_rng(2)
    baseline = rng.normal(10.0, 1.0, 5000)
    alternative = 1.1 * baseline + rng.normal(0.0, 0.3, 5000)
    ratio = Estimate.ratio(alternative, baseline)
    assert abs(ratio.mean - 1.1) < 5 * ratio.standard_error
    # What the two share cancels; what is left is 0.3/10 per run.
    assert ratio.standard_error == pytest.approx(0.03 / np.sqrt(5000), rel=0.05)
