"""Pictures of the rounds of AdaBoost and of gradient boosting."""
