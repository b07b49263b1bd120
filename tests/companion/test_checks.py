"""What a run must have left, on made-up outputs; `test_execution` has real runs."""

import pytest
from nbformat.v4 import new_output

from mfc_lb.companion import CompanionError
from mfc_lb.companion.checks import check_labels, check_run
from mfc_lb.companion.notebooks import Notebook
from tests.companion.cells import LABEL, figure_cell, notebook, parameters_cell

IMAGE = new_output("display_data", data={"image/png": "", "text/plain": "<Image>"})
PAGE = Notebook("page", None, "A page", ())


def executed(*cells):
    content = notebook(*cells)
    for count, cell in enumerate(content.cells[1:], start=1):
        cell.execution_count = count
    return content


def publish(folder, identifier="decay", suffixes=("png", "svg", "pdf", "csv")):
    (folder / "figures").mkdir(exist_ok=True)
    for suffix in suffixes:
        (folder / "figures" / f"{identifier}.{suffix}").touch()


def shown(*outputs):
    cell = figure_cell()
    cell.outputs = list(outputs)
    return cell


def test_a_complete_run_passes(tmp_path):
    publish(tmp_path)
    check_run(PAGE, executed("x = 1", shown(IMAGE), ""), tmp_path)


def test_what_is_written_to_stderr_fails_the_run(tmp_path):
    content = executed("x = 1", "import warnings")
    content.cells[2].outputs = [new_output("stream", name="stderr", text="Warning:\n  careful\n")]
    with pytest.raises(
        CompanionError, match=r"^page: cell \[2\] wrote to stderr: Warning: careful$"
    ):
        check_run(PAGE, content, tmp_path)


def test_a_widget_fails_the_run(tmp_path):
    content = executed("tqdm(range(3))")
    widget = {"application/vnd.jupyter.widget-view+json": {}, "text/plain": "0%"}
    content.cells[1].outputs = [new_output("display_data", data=widget)]
    with pytest.raises(CompanionError, match="shows a widget, which a page leaves blank"):
        check_run(PAGE, content, tmp_path)


def test_a_cell_that_was_not_reached_fails_the_run(tmp_path):
    content = executed("raise SystemExit", "x = 1\ny = 2")
    content.cells[2].execution_count = None
    with pytest.raises(CompanionError, match="page: the run stopped before the cell `x = 1`"):
        check_run(PAGE, content, tmp_path)


@pytest.mark.parametrize("count", [0, 2])
def test_a_labelled_cell_shows_exactly_one_figure(tmp_path, count):
    publish(tmp_path)
    with pytest.raises(CompanionError, match=f"to show the figure 'decay', but shows {count}"):
        check_run(PAGE, executed(shown(*[IMAGE] * count)), tmp_path)


def test_a_figure_without_a_label_fails_the_run(tmp_path):
    content = executed("x = 1")
    content.cells[1].outputs = [IMAGE]
    with pytest.raises(CompanionError, match="shows a figure, but its metadata gives no label"):
        check_run(PAGE, content, tmp_path)


def test_a_figure_that_is_shown_but_not_published_fails_the_run(tmp_path):
    publish(tmp_path, suffixes=("png", "svg", "csv"))
    with pytest.raises(CompanionError, match="shows a figure, but does not publish 'decay'"):
        check_run(PAGE, executed(shown(IMAGE)), tmp_path)


def test_a_figure_that_is_published_elsewhere_fails_the_run(tmp_path):
    publish(tmp_path)
    publish(tmp_path, "other")
    with pytest.raises(CompanionError, match="'other' was published, but no cell is labelled"):
        check_run(PAGE, executed(shown(IMAGE)), tmp_path)


def test_all_faults_are_named_at_once(tmp_path):
    with pytest.raises(CompanionError) as failed:
        check_run(PAGE, executed(shown(), shown(IMAGE)), tmp_path)
    assert len(str(failed.value).splitlines()) == 2


def test_labels_are_read_before_a_run():
    assert check_labels(PAGE, notebook(parameters_cell(), figure_cell())) == ("decay",)


@pytest.mark.parametrize(
    ("label", "fault"),
    [
        ({}, "must have a name like 'fig-drop-rates'"),
        ({"figure": {"name": "decay"}}, "must have a name like"),
        ({"figure": {"name": "fig-"}}, "must have a name like"),
        ({"figure": {"caption": " "}}, "has no caption"),
        ({"image": {"alt": ""}}, "no alternative text"),
        ({"image": {"alt": "figure"}}, "no alternative text"),
        ({"image": {"alt": "0d1f7c4e"}}, "no alternative text"),
    ],
)
def test_a_figure_needs_a_label_a_caption_and_an_alternative_text(label, fault):
    changed = {key: LABEL[key] | label.get(key, {}) for key in LABEL} if label else {"figure": {}}
    with pytest.raises(CompanionError, match=fault):
        check_labels(PAGE, notebook(figure_cell(label=changed)))


def test_two_figures_with_one_label_are_refused():
    with pytest.raises(CompanionError, match="the figure 'decay' is labelled twice"):
        check_labels(PAGE, notebook(figure_cell(), figure_cell()))
