"""
Comparing k-means settings on a real table
==========================================

The Cleveland heart table has numeric, nominal and ordinal columns and missing values. k-means takes
it without preprocessing: a nominal column contributes a mismatch or nothing, and missing values are
left out of the distance. Only the numeric columns are scaled, or the largest unit would dominate.
"""

import time
from pathlib import Path

from ceiba import KMeans, datasets, plots
from ceiba.cluster import choose_n_clusters, silhouette_score

out = Path("out")

# %%
# Numeric columns scaled to [0, 1], so that a whole range counts as much as a different category.
heart = datasets.load("cleveland", as_frame=True)
X = heart.X
numeric = X.select_dtypes("number").columns
X[numeric] = (X[numeric] - X[numeric].min()) / (X[numeric].max() - X[numeric].min())
n_missing = int(X.isna().sum().sum())
print(
    f"{heart.name}: {X.shape[0]} rows, {X.shape[1]} columns ({len(numeric)} numeric), "
    f"{n_missing} missing values"
)

# %%
# The initialization matters most: one random initialization, ten of them, and k-means++.
settings = {
    "random rows, n_init=1": {"init": "random", "n_init": 1},
    "random rows, n_init=10": {"init": "random", "n_init": 10},
    "k-means++, n_init=1": {"init": "k-means++", "n_init": 1},
    "k-means++, n_init=10": {"init": "k-means++", "n_init": 10},
}
print(f"\n{'k':>2}  {'setting':<24}{'inertia':>9}{'n_iter':>8}{'silhouette':>12}{'ms':>8}")
for k in (2, 4, 8):
    for name, options in settings.items():
        start = time.perf_counter()
        model = KMeans(n_clusters=k, **options).fit(X)
        elapsed = 1000 * (time.perf_counter() - start)
        score = silhouette_score(X, model.labels_)
        print(
            f"{k:>2}  {name:<24}{model.inertia_:>9.2f}{model.n_iter_:>8}{score:>12.3f}"
            f"{elapsed:>8.1f}"
        )

# %%
# How many clusters? Five indices in one table and one picture.
choice = choose_n_clusters(X, range(1, 9))
print(f"\n{choice}")
print(f"\nchoice -> {out / 'kmeans_choice.png'}")
plots.cluster_choice(choice).save(out / "kmeans_choice.png")

# %%
# The clusters proposed by the silhouette, on the first two principal components.
print(f"clusters -> {out / 'kmeans.png'}")
plots.clusters(choice.models[choice.best["silhouette"]], X).save(out / "kmeans.png")
