"""A setting is declared once: constructor, estimator, option, model file and error sentences follow from it."""

from __future__ import annotations

import inspect

import pytest
import typer

import noregret as nr
from noregret import model
from noregret.cli.main import program
from noregret.errors import SettingError, on_command_line, spelled
from noregret.learner import LEARNERS, Core, settings, settings_of
from noregret.loss import LOSSES, parse
from noregret.proof.theorems.shared import PERCEPTRONS
from noregret.rate import RATES
from noregret.setting import as_dict, between, checked_settings, declares, fields, one_of, positive, setting, whole
from noregret.sklearn import ESTIMATORS
from oracle.registry import MANY

NEEDED = {"coin": {"unit_norm": True}}  # what a learner cannot do without
EVERY = [(name, key) for name in LEARNERS for key in settings_of(name)]
OTHER = {  # a value other than the default, for each setting
    "members": "labels", "task": "regression", "smoothing": 2.0, "temper": "none", "window": 50, "neighbours": 3,
    "rate": "constant:0.5", "start": [0.25, 0.5], "loss": "absolute", "radius": 2.0, "domain": "box", "l1": 0.5,
    "l2": 0.25, "sigma": 0.5, "ridge": 2.0, "kernel": "poly", "degree": 3, "coef0": 2.0, "gamma": 0.5, "budget": 7,
    "forget": "oldest", "seed": 3, "update": "one-vs-rest", "aggressiveness": 0.5, "beta": 1.0, "gradient_bound": 50.0,
    "forgetting": 0.1, "rule": "mean", "wealth": 2.0, "centre": True, "play": "newton", "walk": 0.25, "tie": "+1",
    "bias": True, "unit_norm": True, "scale": "max", "expand": "bins:4", "lags": 2, "cover": 0.75, "calibrate": True,
}  # fmt: skip
BESIDE = {  # what makes that value possible
    "domain": {"rate": "constant:0.5"}, "l1": {"domain": "box", "rate": "constant:0.5"},
    "degree": {"kernel": "poly"}, "coef0": {"kernel": "poly"}, "gamma": {"kernel": "poly"},
    "forget": {"budget": 7}, "seed": {"budget": 7, "forget": "random"},
}  # fmt: skip


def given(name, key):
    """A learner's settings with another value for one of them."""
    declared = fields(LEARNERS[name].declared)[key]
    value = 0.5 if key == "rate" and declared.kind is float else OTHER.get(key)
    value = 1 - declared.default if key == "order" else value
    beside = BESIDE.get(key, {}) if key != "l1" or name == "ogd" else {}
    return {**NEEDED.get(name, {}), **beside, key: value}


def option(key):
    command = typer.main.get_command(program("learn")).commands["learn"]
    return next(parameter for parameter in command.params if parameter.name == key)


@pytest.mark.parametrize(("name", "key"), EVERY)
def test_a_setting_reaches_constructor_estimator_option_and_model_file(name, key, tmp_path):
    declared = settings_of(name)[key]
    parameter = inspect.signature(LEARNERS[name]).parameters[key]
    assert (parameter.kind, parameter.default) == (parameter.KEYWORD_ONLY, declared.default)
    for regression in (False, True):
        shell = ESTIMATORS.get((name, regression))
        if shell is not None:
            assert (key in shell().get_params()) is not (regression and key in ("tie", "calibrate"))
    if key != "start":  # a list of weights, which no text can give
        assert option(key).opts == [f"--{key.replace('_', '-')}"]
        assert declared.about in option(key).help or key in ("rate", "task")  # whose sentences say more
    core = LEARNERS[name](**given(name, key))
    assert core.settings[key] == given(name, key)[key]
    model.save(core, tmp_path / "m.nr")
    restored, _ = model.load(tmp_path / "m.nr")
    assert restored.settings == core.settings
    assert list(inspect.signature(type(restored)).parameters) == list(settings_of(name))


def test_every_option_of_a_learner_is_a_declared_setting_and_says_whose_it_is():
    assert "For ogd-strong (default 0.1)." in option("sigma").help
    assert "ogd-strong (default hinge), adagrad, ftrl, coin, scale-free (default logistic)." in option("loss").help
    assert (
        "For softmax-newton (default 10), second-order, newton, ridge, vaw (default 1), diagonal (default 0.1)."
        in option("ridge").help
    )
    assert option("tie").help.endswith("Default: mistake.")
    assert option("bias").help == settings_of("ogd")["bias"].about
    assert all(loss in option("loss").help for loss in LOSSES)
    assert RATES in option("rate").help


@pytest.mark.parametrize(("name", "regression"), ESTIMATORS)
def test_an_estimator_takes_its_learners_settings_and_nothing_unknown(name, regression):
    shell = ESTIMATORS[name, regression]
    assert set(shell().get_params()) - {"passes", "shuffle", "class_weight"} <= set(settings_of(name))
    assert next(iter(inspect.signature(shell.__init__).parameters)) == "self"
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        shell(colour="red")
    with pytest.raises(TypeError):
        shell(1.0)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_learner_takes_nothing_unknown(name):
    with pytest.raises(TypeError, match=f"{name}: there is no setting 'colour'; it has "):
        LEARNERS[name](colour="red", **NEEDED.get(name, {}))


