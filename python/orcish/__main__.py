"""``python -m orcish``."""

import sys

from orcish.cli import main

if __name__ == "__main__":
    sys.exit(main())
