"""Model files of nearest neighbors of earlier versions are read and find the same neighbors."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.export.golden_models import MAPPED, each, golden
from tests.export.test_golden_ensembles import check_predictions, check_saved_again


@MAPPED
@each("neighbors-")
def test_a_golden_model_finds_the_neighbors_that_it_did(
    path: Path, mmap: bool, tmp_path: Path
) -> None:
    model, rows, expected = golden(path, mmap)
    distances, indices = model.kneighbors(rows)
    np.testing.assert_array_equal(indices, expected["indices"])
    # Covariances are sums whose order may differ.
    np.testing.assert_allclose(distances, expected["distances"], rtol=1e-12)
    rounded = ("predict_proba",) if hasattr(model, "classes_") else ("predict",)
    check_predictions(model, rows, expected, rounded)
    check_saved_again(model, rows, tmp_path)
