"""Selecting one predictor of a run: the choice against its definition, the model file, the receipt, what is refused."""

import copy
import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import noregret as nr
from noregret.errors import ReceiptError, SettingError
from noregret.learner import LEARNERS, OnlineGradientDescent, Perceptron
from noregret.proof.facts.candidates import Candidate, Regeneration, starts, starts_before, tails
from noregret.proof.receipt import Receipt
from noregret.rounds import Rounds
from oracle.selection import errors, penalised, perceptron_path

WAYS = ("penalised", "holdout", "gibbs", "last", "average", "voted")


def stream(rounds=80, features=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, features))
    return X, np.where(X @ rng.normal(size=features) + 0.5 * rng.normal(size=rounds) > 0, 1, -1)


def logistic():
    return nr.OnlineGradientDescent(loss="logistic", radius=2.0, bias=True, unit_norm=True)


@st.composite
def small(draw):
    rounds, features = draw(st.integers(1, 25)), draw(st.integers(1, 3))
    numbers = st.lists(st.integers(-3, 3), min_size=features, max_size=features)
    X = np.array([draw(numbers) for _ in range(rounds)], dtype=float)
    return X, np.array(draw(st.lists(st.sampled_from([-1, 1]), min_size=rounds, max_size=rounds)))


# -- the choice ------------------------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(small())
def test_the_penalised_choice_is_that_of_the_definition(rows):
    X, y = rows
    chosen = nr.select(Perceptron(), (X, y), confidence=0.9)
    path = perceptron_path(X, y)
    i, wrong, _ = penalised(path, X, y, 1.0 - 0.9)
    assert (chosen.round, chosen.sampled.errors) == (i, wrong)
    assert chosen.learner.weights.tolist() == [float(part) for part in path[i - 1]]
    mistakes = sum(errors(w, [x], [label]) for w, x, label in zip(path, X, y, strict=True))
    assert chosen.sampled.mistakes == chosen.sampled.own == mistakes


@settings(max_examples=60, deadline=None)
@given(small(), st.data())
def test_the_choice_by_rows_held_out_is_that_of_the_definition(rows, data):
    """Littlestone 1989: of the predictors before the last m rounds the one with the fewest errors on these."""
    X, y = rows
    T = len(y)
    asked = data.draw(st.none() | st.integers(1, max(T - 1, 1)))
    chosen = nr.select(Perceptron(), (X, y), how="holdout", holdout=asked)
    m = max(1, T // 5) if asked is None else asked
    path = perceptron_path(X, y)[: T - m + 1]
    wrong = [errors(w, X[T - m :], y[T - m :]) for w in path]
    last = T - m - wrong[::-1].index(min(wrong))
    first = next(i for i in range(last, -1, -1) if i == 0 or path[i - 1] != path[i])  # where its weights came to be
    assert (chosen.round, chosen.sampled.errors, chosen.sampled.tail) == (first + 1, min(wrong), m)
    assert chosen.learner.weights.tolist() == [float(part) for part in path[first]]
    assert chosen.sampled.distinct == 1 + sum(a != b for a, b in pairwise(path))
    own = sum(errors(w, [x], [label]) for w, x, label in zip(path[: T - m], X, y, strict=False))
    assert (chosen.sampled.own, chosen.sampled.every) == (own, True)


def test_a_grid_of_predictors_has_the_first_and_the_last_before_the_rows_held_out():
    rows = stream(2000)
    chosen = nr.select(Perceptron(), rows, how="holdout", candidates=7, holdout=500)
    assert (chosen.sampled.held, chosen.sampled.candidates, chosen.sampled.every) == (500, 7, False)
    assert chosen.sampled.distinct <= 8
    assert {one.theorem for one in chosen.certificates if one.verdict.name == "UNMET"} == {"risk-littlestone"}
    assert starts_before(1500, "holdout", 7)[0].tolist()[0] == 0
    assert starts_before(1500, "holdout", 7)[0].tolist()[-1] == 1500
    # two predictors are left of a grid of one: the start, and the one that has learned from all that is not held out
    alone = nr.select(Perceptron(), rows, how="holdout", candidates=1)
    assert alone.sampled.distinct == 2 and alone.round == 1601
    assert np.array_equal(
        alone.learner.weights, nr.play(Perceptron(), (rows[0][:1600], rows[1][:1600])).learner.weights
    )


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"how": "penalised", "holdout": 3}, "holdout goes with how='holdout', not with penalised"),
        ({"how": "holdout", "holdout": 80}, "holdout must leave a round to learn from: 80 were played, got 80"),
        ({"how": "holdout", "holdout": 0}, "holdout must be a whole number of at least 1, got 0"),
        ({"how": "holdout", "holdout": 2.5}, "holdout must be a whole number of at least 1, got 2.5"),
        ({"how": "holdout", "holdout": True}, "holdout must be a whole number of at least 1, got True"),
    ],
)
def test_what_is_held_out_leaves_rows_to_learn_from(more, sentence):
    with pytest.raises(SettingError, match=sentence):
        nr.select(Perceptron(), stream(), **more)


