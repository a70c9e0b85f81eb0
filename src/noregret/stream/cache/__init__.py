"""The binary cache of a stream's file: its parsed rows as raw arrays, used only where they are still right.

`origin` tells whether the file is the one that was read, `layout` a block as bytes, `file` the whole cache, `place`
where it lies, and `cached` the stream that reads from it or makes it on the way.
"""

CACHE_FILE = b"noregret-cache"
