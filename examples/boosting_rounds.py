"""
AdaBoost of stumps, round by round
==================================

Two half moons, and learners that can do no more than cut the plane once, along an axis. AdaBoost
fits one after the other, each to the same rows, in which those that the last one got wrong weigh
more; together they draw a boundary that none of them could.
"""

from pathlib import Path

import numpy as np

from ceiba import AdaBoostClassifier, RandomForestClassifier, datasets, plots

out = Path("out")

# %%
# Boost. The trace keeps the weights of the rows before each round.
X, y = datasets.load("two_moons", as_frame=True)
model = AdaBoostClassifier(n_estimators=60, trace=True).fit(X, y)
scores = np.array(list(model.staged_score(X, y)))
print(f"{len(model.estimators_)} stumps, ended by {model.stopped_!r}")
for n in (1, 5, 20, 60):
    print(f"  after {n:>2} {'round' if n == 1 else 'rounds'}: {scores[n - 1]:.1%} right")

# %%
# A round leaves half of all weight on the rows that its stump got wrong, so that the next has to
# do something else.
for number, (frame, after) in enumerate(zip(model.trace_[:5], model.trace_[1:6], strict=True), 1):
    cut, wrong = model.estimators_[number - 1].tree_.split(0), frame["wrong"]
    print(
        f"round {number}: {cut.name} <= {cut.threshold:5.2f}, error {frame['error']:.3f}, "
        f"say {frame['alpha']:.3f}, then its mistakes weigh {after['weights'][wrong].sum():.3f}"
    )

# %%
# Six rounds. The area of a row is its weight, a ring says that the stump of the round (dashed) gets
# it wrong, and colours are what the committee so far says.
print(f"rounds -> {out / 'boosting_rounds.png'}")
plots.rounds(model, X, y).save(out / "boosting_rounds.png")

# %%
# After the last mistake rounds go on to raise the smallest margins: by how much the committee
# speaks for a row's class rather than for another.
print(f"smallest margin {model.margins(X, y).min():.3f}")
print(f"margins -> {out / 'boosting_margins.png'}")
plots.margins(model, X, y, stages=[3, 20, 60]).save(out / "boosting_margins.png")

# %%
# Beside a random forest, on rows that neither has seen.
others = datasets.load("two_moons", as_frame=True, seed=1, n_rows=2000)
forest = RandomForestClassifier().fit(X, y)
for name, committee in (("boosting", model), ("forest", forest)):
    print(f"{name}: {committee.score(*others):.1%} of {len(others.y)} other rows right")

# %%
# The film of the rounds. In a notebook the player shows itself.
print(f"film -> {out / 'boosting_rounds.gif'}")
plots.play(model, X, out / "boosting_rounds.gif", y=y, fps=3, max_frames=15)
