"""The command as the tests call it, in this process or as a program of its own, and what they look at afterwards."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from noregret import model
from noregret.cli.main import main

SOURCE = Path(__file__).parents[2] / "src"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(SOURCE), "COLUMNS": "120"}


@dataclass(frozen=True)
class Answer:
    """What a command said and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        return json.loads(self.out)

    def rows(self) -> dict[str, list[str]]:
        """The printed table: what stands in the first column, and the cells behind it."""
        found = {}
        for line in self.out.splitlines():
            cells = [cell for cell in line.strip().split("  ") if cell.strip()]
            if cells:
                found[cells[0].strip()] = [cell.strip() for cell in cells[1:]]
        return found


def call(*args: object, stdin: bytes = b"") -> Answer:
    """The command in this process: an exception that is not an exit is a failure of the test."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    argv = ["noregret", *map(str, args)]
    with (
        mock.patch.object(sys, "argv", argv),
        mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin))),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as exit:
            code = exit.code
    out.flush(), err.flush()
    return Answer(int(code or 0), out.buffer.getvalue().decode(), err.buffer.getvalue().decode())


def spawn(*args: object, **options: Any) -> subprocess.Popen[bytes]:
    """The command as a program of its own, its output kept."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.PIPE}
    command = [sys.executable, "-m", "noregret", *map(str, args)]
    return subprocess.Popen(command, env=ENVIRONMENT, **{**pipes, **options})


def snapshot(folder: Path) -> dict[str, bytes | None]:
    """Everything in a folder, byte for byte."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


def learned(path: Path) -> dict[str, bytes]:
    """All that a model file holds of what was learned, bit for bit."""
    core, _ = model.load(path)
    arrays = {"z": core.weights, "total": core.gradient_sum, "peak": np.trim_zeros(core.preparation.peak, "b")}
    return {name: array.tobytes() for name, array in {**arrays, "state": core.state}.items()}


def numbers(answer: Answer) -> dict[str, Any]:
    """The figures of `--json` that do not speak of the call alone."""
    apart = ("seconds", "this_run", "digest", "stopped", "task", "advice")
    return {k: v for k, v in answer.json.items() if k not in apart}


def lines_of(path: str | Path) -> list[dict[str, str]]:
    """The lines of a prediction file by the names in its head."""
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def svmlight(X: Any, y: Any) -> str:
    pairs = (" ".join(f"{i + 1}:{value}" for i, value in enumerate(row)) for row in X.tolist())
    return "".join(f"{label} {row}\n" for label, row in zip(y.tolist(), pairs, strict=True))
