"""`noregret("learn", file)` runs the command in this process, `start(...)` as a program of its own."""

import numpy as np
import pytest
from command import call, spawn, svmlight

MAIL = """label,subject,country,length
spam,Win a prize NOW,NG,120
ham,Minutes of the meeting,DE,900
spam,"Win money, now",US,80
ham,Lunch on Tuesday,FR,300
spam,A prize for you,NG,60
ham,The meeting on Tuesday,DE,700
"""


@pytest.fixture(scope="session")
def noregret():
    return call


@pytest.fixture(scope="session")
def start():
    return spawn


@pytest.fixture(scope="session")
def examples():
    """Rows of three features whose label a plane decides, with a tenth of the labels turned."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(400, 3)).round(4)
    y = np.where((X @ [1.0, -2.0, 0.5] > 0.2) ^ (rng.random(400) < 0.1), 1, -1)
    return X, y


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder to stand in, so that files are named as a user names them."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def rows(here, examples):
    """rows.svm in the folder."""
    (here / "rows.svm").write_text(svmlight(*examples))
    return "rows.svm"


@pytest.fixture
def mail(here):
    """mail.csv: words, categories, a number, and string labels."""
    (here / "mail.csv").write_text(MAIL)
    return "mail.csv"
