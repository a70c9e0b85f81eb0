"""The tests of the service call the command as those of the command line do."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "cli"))
