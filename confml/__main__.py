"""``python -m confml`` and the ``confml`` command."""

from confml.cli import main

if __name__ == "__main__":
    main()
