"""The service as an application: its routes, handlers of a few lines, and the one place where errors become answers."""

from __future__ import annotations

import asyncio
import sys
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from noregret.errors import NoregretError
from noregret.service import files, openapi
from noregret.service.guard import Guard
from noregret.service.hosted import Hosted, Service
from noregret.service.metrics import metrics
from noregret.service.wire import Head, Label, Listing, Mark, Problem, Question, Refused, Windows

BODY = 8 << 20  # bytes of a request
BATCH = 1_000  # rows of an array
LINES = 64  # lines that are worked on before others have their turn
CELLS = 100_000  # features of a row
MARKS = 400  # on the page
PAUSE = 0.25  # seconds between two events of a page
LINED = ("application/x-ndjson", "application/jsonl", "application/jsonlines")
_questions = msgspec.json.Decoder(Question | list[Question])
_labels = msgspec.json.Decoder(Label | list[Label])
_question, _label = msgspec.json.Decoder(Question), msgspec.json.Decoder(Label)
_encode = msgspec.json.encode
Handler = Callable[[Request], Awaitable[Response]]


def application(service: Service, *, host: str, key: str | None = None) -> Starlette:
    """The service's routes behind its guard."""
    model = "/v1/models/{model}"
    routes = [
        Route("/v1/models", _safe(_models)),
        Route(f"{model}/predict", _safe(_predict), methods=["POST"]),
        Route(f"{model}/label", _safe(_label_rounds), methods=["POST"]),
        Route(f"{model}/rounds/{{id:path}}", _safe(_round)),
        Route(f"{model}/windows", _safe(_windows)),
        Route(f"{model}/receipt", _safe(_receipt)),
        Route(f"{model}/model", _safe(_model_file)),
        Route(f"{model}/live", _safe(_live)),
        Route("/metrics", _safe(_metrics)),
        Route("/healthz", _safe(_health)),
        Route("/readyz", _safe(_ready)),
        Route("/openapi.json", _safe(_openapi)),
        *(Route(path, _safe(files.handler(name))) for path, name in files.PAGES.items()),
    ]
    guard = Middleware(Guard, host=host, key=key)
    app = Starlette(routes=routes, middleware=[guard], exception_handlers={HTTPException: _nowhere})
    app.state.service = service
    return app


