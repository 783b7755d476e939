"""``python -m hermes_nb.cli`` does what ``hermes-nb`` does, also where that is not on the PATH."""

import sys

from hermes_nb.cli import main

sys.exit(main())
