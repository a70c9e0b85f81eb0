"""What stands in a model file beside its learner, forged: one sentence, never a traceback."""

import contextlib

import numpy as np
import pytest
from command import call, svmlight

import noregret as nr
from oracle.forged_models import changed, forgeries, put_together, taken_apart


@pytest.mark.parametrize("part", ["selection", "estimator"])
def test_what_is_forged_beside_the_learner_is_refused(part, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.array([-1, 1] * 30)
    (tmp_path / "s.svm").write_text(svmlight(X, y))
    if part == "selection":
        call("learn", "s.svm", "--learner", "perceptron", "--select", "penalised", "--save", "m.nr", "--quiet")
    else:
        nr.AdaGrad().fit(X, y).save("m.nr")
    header, body = taken_apart((tmp_path / "m.nr").read_bytes())
    found = [(place, value) for place, value in forgeries(header) if place[0] == part]
    for at in rng.permutation(len(found))[:80].tolist():
        place, value = found[at]
        (tmp_path / "f.nr").write_bytes(put_together(changed(header, place, value), body))
        with contextlib.suppress(nr.NoregretError):
            nr.load("f.nr")
        assert call("inspect", "f.nr").code in (0, 2), (place, value)
