"""Play the trace of a fit as an animation."""