@pytest.mark.parametrize("name", ["perceptron", "pa1", "ogd", "ogd-strong", "adagrad", "ftrl", "coin"])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("candidates", ["all", 7])
def test_tails_are_those_of_a_double_loop(name, bias, sparse, candidates):
    X, y = stream()
    rows = (scipy.sparse.csr_matrix(X), y) if sparse else (X, y)
    core = LEARNERS[name](bias=bias, unit_norm=True)
    unit = X / np.linalg.norm(X, axis=1)[:, None]
    chosen = nr.select(core, rows, candidates=candidates)
    twin, risks = LEARNERS[name](bias=bias, unit_norm=True), {}
    T = len(y)
    begins = set(starts(T, "penalised", candidates).tolist())
    for t in range(T):
        if t in begins:
            scores = [float(unit[s] @ twin.weights + twin.bias) if t else 0.0 for s in range(t, T)]
            wrong = sum(y[s] * score <= 1e-13 for s, score in zip(range(t, T), scores, strict=True))
            K = len(begins)
            risks[t + 1] = (wrong / (T - t) + np.sqrt(np.log(K * (K + 1) / 0.05) / (2 * (T - t))), wrong)
        nr.play(twin, (X[t : t + 1], y[t : t + 1]))
    best = min(risks, key=lambda i: (round(risks[i][0], 12), i))
    assert (chosen.round, chosen.sampled.errors) == (best, risks[best][1])


def test_candidates_in_batches_are_those_one_by_one(monkeypatch):
    X, y = stream(300)
    rounds = Rounds.of(X, y)
    rng = np.random.default_rng(1)
    begins = np.arange(0, 300, 3)
    some = [Candidate(a, b, rng.normal(size=3)) for a, b in zip(begins, [*begins[1:], 300], strict=True)]
    whole = tails(rounds, some)
    monkeypatch.setattr("noregret.proof.facts.candidates.ROWS", 7)
    monkeypatch.setattr("noregret.proof.facts.candidates.TOGETHER", 5)
    parts = tails(rounds, some)
    assert (parts.errors == whole.errors).all() and (parts.own == whole.own).all()
    for one in some:
        for i in range(one.start, one.stop):
            assert whole.errors[i] == sum(y[t] * (X[t] @ one.w) <= 0 for t in range(i, 300))
            assert whole.own[i] == (y[i] * (X[i] @ one.w) <= 0)


def test_a_score_within_rounding_of_0_counts_as_an_error():
    w = np.array([1e16, 1.0, -1e16])
    found = tails(Rounds.of(np.ones((1, 3)), [1.0]), [Candidate(0, 1, w)])
    assert found.errors.tolist() == [1]


@pytest.mark.parametrize("rounds", [1, 2, 10, 4096, 4097, 10**6])
def test_which_rounds_are_candidates_depends_on_their_number_alone(rounds):
    for how in WAYS:
        found = starts(rounds, how, None)
        assert found[0] == 0 and (np.diff(found) > 0).all() and found[-1] < rounds
        assert len(found) == (min(rounds, 256) if how == "voted" or rounds > 4096 else rounds)


