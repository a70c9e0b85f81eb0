"""The compiled core: every loop, built from `native/` when the package is built.

Arrays and numbers go in, given arrays are filled, a count or a sum comes back. On x86-64 there are two builds of the
same sources, `plain` and `v3` (AVX2), and both give the same bits. `v3` is used if the processor can run it;
NOREGRET_PROCESSOR=plain selects `plain`.
"""

import os

from noregret._native import processor

if processor.v3 and os.environ.get("NOREGRET_PROCESSOR", "v3") != "plain":
    from noregret._native.v3 import *  # noqa: F403

    BUILD = "v3"
else:
    from noregret._native.plain import *  # noqa: F403

    BUILD = "plain"
