"""`python -m copydesk`: the same as the `copydesk` command."""

import sys

from copydesk.cli import main

if __name__ == "__main__":
    sys.exit(main())
