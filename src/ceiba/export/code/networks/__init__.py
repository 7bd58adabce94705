"""Code of Bayesian network classifiers and latent classes."""
