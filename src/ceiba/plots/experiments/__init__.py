"""Pictures of experiments: scores, parameters, times, ranks, and pooled predictions."""
