"""
Comparing k-means settings on a real table
==========================================

The Cleveland heart table has numbers, labels, an ordered column and gaps. k-means takes it as it
is: a nominal column counts as a mismatch or none, and a gap counts for nothing. Only the numbers
are brought to a common scale, or the largest unit would decide alone.
"""

import time
from pathlib import Path

from ceiba import KMeans, datasets, plots
from ceiba.cluster import choose_n_clusters, silhouette_score

out = Path("out")

# %%
# Numbers from 0 to 1, so that a whole range weighs as much as a different label.
heart = datasets.load("cleveland", as_frame=True)
X = heart.X
numbers = X.select_dtypes("number").columns
X[numbers] = (X[numbers] - X[numbers].min()) / (X[numbers].max() - X[numbers].min())
gaps = int(X.isna().sum().sum())
print(
    f"{heart.name}: {X.shape[0]} rows, {X.shape[1]} columns ({len(numbers)} numeric), {gaps} gaps"
)

# %%
# The start matters more than anything else: one random start, ten of them, and k-means++.
settings = {
    "random rows, 1 start": {"init": "random", "n_init": 1},
    "random rows, 10 starts": {"init": "random", "n_init": 10},
    "k-means++, 1 start": {"init": "k-means++", "n_init": 1},
    "k-means++, 10 starts": {"init": "k-means++", "n_init": 10},
}
print(f"\n{'k':>2}  {'setting':<24}{'inertia':>9}{'steps':>7}{'silhouette':>12}{'ms':>8}")
for k in (2, 4, 8):
    for name, options in settings.items():
        began = time.perf_counter()
        model = KMeans(n_clusters=k, **options).fit(X)
        took = 1000 * (time.perf_counter() - began)
        score = silhouette_score(X, model.labels_)
        print(
            f"{k:>2}  {name:<24}{model.inertia_:>9.2f}{model.n_iter_:>7}{score:>12.3f}{took:>8.1f}"
        )

# %%
# How many clusters? Five indices, one table, one picture.
choice = choose_n_clusters(X, range(1, 9))
print(f"\n{choice}")
print(f"\nchoice -> {out / 'kmeans_choice.png'}")
plots.cluster_choice(choice).save(out / "kmeans_choice.png")

# %%
# The clusters that the silhouette proposes, on the first two principal components.
print(f"clusters -> {out / 'kmeans.png'}")
plots.clusters(X, choice.models[choice.best["silhouette"]]).save(out / "kmeans.png")
