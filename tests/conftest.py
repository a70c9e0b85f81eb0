"""Its place puts tests/ on the import path, so that every folder of tests finds `oracle`."""

import os
import signal

from hypothesis import settings

# The first example of a test may compile a kernel: a deadline would measure the compiler. The examples are the same in
# every run, so that a change is judged by what it does and not by luck; NOREGRET_THOROUGH draws new ones.
settings.register_profile("noregret", deadline=None, derandomize=not os.environ.get("NOREGRET_THOROUGH"))
settings.load_profile("noregret")

# A background job of a script, or a command under nohup, ignores signals, and so would every program that it starts:
# the tests that stop one would wait without end. A handler that does nothing ignores them too, but is not inherited.
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, lambda number, frame: None)
