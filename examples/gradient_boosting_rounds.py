"""
Gradient boosting, round by round
=================================

The fuel consumption of cars. Each round fits a small tree to the negative gradient of the loss,
here the residuals, and adds a tenth of its values to the prediction.
"""

from pathlib import Path

import numpy as np

from ceiba import GradientBoostingRegressor, datasets, plots

out = Path("out")

# %%
# Fit on three of four rows; the loss on the others is followed.
cars, mpg = datasets.load("auto_mpg")
test = np.arange(len(mpg)) % 4 == 0
train = ~test
model = GradientBoostingRegressor(60, max_leaf_nodes=6, trace=True)
model.fit(cars[train], mpg[train], X_val=cars[test], y_val=mpg[test])
for n, predicted in enumerate(model.staged_predict(cars[test]), 1):
    if n in (1, 10, 60):
        error = np.sqrt(np.mean((predicted - mpg[test]) ** 2))
        print(f"root mean squared error after {n:>2} rounds: {error:.2f} miles per gallon")

# %%
# The arithmetic of the first split: sums of gradients, scores, the gain.
print(model.split_arithmetic(0))

# %%
# Losses, and importances of the columns.
print(f"losses -> {out / 'gradient_boosting_losses.png'}")
plots.loss_curve(model).save(out / "gradient_boosting_losses.png")
plots.split_importance(model).save(out / "gradient_boosting_importance.png")

# %%
# An animation of the rounds over one column; in a notebook the player displays itself.
print(f"animation -> {out / 'gradient_boosting.gif'}")
plots.play(
    model, cars[train], out / "gradient_boosting.gif", columns=["weight"], fps=3, max_frames=12
)
