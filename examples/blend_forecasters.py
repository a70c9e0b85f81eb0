"""Blend forecasters: follow their best mean without knowing it beforehand.

Four simple rules forecast tomorrow's demand. Which one is best changes with the season. The blend competes with the
best fixed mean of the rules and needs no tuning. Its loss is never much above that of the best mean, nor of the best
rule, and the receipt proves it.

    python examples/blend_forecasters.py [FOLDER]
"""

import sys
from pathlib import Path

import numpy as np
import pandas

import noregret as nr

DAYS, TOP = 730, 200.0


def demand(seed: int) -> np.ndarray:
    """Two years: a weekly rhythm that ends with the first, a slow swell, noise."""
    rng = np.random.default_rng(seed)
    day = np.arange(DAYS)
    week = 30.0 * np.sin(2.0 * np.pi * day / 7.0) * (day < 365)
    swell = 15.0 * np.sin(2.0 * np.pi * day / 365.0)
    return np.clip(100.0 + week + swell + rng.normal(scale=8.0, size=DAYS), 0.0, TOP)


def forecasts(series: np.ndarray) -> pandas.DataFrame:
    """Each rule sees only the days before the one that it speaks of."""
    past = pandas.Series(series).shift(1)
    table = pandas.DataFrame(
        {
            "yesterday": past,
            "last week": pandas.Series(series).shift(7),
            "mean of 28 days": past.rolling(28, min_periods=1).mean(),
            "mean of all": past.expanding().mean(),
        }
    )
    return table.fillna(100.0).assign(demand=series)


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    table = forecasts(demand(seed=2))
    table.to_csv(folder / "forecasts.csv", index=False)
    rules = [name for name in table if name != "demand"]
    found = nr.blend(
        folder / "forecasts.csv", outcome="demand", experts=rules, loss="absolute", range=(0.0, TOP), switches=1
    )
    for row in found.table():
        print(f"  {row['expert']:<16} loss {row['loss']:>8.1f}, final weight {row['weight']:.3f}")
    print(f"loss of the blend: {found.loss:.1f}; of the best rule, {found.best!r}: {found.best_loss:.1f}")
    print(f"loss of the best fixed mean: {found.mean.upper:.1f}")
    print(f"regret against it: {found.mean_regret.hi:.1f}, bound: {found.bound:.1f}")
    switching = found.to_dict()["switching"]
    parts = ", then ".join(f"{name} from day {first}" for first, _, name in switching["parts"])
    print(f"best sequence with one switch, in hindsight: {parts}: {switching['loss']:.1f}")

    found.receipt().save(folder / "blend.json")
    checked = nr.verify(folder / "blend.json", folder / "forecasts.csv")
    print(f"receipt verified: {len(checked.checks)} claims recomputed")
    nr.report(folder / "blend.json", output=folder / "report.html")
    print(f"report, to open in a browser: {folder / 'report.html'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "blend-example"))
