"""Pictures of clusters and of the choice of their number."""
