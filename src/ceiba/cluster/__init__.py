"""k-means clustering, cluster validity indices and the choice of the number of clusters."""

from ceiba.cluster.kmeans import EmptyClusterWarning, KMeans
from ceiba.cluster.selection.choose import ClusterChoice, choose_n_clusters
from ceiba.cluster.selection.silhouette import (
    silhouette_estimate,
    silhouette_samples,
    silhouette_score,
)
from ceiba.cluster.selection.validity import (
    calinski_harabasz_score,
    davies_bouldin_score,
    inertia_score,
)
from ceiba.stats.scaling import DominantColumnWarning

__all__ = [
    "ClusterChoice",
    "DominantColumnWarning",
    "EmptyClusterWarning",
    "KMeans",
    "calinski_harabasz_score",
    "choose_n_clusters",
    "davies_bouldin_score",
    "inertia_score",
    "silhouette_estimate",
    "silhouette_samples",
    "silhouette_score",
]
