"""Pictures of trees, of their growth and of their pruning."""