@settings(max_examples=40, deadline=None)
@given(small(), st.integers(0, 2**40))
def test_the_drawn_predictor_is_the_one_before_the_round_that_the_seed_gives(rows, seed):
    X, y = rows
    chosen = nr.select(Perceptron(), (X, y), how="gibbs", draw=seed)
    path, T = perceptron_path(X, y), len(y)
    i = int(np.random.default_rng(seed).integers(T))
    assert (chosen.round, chosen.sampled.draw, chosen.sampled.candidates) == (i + 1, seed, T)
    assert chosen.learner.weights.tolist() == [float(part) for part in path[i]]
    assert (chosen.sampled.errors, chosen.sampled.tail) == (errors(path[i], X[i:], y[i:]), T - i)
    assert chosen.sampled.mistakes == sum(errors(w, [x], [label]) for w, x, label in zip(path, X, y, strict=True))


def test_every_round_is_drawn_about_equally_often_and_another_seed_is_not_checkable():
    rows = stream(10)
    drawn = [nr.select(Perceptron(), rows, how="gibbs", draw=seed) for seed in range(400)]
    counts = np.bincount([one.round for one in drawn], minlength=11)[1:]
    assert counts.min() > 15 and counts.max() < 70
    needs = {one.theorem: {need.statement: need.holds for need in one.assumptions} for one in drawn[1].certificates}
    assert needs["risk-drawn"]["the seed of the draw was fixed beforehand"] is None
    needs = {one.theorem: {need.statement: need.holds for need in one.assumptions} for one in drawn[0].certificates}
    assert needs["risk-drawn"]["the seed of the draw was fixed beforehand"] is True
    assert set(needs) == {"risk-drawn", "risk-gibbs", "risk-gibbs-few"}
    assert nr.select(Perceptron(), rows, how="gibbs").to_dict() == drawn[0].to_dict()
    long = nr.select(Perceptron(), stream(5000), how="gibbs", candidates="all", draw=1)
    assert long.sampled.candidates == 5000 and long.bound == long.certificates[0].bound


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"how": "last", "draw": 3}, "draw goes with how='gibbs', not with last"),
        ({"how": "gibbs", "draw": -1}, "draw must be a whole number of at least 0, got -1"),
        ({"how": "gibbs", "draw": 1.5}, "draw must be a whole number of at least 0, got 1.5"),
        ({"how": "gibbs", "draw": True}, "draw must be a whole number of at least 0, got True"),
        ({"how": "gibbs", "candidates": 5}, "candidates does not go with how='gibbs': the predictor is drawn from"),
    ],
)
def test_a_draw_has_a_seed_and_all_rounds(more, sentence):
    with pytest.raises(SettingError, match=sentence):
        nr.select(Perceptron(), stream(), **more)


def test_the_average_is_that_of_the_weights_before_each_round():
    X, y = stream()
    path = np.array([[float(part) for part in w] for w in perceptron_path(X, y)])
    chosen = nr.select(Perceptron(), (X, y), how="average")
    assert chosen.learner.weights == pytest.approx(path.mean(axis=0), rel=1e-12)


def test_the_vote_is_that_of_the_predictors():
    X, y = stream()
    path = np.array([[float(part) for part in w] for w in perceptron_path(X, y)])
    chosen = nr.select(Perceptron(), (X, y), how="voted")
    assert chosen.scores(X) == pytest.approx(np.sign(X @ path.T).mean(axis=1))
    assert len(chosen.learner.votes) == len(np.unique(path, axis=0)) or len(chosen.learner.votes) <= len(path)


def test_the_last_is_the_run_s_own():
    rows = stream()
    run = nr.play(nr.Perceptron(bias=True), rows)
    chosen = nr.select(run, rows, how="last")
    assert (chosen.scores(rows[0]) == run.learner.scores(nr.read(rows).blocks().__next__().rows)).all()
    assert chosen.bound is None


def test_a_run_is_regenerated_bit_for_bit():
    X, y = stream(500, 4)
    core = OnlineGradientDescent(radius=2.0)
    run = nr.play(core, (X, y), mistakes=True)
    again = Regeneration(core, Rounds.of(X, y), starts(500, "penalised", 9))
    last = list(again)[-1]
    twin = OnlineGradientDescent(radius=2.0)
    nr.play(twin, (X[: last.start], y[: last.start]))
    assert (last.w == twin.weights).all()
    assert again.mistakes == run.mistakes


def test_rows_of_weight_0_are_no_rounds_and_weights_count_a_round_once():
    X, y = stream()
    weights = np.tile([0.0, 1.0, 2.5, 1.0], 20)
    run = nr.play(Perceptron(), nr.read((X, y, weights)))
    chosen = nr.select(run, (X, y, weights))
    assert chosen.sampled.rounds == 60


