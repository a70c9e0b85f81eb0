"""Your own loss, and a stop that costs nothing: learn half a stream, stop, continue in another process.

The loss is two plain Python functions, value and slope, which Numba compiles if it is installed. This process learns
the first half of the diabetes data and saves; another one loads the model, continues with the second half and saves.
The weights are the same, bit for bit, as those of a run that never stopped.

    python examples/own_loss_and_resume.py [FOLDER]
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_diabetes

import noregret as nr


def value(z: float, y: float) -> float:
    """Too low costs three times as much as too high: what a forecast of demand is often judged by."""
    return 3.0 * (y - z) if z < y else z - y


def slope(z: float, y: float) -> float:
    return -3.0 if z < y else 1.0


LOSS = nr.custom_loss(value, slope, name="shortage", regression=True, lipschitz=3.0)


def half(which: int) -> tuple[np.ndarray, np.ndarray]:
    """A half of the data, the features scaled to about 1."""
    X, y = load_diabetes(return_X_y=True)
    part = slice(0, 221) if which == 1 else slice(221, 442)
    return 20.0 * X[part], y[part] / 100.0


def fresh() -> nr.OnlineGradientDescentRegressor:
    return nr.OnlineGradientDescentRegressor(loss=LOSS, radius=5.0, bias=True)


def go_on(path: str) -> None:
    """What the other process does."""
    model = nr.load(path, loss=LOSS)
    nr.play(model, half(2))
    model.save(path)


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    path = str(folder / "model.nr")
    stopped = fresh()
    run = nr.play(stopped, half(1))
    stopped.save(path)
    print(f"first half: {run.rounds} rounds, mean loss {run.sequential_risk:.4f}; saved, and stopped")

    subprocess.run([sys.executable, __file__, "--go-on", path], check=True)
    resumed = nr.load(path, loss=LOSS)

    never = fresh()
    nr.play(never, half(1))
    run = nr.play(never, half(2))
    print(f"never stopped: {run.rounds} rounds, mean loss {run.sequential_risk:.4f}")
    same = np.array_equal(resumed.coef_, never.coef_) and resumed.intercept_ == never.intercept_
    print(f"the same weights, bit for bit: {bool(same)}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--go-on"]:
        go_on(sys.argv[2])
    else:
        main(Path(sys.argv[1] if len(sys.argv) > 1 else "resume-example"))
