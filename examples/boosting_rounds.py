"""
AdaBoost of stumps, round by round
==================================

Two half moons, and stumps that can only divide the plane once, parallel to an axis. AdaBoost fits
one after the other to the same rows and increases the weight of the rows that the last stump
misclassified; the weighted ensemble has a boundary that no single stump has.
"""

from pathlib import Path

import numpy as np

from ceiba import AdaBoostClassifier, RandomForestClassifier, datasets, plots

out = Path("out")

# %%
# Fit. The trace keeps the weights of the rows before each round.
X, y = datasets.load("two_moons", as_frame=True)
model = AdaBoostClassifier(n_estimators=60, trace=True).fit(X, y)
scores = np.array(list(model.staged_score(X, y)))
print(f"{len(model.estimators_)} stumps, stop reason: {model.stop_reason_}")
for n in (1, 5, 20, 60):
    print(f"  accuracy after {n:>2} {'round' if n == 1 else 'rounds'}: {scores[n - 1]:.1%}")

# %%
# Each round moves half of the total weight to the rows that its stump misclassified, so that the
# next stump has to be a different one.
for number, (frame, after) in enumerate(zip(model.trace_[:5], model.trace_[1:6], strict=True), 1):
    split, wrong = model.estimators_[number - 1].tree_.split(0), frame["wrong"]
    weights = after["weights"] / after["weights"].sum()
    print(
        f"round {number}: {split.name} <= {split.threshold:5.2f}, "
        f"weighted error {frame['error']:.3f}, estimator weight {frame['alpha']:.3f}, "
        f"weight of misclassified rows afterwards {weights[wrong].sum():.3f}"
    )

# %%
# Six rounds. The area of a row is its weight, the rows misclassified by the stump of the round
# (dashed) are ringed, and the colors are the prediction of the ensemble so far.
print(f"rounds -> {out / 'boosting_rounds.png'}")
plots.rounds(model, X, y).save(out / "boosting_rounds.png")

# %%
# Once no row is misclassified, further rounds still increase the smallest margins, the weighted
# vote for the class of a row minus that for the other class.
print(f"smallest margin {model.margins(X, y).min():.3f}")
print(f"margins -> {out / 'boosting_margins.png'}")
plots.margins(model, X, y, stages=[3, 20, 60]).save(out / "boosting_margins.png")

# %%
# Comparison with a random forest on new rows.
new = datasets.load("two_moons", as_frame=True, seed=1, n_rows=2000)
forest = RandomForestClassifier().fit(X, y)
for name, ensemble in (("boosting", model), ("forest", forest)):
    print(f"{name}: accuracy on {len(new.y)} new rows {ensemble.score(*new):.1%}")

# %%
# An animation of the rounds; in a notebook the player displays itself.
print(f"animation -> {out / 'boosting_rounds.gif'}")
plots.play(model, X, out / "boosting_rounds.gif", y=y, fps=3, max_frames=15)
