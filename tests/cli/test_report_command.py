"""`noregret report`: one page, whole or not at all, and a sentence for what is none."""

import json

import pytest
from command import snapshot


@pytest.fixture
def receipt(noregret, rows):
    options = ("--learner", "ogd", "--loss", "logistic", "--radius", "2", "--receipt", "r.json", "--save", "m.nr")
    assert noregret("learn", rows, *options, "--quiet").code == 0
    return "r.json"


def test_the_page_is_written_and_named(noregret, here, receipt):
    answer = noregret("report", receipt, "m.nr", "-o", "page.html")
    assert (answer.code, answer.err) == (0, "")
    size = (here / "page.html").stat().st_size
    assert answer.out == f"page.html: {size / 1000:,.0f} KB\n"
    assert size < 500_000
    text = (here / "page.html").read_text()
    assert text.startswith("<!DOCTYPE html>")
    assert "ogd-linearised" in text
    assert "noregret verify r.json STREAM" in text


def test_without_a_name_it_is_report_html(noregret, here, receipt):
    assert noregret("report", receipt, "--quiet").out == ""
    assert (here / "report.html").is_file()


@pytest.mark.parametrize(
    ("write", "sentence"),
    [
        (lambda path: path.write_text("not json"), "it is not JSON"),
        (lambda path: path.write_text("[]"), "is not a receipt of noregret"),
        (lambda path: path.write_text('{"kind": "blend"}'), "is a receipt without a version"),
        (lambda path: path.write_bytes(b"NOREGRET"), "the model file is cut short"),
        (lambda path: path.mkdir(), "cannot be read: Is a directory"),
        (lambda path: None, "cannot be read: No such file"),
    ],
)
def test_what_is_no_receipt_gets_one_sentence_and_no_file(noregret, here, receipt, write, sentence):
    write(here / "bad.json")
    (here / "page.html").write_text("older")
    before = snapshot(here)
    answer = noregret("report", receipt, "bad.json", "-o", "page.html")
    assert answer.code == 2
    assert answer.out == ""
    assert sentence in answer.err
    assert answer.err.startswith("noregret: bad.json: ")
    assert answer.err.count("\n") == 1
    assert snapshot(here) == before


def test_a_damaged_receipt_gets_one_sentence(noregret, here, receipt):
    body = json.loads((here / receipt).read_text())
    body["figures"]["mistakes"] = 0
    (here / "bad.json").write_text(json.dumps(body))
    answer = noregret("report", "bad.json")
    assert answer.code == 2
    assert "its checksum does not match" in answer.err
    assert not (here / "report.html").exists()


def test_no_source_is_written_over(noregret, here, receipt):
    before = snapshot(here)
    answer = noregret("report", receipt, "m.nr", "-o", "m.nr")
    assert answer.code == 2
    assert "would be written over a file of the report" in answer.err
    answer = noregret("report", receipt, "-o", "nowhere/page.html")
    assert answer.code == 2
    assert "'nowhere' does not exist" in answer.err
    assert snapshot(here) == before


def test_nothing_given(noregret, here):
    answer = noregret("report")
    assert answer.code == 2
    assert "missing argument" in answer.err
