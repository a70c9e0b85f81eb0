"""Its place puts tests/ on the import path, so that every folder of tests finds `oracle`."""

import os

from hypothesis import settings

# The first example of a test may compile a kernel: a deadline would measure the compiler. The examples are the same in
# every run, so that a change is judged by what it does and not by luck; NOREGRET_THOROUGH draws new ones.
settings.register_profile("noregret", deadline=None, derandomize=not os.environ.get("NOREGRET_THOROUGH"))
settings.load_profile("noregret")
