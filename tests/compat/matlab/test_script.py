"""A complete script with the MATLAB bridge."""

from __future__ import annotations

import numpy as np

from ceiba import datasets
from ceiba.compat.matlab import fitctree, fitrtree, predict, prune, view


def test_matlab_script(capsys):
    """Run an old script line by line."""
    frame, species = datasets.load("iris", as_frame=True)
    meas = frame.to_numpy()
    names = ["SL", "SW", "PL", "PW"]
    ctree = fitctree(meas, species, "PredictorNames", names, "MinLeafSize", 5, "Prune", "on")
    view(ctree)
    assert "1  if PL<2.45 then node 2 elseif PL>=2.45 then" in capsys.readouterr().out
    best, errors = 0, []
    for level in range(int(max(ctree.PruneList)) + 1):
        label = predict(prune(ctree, "Level", level), meas)
        errors.append(np.mean(label != np.asarray(species)))
        best = level if errors[level] <= 0.05 else best
    assert errors == sorted(errors)
    pruned = prune(ctree, "Level", best)
    label, score, node, cnum = predict(pruned, meas[[0, 60, 110], :], nargout=4)
    assert label.tolist() == ["setosa", "versicolor", "virginica"]
    assert cnum.tolist() == [1, 2, 3]
    assert (pruned.NodeClass[node - 1] == label).all()
    np.testing.assert_allclose(score.sum(axis=1), 1)
    rtree = fitrtree(meas[:, :3], meas[:, 3], "MinLeafSize", 10)
    smaller = prune(rtree, "Alpha", rtree.PruneAlpha[-2])
    assert smaller.NumNodes == 3
    assert np.corrcoef(predict(smaller, meas[:, :3]), meas[:, 3])[0, 1] > 0.85
