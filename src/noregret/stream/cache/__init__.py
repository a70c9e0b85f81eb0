"""The binary cache of a stream's file: its parsed rows as raw arrays, used only where they are still right.

`origin` tells whether the file is the one that was read and where its cache lies, `file` is the whole cache, and
`cached` the stream that reads from it or makes it on the way.
"""

import sys

CACHE_FILE = b"noregret-cache"
CACHE_ENDING = ".nrcache"
MAGIC = CACHE_FILE + b"1" + (b"<" if sys.byteorder == "little" else b">")
