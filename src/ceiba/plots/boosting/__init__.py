"""Pictures of the rounds of AdaBoost."""
