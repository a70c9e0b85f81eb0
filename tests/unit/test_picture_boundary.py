"""Boundaries are where the score is 0, margins touch the nearest points, and a film has a frame for each moment."""

import numpy as np
import pytest

import noregret as nr
from noregret.batch import retraced
from noregret.errors import SettingError

pytest.importorskip("matplotlib")

from noregret.picture import plot
from noregret.picture.batch import step_sizes
from noregret.picture.plane import film_of
from noregret.proof.separation import labelled_rows

rng = np.random.default_rng(4)
X = np.vstack([rng.normal([1.5, 1.0], 0.5, size=(40, 2)), rng.normal([-1.2, -0.8], 0.5, size=(40, 2))])
y = np.repeat([1.0, -1.0], 40)
order = rng.permutation(80)
CLOUDS = (X[order], y[order])
MIXED = (CLOUDS[0], np.where(np.arange(80) % 9 == 0, -CLOUDS[1], CLOUDS[1]))
SQUARE = (np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]]), [1, 1, -1, -1])


def drawn(axes, name):
    """The points of the lines of a name."""
    return [line.get_xydata() for line in axes.lines if line.get_label() == name]


@pytest.mark.parametrize(
    "learner",
    [
        nr.Perceptron(),
        nr.Perceptron(bias=True),
        nr.Perceptron(bias=True, unit_norm=True),
        nr.OnlineGradientDescent(loss="logistic", radius=4.0, bias=True),
        nr.PassiveAggressiveI(),
        nr.AdaGrad(loss="hinge", radius=2.0),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_the_boundary_is_where_the_score_is_0(learner):
    run = nr.play(learner, MIXED)
    axes = plot(run, MIXED, kind="boundary")
    (ends,) = drawn(axes, "boundary")
    w, b = run.learner.weights, run.learner.bias
    scale = np.linalg.norm(w) * np.abs(ends).max() + abs(b)
    assert np.abs(ends @ w + b).max() <= 1e-8 * scale
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    for x1, x2 in ends:
        assert not (left < x1 < right and bottom < x2 < top), "from one side of the frame to the other"


def test_hollow_points_are_those_on_the_wrong_side():
    run = nr.play(nr.Perceptron(bias=True), MIXED)
    axes = plot(run, MIXED, kind="boundary")
    hollow = sum(len(line.get_xdata()) for line in axes.lines if line.get_markerfacecolor() == "white")
    scores = MIXED[0] @ run.learner.weights + run.learner.bias
    assert hollow == int((MIXED[1] * scores <= 0.0).sum()) > 0
    points = sum(len(line.get_xdata()) for line in axes.lines if line.get_label() in ("+1", "-1"))
    assert points == 80 and not drawn(axes, "margin")


def test_the_margin_touches_the_nearest_points():
    found = nr.separate(CLOUDS, bias=True)
    axes = plot(found, CLOUDS)
    assert found.answer == "separable" and len(drawn(axes, "boundary")) == 1
    w, b = found.coefficients, found.bias
    for ends in drawn(axes, "margin"):
        distances = (CLOUDS[0] @ w + b) / np.linalg.norm(w)
        shift = (ends[0] @ w + b) / np.linalg.norm(w)
        assert np.isclose(abs(shift), np.abs(distances).min(), rtol=1e-6)
    assert len(drawn(axes, "margin")) == 2
    (ringed,) = drawn(axes, "proof")
    assert len(ringed) == len(found.rows) and "limit the margin" in axes.get_title(loc="right")


def test_where_nothing_separates_the_proof_is_ringed():
    found = nr.separate(SQUARE, bias=True)
    axes = plot(found, SQUARE)
    assert not drawn(axes, "boundary") and len(drawn(axes, "proof")[0]) == 4
    assert axes.get_title(loc="right") == "no line separates the classes: the ringed rows prove it"


def test_a_kernel_has_a_curved_boundary_where_its_score_is_0():
    angle, ring = rng.uniform(0.0, 6.3, 120), np.arange(120) % 2
    rows = (np.column_stack([np.cos(angle), np.sin(angle)]) * np.where(ring, 0.6, 1.7)[:, None], np.where(ring, 1, -1))
    run = nr.play(nr.KernelPerceptron(kernel="rbf", gamma=1.0), rows)
    axes = plot(run, rows, kind="boundary")
    assert not drawn(axes, "boundary")
    curve = np.vstack([path.vertices for path in axes.collections[0].get_paths()])
    from noregret.stream.block import Dense

    scores = run.learner.scores(Dense(np.ascontiguousarray(curve)))
    assert len(curve) > 50 and np.abs(scores).max() < 0.05 * np.abs(run.learner.scores(Dense(rows[0]))).max()


def test_a_score_that_is_no_plane_may_still_be_0_on_a_line():
    run = nr.play(nr.SecondOrderPerceptron(), MIXED)
    axes = plot(run, MIXED, kind="boundary")
    curve = np.vstack([path.vertices for path in axes.collections[0].get_paths()])
    w = run.learner.weights
    assert np.abs(curve @ w).max() < 0.02 * np.abs(MIXED[0] @ w).max()


def test_a_file_that_counts_features_from_1_and_one_that_names_them(tmp_path):
    (tmp_path / "rows.svm").write_text(
        "".join(f"{label:+.0f} 1:{a} 2:{b}\n" for (a, b), label in zip(*CLOUDS, strict=True))
    )
    (tmp_path / "rows.csv").write_text(
        "height,weight,label\n" + "".join(f"{a},{b},{label:.0f}\n" for (a, b), label in zip(*CLOUDS, strict=True))
    )
    found = {}
    for name in ("rows.svm", "rows.csv"):
        run = nr.play(nr.Perceptron(), nr.read(tmp_path / name))
        found[name] = plot(run, tmp_path / name, kind="boundary")
    assert found["rows.svm"].get_xlabel() == "feature 1" and found["rows.csv"].get_xlabel() == "height"
    ends = [drawn(axes, "boundary")[0] for axes in found.values()]
    assert np.allclose(ends[0], ends[1])


@pytest.mark.parametrize(
    ("learner", "rows", "sentence"),
    [
        (nr.Perceptron(), (np.eye(3), [1, -1, 1]), "rows with two features; these have 3"),
        (nr.MulticlassPerceptron(), (np.eye(2).repeat(2, axis=0), list("abca")), "needs exactly two classes"),
        (nr.OnlineGradientDescentRegressor(), (np.eye(2), [0.5, 2.0]), "needs exactly two classes"),
    ],
)
def test_what_has_no_boundary(learner, rows, sentence):
    with pytest.raises(SettingError, match=sentence):
        plot(nr.play(learner, rows), rows, kind="boundary")


# -- on the way --------------------------------------------------------------------------------------------------------


def test_a_small_picture_for_each_update():
    run = nr.play(nr.Perceptron(bias=True), MIXED)
    panels = [axes for axes in plot(run, MIXED, kind="updates").flat if axes.get_visible()]
    assert 2 <= len(panels) == min(run.updates + 1, 12)
    assert panels[0].get_title() == "start" and not drawn(panels[0], "boundary")
    assert panels[-1].get_title().startswith(f"update {run.updates}")
    (ends,) = drawn(panels[-1], "boundary")
    w, b = run.learner.weights, run.learner.bias
    assert np.abs(ends @ w + b).max() <= 1e-8 * np.linalg.norm(w) * np.abs(ends).max()
    assert all(len(drawn(axes, "moved for")[0]) == 1 for axes in panels[1:]), "online, one row moves it"


def test_each_moment_is_the_learner_as_it_was():
    run = nr.play(nr.Perceptron(bias=True), MIXED, mistakes=True)
    film = film_of("perceptron", run, (MIXED,), 1000)
    assert [moment.rounds for moment in film.moments] == [0, *(run.mistake_rounds + 1).tolist()]
    for moment in film.moments[1:]:
        short = nr.play(nr.Perceptron(bias=True), (MIXED[0][: moment.rounds], MIXED[1][: moment.rounds])).learner
        assert np.allclose(moment.score(X), X @ short.weights + short.bias)


def test_a_film_has_a_frame_for_each_moment(tmp_path):
    from PIL import Image

    run = nr.play(nr.Perceptron(bias=True), MIXED)
    batch = nr.BatchPerceptron().fit(*CLOUDS)
    assert plot(run, MIXED, kind="updates", to=tmp_path / "one.gif") is None
    with Image.open(tmp_path / "one.gif") as film:
        assert film.format == "GIF" and film.n_frames == min(run.updates + 1, 48)
        size = film.size
    online = nr.play(nr.Perceptron(bias=True), CLOUDS)
    plot({"online": online, "batch": batch}, CLOUDS, kind="updates", to=tmp_path / "two.gif")
    with Image.open(tmp_path / "two.gif") as film:
        assert film.n_frames == 1 + max(online.updates, batch.n_iter_) and film.size[0] == 2 * size[0]


def test_online_against_batch_in_one_frame_and_row_by_row():
    both = {"online": nr.play(nr.Perceptron(bias=True), CLOUDS), "batch": nr.BatchPerceptron().fit(*CLOUDS)}
    axes = plot(both, CLOUDS)
    assert len(drawn(axes, "boundary")) == 2
    assert {"— online", "— batch"} <= {text.get_text() for text in axes.texts}
    grid = plot(both, CLOUDS, kind="updates")
    assert len(grid) == 2 and grid[0, 0].get_ylabel().startswith("online")


def test_a_long_run_is_looked_at_now_and_then():
    rows = rng.normal(size=(6000, 2))
    many = (rows, np.sign(rows[:, 0] + rng.normal(size=6000)))
    film = film_of("perceptron", nr.play(nr.Perceptron(), many), (many,), 12)
    assert len(film.moments) == 12 and film.moments[-1].rounds == 6000


# -- the batch perceptron ----------------------------------------------------------------------------------------------


def test_the_steps_of_a_batch_perceptron_lead_to_its_weights():
    for update in ("sum", "average", "normalised"):
        model = nr.BatchPerceptron(update=update, start=[-1.0, 0.4]).fit(*MIXED)
        rounds = labelled_rows(MIXED, reading={}, bias=True).rounds
        steps = list(retraced(rounds, model.run_))
        assert len(steps) == model.n_iter_ and np.array_equal(steps[-1][1], model.run_.theta)
        assert [len(rows) for rows, _ in steps] == model.run_.misclassified[: len(steps)].tolist()


def test_j_hard_and_j_soft():
    model = nr.BatchPerceptron(start=[-1.0, -0.5]).fit(*CLOUDS)
    axes = plot(model)
    found = {line.get_label(): line.get_ydata() for line in axes.lines}
    assert np.array_equal(found["J_hard"], model.run_.hard) and np.array_equal(found["J_soft"], model.run_.soft)
    assert found["J_hard"][-1] == found["J_soft"][-1] == 0.0 and axes.get_xlabel() == "step k"


def test_an_oscillation_is_shaded_where_it_begins_again():
    model = nr.BatchPerceptron(start=[1.0, 0.3]).fit(*SQUARE)
    axes = plot(model)
    (shade,) = axes.patches
    assert shade.get_x() == model.run_.returned_to and shade.get_x() + shade.get_width() == model.n_iter_
    assert any("repeats every 2 steps" in text.get_text() for text in axes.texts)


def test_step_sizes_are_compared_from_elsewhere_than_0():
    from_0 = {f"step {size}": nr.BatchPerceptron(step=size).fit(*CLOUDS) for size in (1e-6, 1.0, 1e6)}
    assert len({tuple(model.run_.misclassified) for model in from_0.values()}) == 1, "THEORY: they only scale"
    with pytest.raises(SettingError, match="from 0 every step size makes the same mistakes"):
        plot(from_0)
    runs = step_sizes(labelled_rows(CLOUDS, reading={}, bias=True).rounds)
    steps = [run.iterations for run in runs.values()]
    assert list(runs) == ["step 0.01", "step 0.1", "step 1"] and steps == sorted(steps, reverse=True)
    assert all(run.start.any() and run.misclassified[0] > 40 for run in runs.values())
    axes = plot(runs)
    assert [line.get_label() for line in axes.lines] == list(runs)
    assert {text.get_text() for text in axes.texts} == {
        f"{name}: 0 after {run.iterations}" for name, run in runs.items()
    }
    assert axes.get_ylabel() == "rows misclassified, |M_k|"


def test_rows_that_were_not_fitted():
    model = nr.BatchPerceptron(bias=False).fit(*CLOUDS)
    with pytest.raises(SettingError, match="pass the stream"):
        plot(model, kind="boundary")
    with pytest.raises(SettingError, match="these have 3"):
        plot(model, (np.eye(3), [1, -1, 1]), kind="boundary")