# -- the model file --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("make", [nr.Perceptron, logistic])
def test_a_selected_model_is_saved_and_predicts_the_same(tmp_path, how, make):
    X, y = stream()
    chosen = nr.select(make(), (X, y), how=how)
    chosen.save(tmp_path / "m.nr")
    again = nr.load(tmp_path / "m.nr")
    assert (again.decision_function(X) == chosen.scores(X)).all()
    assert again.core.selection == json.loads(json.dumps(chosen.to_dict()))
    assert again.predict_one(X[0]) == again.predict(X[:1])[0]
    again.save(tmp_path / "n.nr")
    assert (tmp_path / "n.nr").exists()
    assert (nr.load(tmp_path / "n.nr").decision_function(X) == chosen.scores(X)).all()


def test_a_selected_model_does_not_go_on(tmp_path):
    X, y = stream()
    nr.select(nr.Perceptron(), (X, y)).save(tmp_path / "m.nr")
    model = nr.load(tmp_path / "m.nr")
    for more in (
        lambda: nr.play(model, (X, y)),
        lambda: model.partial_fit(X, y),
        lambda: model.learn_one(X[0], 1),
        lambda: nr.select(model, (X, y)),
        lambda: model.core.reset(),
    ):
        with pytest.raises(SettingError, match="a selected model predicts and does not go on learning"):
            more()
    assert (model.fit(X, y).core.learns, model.rounds_) == (True, 5 * 80)


# -- the receipt -----------------------------------------------------------------------------------------------------


def receipt_of(how="penalised", learner=nr.Perceptron, **more):
    rows = stream()
    run = nr.play(learner(), rows)
    return nr.certify(run, rows, selection=nr.select(run, rows, how=how, **more)), rows


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("candidates", [None, 5])
@pytest.mark.parametrize("learner", [nr.Perceptron, logistic])
def test_a_receipt_with_a_selection_stands(tmp_path, how, candidates, learner):
    receipt, rows = receipt_of(how, learner, candidates="all" if how == "gibbs" else candidates)
    receipt.save(tmp_path / "r.json")
    said = [what for what, _, _ in nr.verify(tmp_path / "r.json", rows).checks]
    assert any(what.startswith("risk-gibbs: the bound") for what in said)
    assert Receipt.load(tmp_path / "r.json").selection == receipt.selection


def _binomial(said):
    return said["certificates"][0]


def _lower_bound(said):
    _binomial(said)["bound"] *= 0.999


def _fewer_errors(said):
    said["errors"] -= 1
    said["empirical"] = said["errors"] / said["tail"]
    _binomial(said)["values"]["errors"] -= 1.0


def _another_round(said):
    said["round"] += 1
    said["tail"] -= 1


def _fewer_candidates(said):
    said["candidates"], said["every_round"] = 1, False


def _checked(said):
    _binomial(said)["assumptions"][0] |= {"checked": True, "holds": True}


FORGERIES = [
    (_lower_bound, "risk-binomial: the bound"),
    (_fewer_errors, "errors on the rounds not seen"),
    (_another_round, "the selection: "),
    (_fewer_candidates, "the selection: "),
    (_checked, "risk-binomial: the rows are independent draws"),
    (lambda said: said.update(mistakes=said["mistakes"] - 1), "mistakes of the run"),
    (lambda said: said.update(confidence=0.5), "the selection|risk-"),
    (lambda said: said.update(confidence=1.5), "the confidence"),
    (lambda said: said.update(how="best"), "the selection: how"),
    (lambda said: said["certificates"].pop(), "the theorems"),
    (lambda said: _binomial(said).update(verdict="vacuous"), "risk-binomial: the verdict"),
    (lambda said: said["certificates"][3].update(bound=0.5), "risk-printed: the bound"),
    (lambda said: said.update(more=1), "what is said of it"),
    (lambda said: said.update(round=None), "the selection|damaged"),
]


@pytest.mark.parametrize(("forge", "sentence"), FORGERIES)
def test_a_forged_selection_is_rejected(forge, sentence):
    receipt, rows = receipt_of()
    body = copy.deepcopy(vars(receipt))
    forge(body["selection"])
    with pytest.raises(ReceiptError, match=sentence) as said:
        nr.verify(Receipt(**body), rows)
    assert said.value.failed


