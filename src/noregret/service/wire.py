"""What goes over the wire, each a type: from these come the checks of requests and the OpenAPI document."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from noregret.errors import NoregretError

Id = Annotated[str, Meta(min_length=1, max_length=256)] | int
Scalar = str | float | int | bool
Cell = float | int | str | bool | None
Features = dict[Annotated[str, Meta(max_length=1024)], Cell] | list[float]


class Refused(NoregretError):
    """A request that is answered with one sentence, and changes nothing."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status, self.sentence = status, sentence


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A row to predict. Its label may come later, under its id; without an id it gets one."""

    x: Features
    id: Id | None = None
    w: Annotated[float, Meta(gt=0)] | None = None


class Prediction(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is said of a row; `version` is how many rounds the learner had learned from.

    A model that was learned with --cover also says an interval, or the labels of a set.
    """

    id: Id
    score: float
    prediction: Scalar | None
    version: int
    probability: float | msgspec.UnsetType | None = msgspec.UNSET
    interval: list[float] | msgspec.UnsetType = msgspec.UNSET
    set: list[Scalar] | msgspec.UnsetType = msgspec.UNSET


class Label(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The label of a round; `revise` says that it may replace another one, `expire` that it will not come.

    `decision` is what was really decided, by whomever: it is judged beside the prediction.
    """

    id: Id
    y: Scalar | None = None
    decision: Scalar | None = None
    revise: bool = False
    expire: bool = False


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a label, which is on the disk with its prediction; `loss` is that of the prediction."""

    id: Id
    applied: bool  # whether the learner has learned it now
    state: str  # learned, repeated, revised, expired, or held: it is open which of two labels is the positive one
    loss: float | None


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """Why a request was refused."""

    error: str


class RoundState(msgspec.Struct, frozen=True, kw_only=True):
    """A round that waits, or has ended and is remembered."""

    id: Id
    state: str  # waiting, labelled, defaulted or expired
    prediction: Prediction
    loss: float | None
    waited: int  # updates since the prediction


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """Figures of all predictions up to an event."""

    event: int
    time: float  # seconds since 1970
    figures: dict[str, Any]


class Windows(msgspec.Struct, frozen=True, kw_only=True):
    """How the figures came to be: marks from which windows are differences, and the figures now."""

    model: str
    task: str
    learner: str
    loss: str
    marks: list[Mark]
    now: dict[str, Any]
    receipts: list[dict[str, Any]]


class Listing(msgspec.Struct, frozen=True, kw_only=True):
    """The models that are served."""

    models: list[str]


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a log on the disk: the last event, and the digests of all events and of all scores."""

    model: str
    event: int
    log: str
    answers: str
    receipts: list[dict[str, Any]]
