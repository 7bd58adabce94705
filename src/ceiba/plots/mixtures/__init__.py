"""Pictures of Gaussian mixtures."""