HELD_OUT = [
    (lambda said: said.update(held_out=said["held_out"] - 1, tail=said["tail"] - 1), "the selection: "),
    (lambda said: said.update(held_out=None), "the selection: the rounds held out"),
    (lambda said: said.update(held_out=200), "the selection|damaged"),
    (lambda said: said.update(distinct=said["distinct"] - 1), "the predictors before the rounds held out"),
    (_fewer_errors, "errors on the rounds not seen"),
    (lambda said: _binomial(said).update(bound=0.9 * _binomial(said)["bound"]), "risk-holdout: the bound"),
    (lambda said: said["certificates"][1].update(bound=0.5), "risk-littlestone: the bound"),
]


@pytest.mark.parametrize(("forge", "sentence"), HELD_OUT)
def test_a_forged_choice_by_rows_held_out_is_rejected(forge, sentence):
    receipt, rows = receipt_of("holdout")
    body = copy.deepcopy(vars(receipt))
    forge(body["selection"])
    with pytest.raises(ReceiptError, match=sentence) as said:
        nr.verify(Receipt(**body), rows)
    assert said.value.failed


DRAWN = [
    (lambda said: said.update(draw=1), "the selection: "),
    (lambda said: said.update(draw=None), "the selection: the seed of the draw"),
    (lambda said: said.update(draw=-1), "the selection: the seed of the draw"),
    (lambda said: said.update(candidates=5, every_round=False), "the selection: the number of candidates"),
    (_another_round, "the selection: the chosen round"),
    (_fewer_errors, "errors on the rounds not seen"),
    (lambda said: _binomial(said).update(bound=0.9 * _binomial(said)["bound"]), "risk-drawn: the bound"),
    (lambda said: said["certificates"][2].update(bound=0.01), "risk-gibbs-few: the bound"),
]


@pytest.mark.parametrize(("forge", "sentence"), DRAWN)
def test_a_forged_draw_is_rejected(forge, sentence):
    receipt, rows = receipt_of("gibbs")
    body = copy.deepcopy(vars(receipt))
    forge(body["selection"])
    with pytest.raises(ReceiptError, match=sentence) as said:
        nr.verify(Receipt(**body), rows)
    assert said.value.failed


def test_the_comparator_of_the_corollaries_is_in_the_receipt():
    receipt, rows = receipt_of("penalised")
    nr.verify(receipt, rows)
    longer = {**receipt.points, "u_risk": 3.0 * receipt.points["u_risk"]}
    without = {key: point for key, point in receipt.points.items() if key != "u_risk"}
    for points, sentence in ((longer, "risk-hinge: the bound"), (without, "risk-hinge: a comparator v is given")):
        with pytest.raises(ReceiptError, match=sentence):
            nr.verify(replace(receipt, points=points), rows)


@pytest.mark.parametrize("how", WAYS)
def test_no_bound_can_be_lower_by_one_unit_of_the_last_place(how):
    """There is no tolerance: what is claimed is what is found."""
    receipt, rows = receipt_of(how, logistic)
    for place, part in enumerate(receipt.selection["certificates"]):
        above = {key: part["values"][key] for key in ("losses", "reach") if key in part["values"]}
        for key, value in {"bound": part["bound"], **above}.items():
            body = copy.deepcopy(vars(receipt))
            said = body["selection"]["certificates"][place]
            (said if key == "bound" else said["values"])[key] = float(np.nextafter(value, 0.0))
            with pytest.raises(ReceiptError, match=f"{part['theorem']}: (the bound|{key})"):
                nr.verify(Receipt(**body), rows)


def test_a_selection_of_another_run_is_refused():
    rows, other = stream(), stream(60)
    with pytest.raises(SettingError, match="certify: the selection is of another run"):
        nr.certify(nr.play(nr.Perceptron(), rows), rows, selection=nr.select(nr.Perceptron(), other))


# -- what can go wrong -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("labels", [[1], [-1]])
def test_one_round(how, labels):
    chosen = nr.select(Perceptron(), ([[1.0]], labels), how=how)
    assert chosen.bound is None
    assert {one.verdict.name for one in chosen.certificates} <= {"VACUOUS", "UNMET"}


