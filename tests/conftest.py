"""Its place puts tests/ on the import path, so that every folder of tests finds `oracle`."""

from hypothesis import settings

# The first example of a test may compile a kernel: a deadline would measure the compiler.
settings.register_profile("noregret", deadline=None)
settings.load_profile("noregret")
