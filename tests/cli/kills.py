"""Kill a program at random moments of what it writes, again and again, and look at what it leaves behind.

`python tests/cli/kills.py 60` kills that many times, `--namespace` as process 1 of a namespace of its own.
"""

import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

NOREGRET = [sys.executable, "-m", "noregret"]
NAMESPACE = ["unshare", "--pid", "--fork", "--kill-child=KILL", "--mount-proc"]
WRITES = {
    "save": ["learn", "rows.svm", "--save", "m.nr", "--quiet"],
    "resume": ["learn", "rows.svm", "--resume", "kept.nr", "--again", "--save", "kept.nr", "--quiet"],
    "cache": ["learn", "rows.svm", "--cache", "--quiet"],
    "receipt": ["learn", "few.svm", "--learner", "ogd", "--receipt", "r.json", "--quiet"],
    "predictions": ["learn", "rows.svm", "--predictions", "p.csv", "--quiet"],
}


def rows(count, seed):
    rng = random.Random(seed)
    for _ in range(count):
        x = [rng.uniform(-1.0, 1.0) for _ in range(3)]
        yield f"{1 if x[0] > x[1] else -1} 1:{x[0]:.4f} 2:{x[1]:.4f} 300000:{x[2]:.4f}\n"


def run(arguments, folder, before=()):
    return subprocess.run([*before, *NOREGRET, *arguments], cwd=folder, capture_output=True, text=True, timeout=600)


def prepared(folder):
    (folder / "rows.svm").write_text("".join(rows(30_000, 1)))
    (folder / "few.svm").write_text("".join(row.replace("300000:", "3:") for row in rows(300, 2)))
    done = run(["learn", "few.svm", "--save", "kept.nr", "--quiet"], folder)
    assert done.returncode == 0, done.stderr


def killed(kind, folder, moment, before=()):
    """Whether the program was killed at that moment after its first temporary file showed, or had ended by then."""
    process = subprocess.Popen(
        [*before, *NOREGRET, *WRITES[kind]], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    end = time.monotonic() + 300.0
    while process.poll() is None and time.monotonic() < end and not any(folder.glob(".noregret-*")):
        time.sleep(0.0005)
    time.sleep(moment)
    ended = process.poll() is not None
    process.kill()
    process.wait(60)
    return not ended


LOOKS = {
    "m.nr": ["inspect", "m.nr"],
    "kept.nr": ["inspect", "kept.nr"],
    "r.json": ["verify", "r.json", "few.svm"],
    "rows.svm.nrcache": ["cache", "rows.svm", "--check"],
}
WRITTEN = {"save": "m.nr", "resume": "kept.nr", "receipt": "r.json", "cache": "rows.svm.nrcache"}


def lost(kind, folder):
    """What is wrong with the file that was being written: whenever its writer died, it is whole or not there."""
    name = WRITTEN.get(kind)
    if not (folder / "kept.nr").exists():
        return "kept.nr is lost"
    if name is None or not (folder / name).exists():
        return ""
    done = run(LOOKS[name], folder)
    return f"{name}: {done.stderr}{done.stdout}" if done.returncode else ""


def left(folder):
    return sorted(path.name for path in folder.glob(".noregret-*"))


def trial(kind, folder, moment, before=()):
    """Kill once; what was lost, what failed later, and what was left after the next save of the kind."""
    hit = killed(kind, folder, moment, before)
    remains, gone = len(left(folder)), lost(kind, folder)
    later = run(WRITES[kind], folder, before)
    failed = later.stderr if later.returncode else ""
    return hit, remains, gone, failed, left(folder)


def main(times, before=()):
    rng = random.Random(7)
    hits = remains = 0
    wrong = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepared(folder)
        for number in range(times):
            kind = list(WRITES)[number % len(WRITES)]
            longest = {"cache": 0.05, "predictions": 0.3, "receipt": 0.002}.get(kind, 0.004)
            hit, some, *found = trial(kind, folder, rng.uniform(0.0, longest), before)
            hits, remains = hits + hit, remains + bool(some)
            if any(found):
                wrong.append((kind, *found))
            print(number + 1, kind, hit, some, found, flush=True)
            for path in folder.glob("*.nrcache"):
                path.unlink()
    print(f"{times} kills, {hits} while it ran, {remains} left a temporary file; wrong: {wrong}")
    return wrong


if __name__ == "__main__":
    os.environ.setdefault("PYTHONPATH", str(Path(__file__).parents[2] / "src"))
    sys.exit(bool(main(int(sys.argv[1]), NAMESPACE if "--namespace" in sys.argv else ())))
