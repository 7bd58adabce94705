"""Code of decision trees, their rules and ensembles."""
