"""The report says what its sources say, all of it, and nothing in it can be run or fetched."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from noregret import learner as learners
from noregret import model
from noregret.errors import NoregretError, ReceiptError, SettingError
from noregret.proof.certify import certify
from noregret.proof.receipt import checksum
from noregret.proof.theorems import THEOREMS
from noregret.protocol import play
from noregret.reporting import report
from noregret.reporting.html import formula
from noregret.reporting.page import LARGEST, POLICY
from noregret.summary import at_least, at_most
from noregret.task.blend import blend
from noregret.task.select import select
from noregret.task.separate import separate

sys.path.insert(0, str(Path(__file__).parent))

from page import Page

EVIL = '<script>alert("1")</script><img src=x onerror=alert(1)>"\'&lt;'


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(120, 3))
    return X, np.where((X @ [1.0, -2.0, 0.5] > 0.0) ^ (rng.random(120) < 0.1), 1, -1)


@pytest.fixture(scope="module")
def made(data):
    """A run of gradient descent with its receipt."""
    run = play(learners.OnlineGradientDescent(loss="logistic", radius=2.0), data, digest=True)
    return run, certify(run, data, anytime=True)


@pytest.fixture(scope="module")
def files(made, data, tmp_path_factory):
    """One file of every kind."""
    folder = tmp_path_factory.mktemp("files")
    run, receipt = made
    receipt.save(folder / "ogd.json")
    model.save(run.learner, folder / "ogd.nr")
    wrong = play(learners.Perceptron(), data, digest=True)
    certify(wrong, data).save(folder / "perceptron.json")
    chosen = select(wrong, data, how="penalised")
    certify(wrong, data, selection=chosen).save(folder / "selected.json")
    model.save(chosen.core, folder / "selected.nr")
    separate(data).save(folder / "inseparable.json")
    separate(([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]], [1, 1, -1])).save(folder / "separable.json")
    table = {"anna": [0.9, 0.8, 0.9], "bert": [0.2, 0.4, 0.1], "rain": [1, 1, 0]}
    blend(table, outcome="rain", experts=["anna", "bert"], loss="log").receipt().save(folder / "blend.json")
    return folder


def changed(path, target, change):
    """A receipt with something in it changed, and a checksum that fits again."""
    body = json.loads(Path(path).read_text())
    change(body)
    body.pop("checksum")
    body["checksum"] = checksum(body)
    Path(target).write_text(json.dumps(body))
    return target


# -- what the page says ------------------------------------------------------------------------------------------------


def test_every_theorem_of_the_receipt_is_there_with_formula_assumptions_verdict_bound_and_observed(files):
    page = Page(report(files / "perceptron.json"))
    body = json.loads((files / "perceptron.json").read_text())
    assert page.count("article", "theorem") == len(body["certificates"]) > 10
    plain = re.sub(r"[\s]+", "", page.text)
    for one in body["certificates"]:
        known = THEOREMS[one["theorem"]]
        assert one["theorem"] in page.text
        assert re.sub(r"[\s_{}^]+", "", known.formula).replace("(−y⟨u,x⟩)", "−y⟨u,x⟩") in plain, known.formula
        assert one["source"] in page.text
        if one["bound"] is not None:
            assert f"bound {at_most(float(one['bound']))}" in page.text
            assert f"observed {at_most(float(one['observed']))}" in page.text
        for assumed in one["assumptions"]:
            assert re.sub(r"[\s_]+", "", assumed["statement"]) in plain
    held = [one["holds"] for cert in body["certificates"] for one in cert["assumptions"]]
    assert page.count("span", "yes") == held.count(True)
    assert page.count("span", "no") == held.count(False) > 0
    assert page.count("span", "unmet") == 2 * sum(one["verdict"] == "unmet" for one in body["certificates"])


def test_an_assumption_that_no_run_can_check_is_marked_so(files):
    page = Page(report(files / "selected.json"))
    assert page.count("span", "open") >= 5
    assert "the rows are independent draws from one source (i.i.d.) (not checkable)" in page.text
    assert "Risk on new rows" in page.text
    assert "chosen: the weights before round" in page.text


def meaning(text):
    """What a section says to somebody who knows no theory: every sentence in its first box."""
    box = text[text.index('<div class="meaning">') :]
    return Page(box[: box.index("</div>") + len("</div>")]).text


def test_a_section_begins_with_what_it_means_and_theory_is_folded_below(files, made):
    text = report(files / "ogd.json", files / "ogd.nr")
    heads = ["What this means", "What to do", "Figures", "Pictures", "How to verify"]
    body = text[text.index("<section") :]
    places = [*(body.index(f"<h3>{head}") for head in heads), body.index("<details>")]
    assert places == sorted(places)
    theorems = body.index('<article class="theorem"')
    assert body.rindex("<details>", 0, theorems) > body.rindex("</details>", 0, theorems), "theorems are inside details"
    assert "<details open" not in text


def test_what_it_means_has_the_numbers(files, made):
    run, receipt = made
    said = meaning(report(files / "ogd.json", files / "ogd.nr"))
    own, best, regret = (receipt.regret[key] for key in ("own", "comparator", "upper"))
    assert f"wrong on {run.mistakes} of them ({100 * run.mistakes / run.rounds:.2f} %)" in said
    rules = run.baselines
    assert f"{100 * (1 - run.mistakes / min(rules.values())):.2f} % fewer mistakes" in said
    most = float(re.search(r"could have saved more than ([\d.]+) % of the loss", said)[1])
    true = 100 * (1 - best["lower"] / own["upper"])
    assert true <= most <= true + 0.1 + 1e-6, "rounded up, by no more than the last digit"
    assert f"{at_least(receipt.regret['lower'])} … {at_most(regret)}" in said


def test_what_it_means_for_proofs_blends_and_selections(files):
    assert "A linear model can label every one of these rows correctly" in meaning(report(files / "separable.json"))
    assert "Every linear model labels at least one of these rows wrongly" in meaning(report(files / "inseparable.json"))
    assert "Theory guarantees a regret of at most" in meaning(report(files / "blend.json"))
    chosen = json.loads((files / "selected.json").read_text())["selection"]["certificates"][0]
    said = meaning(report(files / "selected.json"))
    if chosen["verdict"] == "holds":
        limit = float(re.search(r"is wrong at most ([\d.]+) % of the time, with confidence 0.95", said)[1])
        assert 100 * chosen["bound"] <= limit <= 100 * chosen["bound"] + 0.1
        assert "which no run can check" in said


def test_a_learner_that_does_not_beat_the_baseline_is_called_that_and_advice_follows(tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 2)), np.repeat([1, -1], 100)
    said = meaning(report(play(learners.OnlineGradientDescent(loss="hinge"), rows)))
    assert "The learner does no better than that" in said
    assert "The rows are sorted by label" in said
    assert "--shuffle 0" in said


def test_a_broken_theorem_comes_first_in_what_to_do(files, tmp_path):
    target = changed(
        files / "ogd.json", tmp_path / "b.json", lambda body: body["certificates"][0].update(verdict="broken")
    )
    said = meaning(report(target))
    assert said.partition("What to do")[2].strip().startswith("Do not rely on this run")


def test_figures_regret_and_streams_are_those_of_the_receipt(files, made):
    page = Page(report(files / "ogd.json"))
    run, receipt = made
    regret = receipt.regret
    assert f"{at_least(regret['lower'])} … {at_most(regret['upper'])}" in page.text
    assert receipt.segments[0]["digest"] in page.text
    assert f"mistakes {run.mistakes} {100 * run.mistakes / run.rounds:.2f} %" in page.text
    assert "logistic, ‖u‖ ≤ 2" in page.text
    assert "The receipt does not hold the two baselines" in page.text, "a receipt holds no baselines, and that is said"


def test_a_model_joins_the_receipt_of_its_run_and_brings_the_baselines(files, made):
    page = Page(report(files / "ogd.json", files / "ogd.nr"))
    assert page.count("section") == 1
    assert "baseline: most frequent label" in page.text
    assert f"{made[0].baselines['last_label']:.0f}" in page.text
    assert "Side by side" not in page.text
    other = Page(report(files / "perceptron.json", files / "ogd.nr"))
    assert other.count("section") == 2, "the model of another run does not"


def test_a_model_alone_has_figures_and_says_how_to_certify(files, made):
    page = Page(report(files / "ogd.nr"))
    assert "A model file holds no certificates" in page.text
    assert f"noregret certify {files / 'ogd.nr'} STREAM --receipt receipt.json" in page.text
    assert page.count("article") == 0
    assert at_most(made[0].regret_upper) in page.text


def test_a_selected_model_brings_its_promises(files):
    page = Page(report(files / "selected.nr"))
    assert "risk-binomial" in page.text
    assert "noregret certify" not in page.text, "a selected model holds no run"


def test_a_blend_and_proofs(files):
    page = Page(report(files / "blend.json", files / "separable.json", files / "inseparable.json"))
    assert page.count("section") == 3
    assert "The best single expert, bert, has" in page.text
    assert "mixture" in page.text
    assert "A hyperplane separates the two classes." in page.text
    assert "No hyperplane separates the two classes." in page.text
    assert "Σ λ·y·x = 0 exactly" in page.text
    assert "mistakes of a perceptron, at most 2" in page.text
    assert f"noregret verify {files / 'blend.json'} TABLE" in page.text


def test_several_files_are_compared_at_the_top(files):
    text = report(files / "ogd.json", files / "perceptron.json", files / "blend.json")
    page = Page(text)
    top = text[: text.index("<section")]
    assert "Side by side" in top
    for name in ("ogd.json", "perceptron.json", "blend.json"):
        assert name in top
    links = [a["href"] for tag, a in page.tags if tag == "a"]
    assert links == ["#s1", "#s2", "#s3"]
    assert {a.get("id") for tag, a in page.tags if tag == "h2"} == {"s1", "s2", "s3"}


def test_objects_are_reported_like_their_files(made, files):
    run, receipt = made
    text = report(receipt, run)
    assert Page(text).count("section") == 1
    assert "receipt 1" in text
    assert Page(report(run.learner)).count("section") == 1
    with pytest.raises(SettingError, match="takes files, receipts"):
        report(3)
    with pytest.raises(SettingError, match="at least one"):
        report()


def test_the_command_to_verify_works_as_it_stands(files, data, tmp_path):
    rows = tmp_path / "my rows.npz"
    np.savez(rows, X=data[0], y=data[1])
    run = play(learners.Perceptron(), rows, digest=True)
    certify(run, rows).save(tmp_path / "my receipt.json")
    page = Page(report(tmp_path / "my receipt.json"))
    (line,) = [piece for tag, piece in page.pieces if tag == "pre" and piece.startswith("noregret verify ")]
    words = shlex.split(line.replace("STREAM", shlex.quote(str(rows))))
    command = [sys.executable, "-m", *words]
    environment = {"PYTHONPATH": str(Path(__file__).parents[2] / "src"), "PATH": ""}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "receipt verified: " in done.stdout


def test_a_run_over_many_streams_names_some_of_them(data):
    core = learners.Perceptron()
    for start in range(0, 60, 2):
        run = play(core, (data[0][start : start + 2], data[1][start : start + 2]), digest=True)
    page = Page(report(certify(run, *((data[0][k : k + 2], data[1][k : k + 2]) for k in range(0, 60, 2)))))
    assert "stream 12 2 rows" in page.text
    assert "stream 13" not in page.text
    assert "and 18 more streams" in page.text
    assert "noregret verify 'receipt 1' STREAM..." in page.text


# -- nothing outside, nothing hostile ----------------------------------------------------------------------------------


def test_the_page_asks_for_nothing_and_runs_nothing(files):
    text = report(*sorted(files.glob("*.json")), *sorted(files.glob("*.nr")))
    page = Page(text)
    assert page.outside() == []
    assert len(text.encode()) < LARGEST
    policies = [a["content"] for tag, a in page.tags if a.get("http-equiv") == "Content-Security-Policy"]
    assert policies == [POLICY]
    assert POLICY.startswith("default-src 'none'")
    assert "url(" not in text.replace("url(#", "")
    assert "@import" not in text
    assert "mathdefault" not in text, "no formula of matplotlib's own is left unset"
    names = [a["id"] for tag, a in page.tags if "id" in a]
    assert len(names) == len(set(names)), "no id twice"
    used = {a[k][1:] for _, a in page.tags for k in ("href", "xlink:href") if (a.get(k) or "").startswith("#")}
    used |= set(re.findall(r"url\(#([^)]+)\)", text))
    assert used <= set(names)


def test_the_same_sources_give_the_same_bytes(files):
    assert report(files / "ogd.json", files / "ogd.nr") == report(files / "ogd.json", files / "ogd.nr")


def everywhere(value, replacement):
    """Every text inside a value replaced."""
    if isinstance(value, dict):
        return {f"{key}": everywhere(one, replacement) for key, one in value.items()}
    if isinstance(value, list):
        return [everywhere(one, replacement) for one in value]
    return replacement if isinstance(value, str) else value


def test_hostile_names_and_texts_stay_text(files, tmp_path):
    def poison(body):
        body["learner"]["name"] = EVIL
        body["learner"]["settings"] = {EVIL: EVIL}
        body["learner"]["labels"] = [EVIL, EVIL]
        body["reading"] = {"label": EVIL}
        for one in body["certificates"]:
            one.update(everywhere({key: one[key] for key in ("theorem", "source", "verdict", "assumptions")}, EVIL))
            one["values"] = {EVIL: 1.0}

    folder = tmp_path / "a<b>&'x"
    folder.mkdir()
    target = changed(files / "ogd.json", folder / "<img src=x>.json", poison)
    text = report(target)
    page = Page(text)
    assert page.outside() == []
    assert "<script" not in text
    assert "<img" not in text
    assert EVIL in page.text.replace("  ", " ")


def test_hostile_experts_stay_text(tmp_path):
    table = {EVIL: [0.9, 0.8], "\u202egro.live": [0.2, 0.4], "rain": [1, 1]}
    found = blend(table, outcome="rain", experts=[EVIL, "\u202egro.live"], loss="log")
    text = report(found)
    assert Page(text).outside() == []
    assert "\u202e" not in text, "nothing turns the writing around"


def test_names_with_a_dollar_are_names_not_formulas():
    table = {"$\\frac$": [0.9, 0.8], "US$ or A$": [0.2, 0.4], "rain": [1, 1]}
    found = blend(table, outcome="rain", experts=["$\\frac$", "US$ or A$"], loss="log")
    drawn = [piece for tag, piece in Page(report(found)).pieces if tag == "text"]
    assert "$\\frac$" in drawn
    assert "US$ or A$" in drawn


DAMAGES = [
    lambda body: body["figures"].pop("rounds"),
    lambda body: body["figures"].update(mistakes="many"),
    lambda body: body["figures"].update(max_norm2=-1.0),
    lambda body: body.update(certificates=3),
    lambda body: body["certificates"].append({}),
    lambda body: body["certificates"][0].update(bound="<b>"),
    lambda body: body["certificates"][0].update(assumptions=[1]),
    lambda body: body["certificates"][0].update(values=[]),
    lambda body: body.update(segments=[{}]),
    lambda body: body.update(curve=[{"rounds": 1}]),
    lambda body: body["regret"].update(domain=None),
    lambda body: body.update(selection={"how": "penalised"}),
    lambda body: body.update(learner={}),
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_receipt_that_makes_no_sense_gets_a_sentence(files, tmp_path, damage):
    target = changed(files / "ogd.json", tmp_path / "bad.json", damage)
    with pytest.raises(NoregretError) as error:
        report(target, output=tmp_path / "report.html")
    assert "bad.json" in str(error.value)
    assert not (tmp_path / "report.html").exists()


def test_a_changed_receipt_is_refused(files, tmp_path):
    for name in ("ogd.json", "blend.json", "separable.json"):
        text = (files / name).read_text()
        (tmp_path / name).write_text(text.replace('"upper"', '"uppre"', 1))
        with pytest.raises(ReceiptError, match="checksum"):
            report(tmp_path / name)


# -- with and without pictures -----------------------------------------------------------------------------------------


def test_pictures_stand_in_the_page_with_titles_and_captions(files):
    text = report(files / "ogd.json", files / "ogd.nr")
    page = Page(text)
    assert page.count("svg") == page.count("figure") == page.count("figcaption") >= 3
    assert "Regret and its bounds so far" in page.text


def test_without_matplotlib_all_else_is_there(files, monkeypatch):
    from noregret.reporting import page as pages

    monkeypatch.setattr(pages, "can_draw", lambda: False)
    page = Page(report(files / "ogd.json"))
    assert page.count("svg") == 0
    assert "pip install 'noregret[plot]'" in page.text
    assert page.count("article") == 3


def test_pictures_that_would_make_the_page_too_large_are_left_out_and_named(files, monkeypatch):
    from noregret.reporting import page as pages

    whole = report(files / "ogd.json", files / "ogd.nr")
    monkeypatch.setattr(pages, "LARGEST", len(whole.encode()) - 1000)
    text = report(files / "ogd.json", files / "ogd.nr")
    assert len(text.encode()) < len(whole.encode()) - 1000
    assert Page(text).count("svg") == Page(whole).count("svg") - 1
    assert "Left out to keep the page under 500 KB" in text


# -- formulas ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", THEOREMS)
def test_every_formula_statement_and_note_is_set(name):
    one = THEOREMS[name]
    for text in (one.formula, one.statement, one.erratum or ""):
        set_ = formula(text)
        assert not re.search(r"[_^`]", set_), set_
        Page(set_)


def test_indices_and_powers():
    assert formula("Σ_{i: n_i > 0} e^(−y⟨u,x⟩)") == ("Σ<sub>i: n<sub>i</sub> &gt; 0</sub> e<sup>−y⟨u,x⟩</sup>")
    assert formula("R_I² <b> `risk-kl`") == "R<sub>I</sub>² &lt;b&gt; <code>risk-kl</code>"
