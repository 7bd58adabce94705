"""Trees as text, nested dictionaries, JSON and if-then rules."""
