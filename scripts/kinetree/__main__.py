"""`python -m kinetree`: the command line `kinetree`, where its program is not on the path."""

import sys

from kinetree.scripts.cli import main

if __name__ == "__main__":
    sys.exit(main())
