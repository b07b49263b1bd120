"""Trained policies travel as the content of their files: whoever trains may have another disk."""

from pathlib import Path

from mfc_lb.experiments import learned


def write_two_files(delta_t: float, folder: Path) -> Path:
    weights = folder / f"mf-dt{delta_t:g}.safetensors"
    weights.write_bytes(f"weights {delta_t:g}".encode())
    weights.with_suffix(".json").write_text(f"card {delta_t:g}")
    return weights


def test_policies_are_stored_with_their_cards(tmp_path, monkeypatch):
    monkeypatch.setattr(learned, "train_and_store", write_two_files)
    stored = list(learned.store_all(tmp_path / "policies", (1.0, 2.5), processes=1))
    assert stored == [tmp_path / "policies" / f"mf-dt{d}.safetensors" for d in ("1", "2.5")]
    contents = {path.name: path.read_text() for path in (tmp_path / "policies").iterdir()}
    assert contents == {
        "mf-dt1.safetensors": "weights 1",
        "mf-dt1.json": "card 1",
        "mf-dt2.5.safetensors": "weights 2.5",
        "mf-dt2.5.json": "card 2.5",
    }
