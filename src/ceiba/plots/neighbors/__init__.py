"""Plots of nearest neighbors: regions, Voronoi cells, the votes of one row, leave-one-out."""
