"""`python -m kinetree` runs the command line `kinetree`, also where that program is not on the
path.
"""

import sys

from kinetree.scripts.cli import main

if __name__ == "__main__":
    sys.exit(main())