async def _nowhere(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    sentence = "there is nothing at this address" if error.status_code == 404 else error.detail
    return _problem(error.status_code, sentence, error.headers)


def _safe(handler: Handler) -> Handler:
    """The handler with every error as an answer."""

    async def answered(request: Request) -> Response:
        try:
            return await handler(request)
        except ClientDisconnect:
            return Response(status_code=400)
        except Exception as error:
            return _problem(*_said(error))

    return answered


def _said(error: Exception) -> tuple[int, str]:
    """The status and the sentence for an error."""
    if isinstance(error, Refused):
        return error.status, error.sentence
    if isinstance(error, msgspec.ValidationError | NoregretError):
        return 422, str(error)
    if isinstance(error, msgspec.DecodeError | RecursionError | UnicodeError):
        return 400, f"the body is not JSON: {error}"
    traceback.print_exception(error, file=sys.stderr)
    return 500, "the service failed: its own log says why"


def _problem(status: int, sentence: str, headers: Any = None) -> Response:
    more = {"Retry-After": "1"} if status in (429, 503) else {}
    return _json(Problem(error=" ".join(sentence.split())), status, {**more, **(headers or {})})


def _json(found: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(_encode(found), status, headers, "application/json")


def _service(request: Request) -> Service:
    found: Service = request.app.state.service
    return found


def _model(request: Request) -> Hosted:
    return _service(request).model(request.path_params["model"])


# -- rounds ----------------------------------------------------------------------------------------------------------


async def _body(request: Request) -> bytes:
    """The body of a request, unless it is too large or packed."""
    if request.headers.get("content-encoding", "identity") != "identity":
        raise Refused(415, "send the body as it is, without Content-Encoding")
    if int(request.headers.get("content-length", "0")) > BODY:
        raise Refused(413, f"a body must be at most {BODY >> 20} MiB")
    parts, size = [], 0
    async for piece in request.stream():
        parts.append(piece)
        size += len(piece)
        if size > BODY:
            raise Refused(413, f"a body must be at most {BODY >> 20} MiB")
    return b"".join(parts)


def _lined(request: Request) -> bool:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower() in LINED


def _checked(found: Any) -> list[Any]:
    """A body as a list, within the limits."""
    many = found if isinstance(found, list) else [found]
    if len(many) > BATCH:
        raise Refused(413, f"an array must have at most {BATCH:,} rows, got {len(many):,}: send them as JSON Lines")
    for one in many:
        if isinstance(one, Question) and len(one.x) > CELLS:
            raise Refused(413, f"a row must have at most {CELLS:,} features, got {len(one.x):,}")
    return many


async def _predict(request: Request) -> Response:
    model, body = _model(request), await _body(request)
    if not _lined(request):
        asked = _questions.decode(body)
        found = model.predict(_checked(asked))
        return _json(found if isinstance(asked, list) else found[0])
    answers: list[Any] = []
    for place, line in enumerate(_lines(body)):
        answers.append(_tried(line, lambda line: model.predict(_checked(_question.decode(line)))[0]))
        if place % LINES == LINES - 1:
            await asyncio.sleep(0)
    return _answers(answers)


async def _label_rounds(request: Request) -> Response:
    model, body = _model(request), await _body(request)
    if not _lined(request):
        asked = _labels.decode(body)
        found = await model.label(_checked(asked))
        return _json(found if isinstance(asked, list) else found[0])
    answers: list[Any] = []
    for place, line in enumerate(_lines(body)):
        answers.append(_tried(line, lambda line: model.served.label([_label.decode(line)])[0]))
        if place % LINES == LINES - 1:
            await asyncio.sleep(0)
    await model.written()
    return _answers(answers)


def _lines(body: bytes) -> Iterator[bytes]:
    return (line for line in body.split(b"\n") if line.strip())


def _tried(line: bytes, work: Callable[[bytes], Any]) -> Any:
    """What a line comes to, or why it is refused."""
    try:
        return work(line)
    except Exception as error:
        return Problem(error=_said(error)[1])


def _answers(found: list[Any]) -> Response:
    return Response(b"".join(_encode(one) + b"\n" for one in found), media_type="application/x-ndjson")


# -- what is known ---------------------------------------------------------------------------------------------------


async def _models(request: Request) -> Response:
    return _json(Listing(models=sorted(_service(request).models)))


async def _round(request: Request) -> Response:
    return _json(_model(request).served.round(request.path_params["id"]))


async def _windows(request: Request) -> Response:
    one = _model(request)
    served, core = one.served, one.served.late.core
    marks = [Mark(event=n, time=t, figures=msgspec.json.decode(said)) for n, t, said in served.log.marks(MARKS)]
    task = "regression" if core.regression else "multiclass" if core.multiclass else "binary"
    receipts = served.receipts[-10:]
    name, loss = core.name, core.loss.name
    return _json(
        Windows(model=served.name, task=task, learner=name, loss=loss, marks=marks, now=one.now, receipts=receipts)
    )


async def _receipt(request: Request) -> Response:
    """Where the chain of receipts stands, and the log that the next one will be about."""
    served = _model(request).served
    number, log, _, answers = served.log.head or (0, b"", b"", b"")
    return _json(Head(model=served.name, event=number, log=log.hex(), answers=answers.hex(), receipts=served.receipts))


async def _model_file(request: Request) -> Response:
    served = _model(request).served
    name = f'attachment; filename="{served.name}.nr"'
    return Response(served.file(), media_type="application/octet-stream", headers={"content-disposition": name})


async def _live(request: Request) -> Response:
    """Server-sent events: the figures of now, when they have changed."""
    service, one = _service(request), _model(request)

    async def events() -> AsyncIterator[bytes]:
        last = None
        while not service.closing and not await request.is_disconnected():
            stands = one.served.late.events, one.served.log.written, one.served.log.failed
            if stands != last:
                last = stands
                yield b"data: " + _encode(one.now) + b"\n\n"
            await asyncio.sleep(PAUSE)

    return StreamingResponse(events(), media_type="text/event-stream")


async def _metrics(request: Request) -> Response:
    text, kind = metrics(_service(request))
    return Response(text, media_type=kind)


async def _health(request: Request) -> Response:
    return _json({"healthy": True})


async def _ready(request: Request) -> Response:
    service = _service(request)
    failed = next((one.served.log.failed for one in service.models.values() if one.served.log.failed), None)
    if not service.ready or failed:
        return _problem(503, failed or "the service is starting or stopping")
    return _json({"ready": True})


async def _openapi(request: Request) -> Response:
    return _json(openapi.document())