def test_nothing_but_mistakes():
    X, y = np.ones((50, 1)), np.tile([1, -1], 25)
    chosen = nr.select(Perceptron(), (X, y))
    assert chosen.sampled.mistakes == 50
    assert chosen.bound is None or chosen.bound > 0.5
    assert all(one.bound >= 1.0 for one in chosen.certificates if one.theorem == "risk-gibbs")


@pytest.mark.parametrize("confidence", [0.0, 1.0, float("nan"), -1.0, 2.0, "high"])
def test_confidence_lies_between_0_and_1(confidence):
    with pytest.raises(SettingError, match="select: confidence must lie between 0 and 1, got"):
        nr.select(Perceptron(), stream(), confidence=confidence)


@pytest.mark.parametrize("confidence", [1e-9, 0.5, 1.0 - 1e-15])
def test_any_confidence_between_gives_bounds(confidence):
    chosen = nr.select(Perceptron(), stream(), confidence=confidence)
    assert all(one.bound is not None and one.bound > 0.0 for one in chosen.certificates)


def test_more_confidence_costs_more():
    found = [nr.select(Perceptron(), stream(400), confidence=c).bound for c in (0.5, 0.9, 0.99)]
    assert found == sorted(found)


@pytest.mark.parametrize("candidates", [0, -1, 2.5, "some", True])
def test_candidates_are_counted(candidates):
    with pytest.raises(SettingError, match="select: candidates must be a whole number of at least 1, or all, got"):
        nr.select(Perceptron(), stream(), candidates=candidates)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: OnlineGradientDescent(loss="squared"), "need a loss in \\[0, 1\\]: labels that are right or wrong"),
        (lambda: Perceptron(scale="max"), "with scale max a row looks different"),
        (lambda: 3, "the first argument must be a run or a learner, got int"),
    ],
)
def test_learners_that_cannot_be_selected_from(make, sentence):
    with pytest.raises(SettingError, match=f"select: .*{sentence}"):
        nr.select(make(), stream())


def test_how_is_named_and_a_stream_is_given():
    with pytest.raises(
        SettingError, match="select must be one of penalised, holdout, gibbs, last, average, voted, got 'best'"
    ):
        nr.select(Perceptron(), stream(), how="best")
    with pytest.raises(SettingError, match="select: pass the stream"):
        nr.select(Perceptron())
    with pytest.raises(SettingError, match="select: no rounds were played"):
        nr.select(Perceptron(), (np.ones((2, 2)), [1, -1], np.zeros(2)))


def test_rows_seen_twice_promise_nothing():
    rows = stream()
    again = [nr.play(Perceptron(), rows, passes=2), nr.play(Perceptron(), rows)]
    nr.play(again[1].learner, rows)
    twice = [nr.select(again[0], rows), nr.select(nr.Run.of(again[1].learner), rows, rows)]
    for chosen in twice:
        assert {one.verdict.name for one in chosen.certificates} == {"UNMET"}


def test_two_streams_are_one_sample():
    X, y = stream(100)
    run = nr.play(Perceptron(), (X[:50], y[:50]))
    both = nr.play(run.learner, (X[50:], y[50:]))
    halves = nr.select(both, (X[:50], y[:50]), (X[50:], y[50:]))
    whole = nr.select(Perceptron(), (X, y))
    assert halves.to_dict() == whole.to_dict()
    with pytest.raises(SettingError, match="select: the learner has continued since this run ended"):
        nr.select(run, (X[:50], y[:50]))


def test_another_stream_is_told_apart():
    rows = stream()
    with pytest.raises(nr.InputError, match="is not the stream that the run was trained on"):
        nr.select(nr.play(Perceptron(), rows), (rows[0], -rows[1]))


def test_the_average_has_a_bound_only_where_the_loss_is_bounded_beforehand():
    rows = stream(400)
    for unit, loss, bounded in ((True, "hinge", True), (False, "hinge", False), (True, "perceptron", False)):
        chosen = nr.select(nr.OnlineGradientDescent(radius=1.0, unit_norm=unit, loss=loss), rows, how="average")
        assert (next(one for one in chosen.certificates if one.theorem == "risk-average").bound is not None) is bounded