def test_regressors_have_losses_of_their_own():
    assert nr.OnlineGradientDescent().loss == "hinge"
    assert nr.OnlineGradientDescentRegressor().loss == "squared"
    assert nr.StronglyConvexGradientDescentRegressor().loss == "absolute"
    assert nr.CoinBetting().unit_norm and not settings_of("coin")["unit_norm"].default


@declares
class Common:
    bias: bool = setting(False, "Append a constant.")
    size: float = setting(1.0, "How large.", positive)


@declares
class Own(Common):
    many: int | None = setting(None, "How many.", whole(1))
    size: float = 2.0
    colour: str = setting("red", "Which.", one_of("red", "blue"))


def test_own_settings_come_first_and_a_plain_value_is_a_new_default():
    assert list(fields(Own)) == ["many", "colour", "bias", "size"]
    assert as_dict(checked_settings(Own, "own", {"many": 3})) == {
        "many": 3,
        "colour": "red",
        "bias": False,
        "size": 2.0,
    }
    assert fields(Common)["size"].default == 1.0
    assert (Own.size, Common.size) == (2.0, 1.0)
    assert [(one.kind, one.optional) for one in fields(Own).values()] == [
        (int, True),
        (str, False),
        (bool, False),
        (float, False),
    ]


@pytest.mark.parametrize(
    ("what", "sentence"),
    [
        ({"size": 0}, "own: size must be positive and finite, got 0"),
        ({"size": "1"}, "own: size must be positive and finite, got '1'"),
        ({"many": 0}, "own: many must be a whole number of at least 1, got 0"),
        ({"many": 1.5}, "own: many must be a whole number of at least 1, got 1.5"),
        ({"many": True}, "own: many must be a whole number of at least 1, got True"),
        ({"many": 2**63}, f"own: many must be a whole number of at least 1, got {2**63}"),
        ({"colour": "green"}, "own: colour must be red or blue, got 'green'"),
        ({"colour": ["red"]}, r"own: colour must be red or blue, got \['red'\]"),
    ],
)
def test_a_bad_value_gives_one_sentence(what, sentence):
    with pytest.raises(SettingError, match=f"^{sentence}$"):
        checked_settings(Own, "own", what)


def test_a_range_has_two_ends():
    check = between(0.5, 1e3)
    assert check("own", "size", 1) == 1.0
    with pytest.raises(SettingError, match=r"^own: size must lie between 0.5 and 1000, got 1001$"):
        check("own", "size", 1001)


def test_text_becomes_a_value():
    assert fields(Own)["many"].of_text("own", "3") == 3
    assert fields(Own)["size"].of_text("own", "3") == 3.0
    with pytest.raises(SettingError, match=r"^own: many must be a whole number, got 'x'$"):
        fields(Own)["many"].of_text("own", "x")
    with pytest.raises(SettingError, match=r"^own: size must be a number, got 'x'$"):
        fields(Own)["size"].of_text("own", "x")
    rate = settings_of("perceptron")["rate"]
    assert (rate.of_text("", "auto"), rate.of_text("", "constant:0.5")) == (1.0, 0.5)
    for text in ("0.5", "sqrt:1", "constant:x"):
        with pytest.raises(SettingError, match="rate of the perceptron must be auto or constant:η, got "):
            rate.of_text("", text)


def test_a_sentence_of_the_library_names_parameters_and_the_command_line_options():
    assert spelled("unit_norm", python="unit_norm=True") == "unit_norm=True"
    assert spelled("scale", "max") == "scale='max'"
    with on_command_line():
        assert spelled("unit_norm", python="unit_norm=True") == "--unit-norm"
        assert spelled("scale", "max") == "--scale max"


# -- asked of the learner and of its loss, never of their names ------------------------------------------------------


def test_learners_whose_rounds_are_the_perceptrons_say_so():
    assert {name for name in LEARNERS if LEARNERS[name].perceptron_rounds} == set(PERCEPTRONS)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_learner_is_judged_by_a_convex_loss(name):
    core = LEARNERS[name](**NEEDED.get(name, {}))
    assert isinstance(core, Core) and core.judged_by.convex
    assert core.judged_by == (core.loss if core.loss.convex else parse("hinge"))


@pytest.mark.parametrize("name", LEARNERS)
def test_a_radius_is_the_learners_own_or_its_comparators_or_nobodys(name):
    """A matrix for numbers, a kernel and many classes have comparators of their own."""
    owns = "radius" in settings_of(name)
    assert (owns, LEARNERS[name].compared_only) in (
        [(False, False)] if name in ("vaw", "kernel", *MANY) and name != "auto" else [(True, False), (False, True)]
    )


def test_what_losses_say_of_themselves():
    assert [name for name in LOSSES if parse(name).probabilistic] == ["logistic"]
    assert [name for name in LOSSES if parse(name).passive] == ["hinge", "absolute", "epsilon-insensitive"]
    own = nr.custom_loss(lambda z, y: 0.0, lambda z, y: 0.0, name="logistic")
    assert not own.probabilistic and not own.passive


def test_every_learner_has_its_class_of_settings():
    for name, kind in LEARNERS.items():
        assert kind.declared is getattr(settings, kind.__name__), name
