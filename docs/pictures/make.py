"""Make the pictures of the guide again: every page that makes some is run, and those that it shows are kept here.

`python docs/pictures/make.py`. Of polls.svg the page tells the command; its data come with River.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from contextlib import chdir
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "tests" / "unit"))


def main() -> None:
    from test_docs import played

    for page in sorted(HERE.parent.glob("*.md")):
        text = page.read_text()
        shown = [name for name in re.findall(r"\]\(pictures/([^)]+)\)", text) if f'to="{name}"' in text]
        if not shown:
            continue
        with tempfile.TemporaryDirectory() as folder, chdir(folder):
            page.write_text(played(page))
            for name in shown:
                shutil.copyfile(name, HERE / name)
        print(f"{page.name}: {len(shown)} pictures")


if __name__ == "__main__":
    main()
