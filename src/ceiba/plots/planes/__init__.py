"""Pictures of what a model predicts over one or two columns."""
