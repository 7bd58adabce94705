"""``python -m ceiba`` is the command ``ceiba``."""

from ceiba.cli import main

if __name__ == "__main__":
    main()
