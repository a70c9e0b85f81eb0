"""`learn --events` on streams of Redis and topics of Kafka: positions, stops, kills, answers, receipts, refusals."""

import json
import os
import shutil
import signal
import subprocess
import sys

import pytest
from brokers import LEARN, KafkaCluster, RedisServer, events, kept, killed_in_between, reader, until

import noregret as nr
from noregret import model

HERE = shutil.which("redis-server") is not None


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    if not HERE and os.environ.get("NOREGRET_REDIS") != "required":
        pytest.skip("needs redis-server")
    made = RedisServer(tmp_path_factory.mktemp("redis"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def cluster():
    made = KafkaCluster()
    yield made
    made.close()


@pytest.fixture
def empty(server):
    server.client.flushall()
    return server


SAID = list(events(120))


@pytest.fixture
def file(here):
    (here / "log.jsonl").write_text("".join(json.dumps(event) + "\n" for event in SAID))
    return here / "log.jsonl"


@pytest.fixture(params=["redis", "kafka"])
def stream(request, noregret):
    """The address of a stream, and what adds events to it."""
    if request.param == "redis":
        server = request.getfixturevalue("empty")
        count = iter(range(1, 10_000_000, 100_000))
        return server.address("ev"), lambda said: server.add("ev", said, next(count))
    cluster = request.getfixturevalue("cluster")
    name = f"t{os.urandom(8).hex()}"
    return cluster.address(name, 2), lambda said: cluster.add(name, said, 2)


def test_a_stream_in_parts_gives_the_model_of_a_file(noregret, here, file, stream):
    address, add = stream
    noregret("learn", file, *LEARN, "--save", "whole.nr", "--quiet")
    for start, stop in ((0, 50), (50, 51), (51, len(SAID))):
        add(SAID[start:stop])
        going = ["--events", "--resume", "m.nr"] if start else LEARN
        answer = noregret("learn", address, *going, "--until-idle", 0, "--save", "m.nr", "--quiet")
        assert (answer.code, answer.err) == (0, "")
        assert model.load(here / "m.nr")[0].late["events"] == stop
    assert kept(here / "m.nr") == kept(here / "whole.nr")
    again = noregret("learn", address, "--events", "--resume", "m.nr", "--until-idle", 0, "--save", "m.nr", "--json")
    assert again.code == 0 and again.json["this_run"]["rounds"] == 0
    assert kept(here / "m.nr") == kept(here / "whole.nr")


def test_it_goes_on_until_a_signal_and_saves_where_it_stopped(here, stream):
    address, add = stream
    add(SAID[:40])
    live = reader(here, address, "--every", "0.1s")
    until(lambda: (here / "m.nr").exists() and model.load(here / "m.nr")[0].late["events"] == 40, "no save")
    add(SAID[40:60])
    until(lambda: model.load(here / "m.nr")[0].late["events"] == 60, "no save while nothing comes")
    live.send_signal(signal.SIGTERM)
    _, err = live.communicate(timeout=60)
    assert live.returncode == 143 and b"go on with --resume m.nr --events\n" in err
    assert nr.load(here / "m.nr").position.stream == address


def test_answers_go_to_a_stream_and_again_after_a_stop_without_a_save(noregret, here, empty):
    empty.add("ev", SAID)
    out, address = empty.address("out"), empty.address("ev")
    noregret("learn", address, *LEARN, "--until-idle", 0, "--save", "m.nr", "--predictions", out, "--quiet")
    once = empty.answers("out")
    rows = [f"1-{place}" for place, event in enumerate(SAID, 1) if "x" in event]
    assert [one["at"] for one in once] == rows and {"score", "prediction", "version"} <= set(once[0])
    noregret("learn", address, *LEARN, "--until-idle", 0, "--predictions", out, "--quiet")  # from the beginning
    assert empty.answers("out") == once + once
    answer = noregret("learn", address, *LEARN, "--until-idle", 0, "--predictions", address)
    assert answer.code == 2 and "would write answers to the stream that is read" in answer.err


def test_answers_of_a_file_go_to_a_topic(noregret, here, file, cluster):
    out = f"out{os.urandom(6).hex()}"
    noregret("learn", file, *LEARN, "--predictions", cluster.address(out), "--quiet")
    noregret("learn", file, *LEARN, "--predictions", "p.jsonl", "--quiet")
    found = nr.follow(cluster.address(out), until_idle=0)
    said = [message.body.decode() for message in found.messages(None)]
    found.close()
    assert said == (here / "p.jsonl").read_text().splitlines()


def test_kafka_is_told_the_offset_behind_what_was_saved(noregret, here, cluster):
    from confluent_kafka import Consumer, TopicPartition

    name = f"t{os.urandom(8).hex()}"
    cluster.add(name, SAID, 3)
    address = cluster.address(name, 3) + "?group.id=fraud"
    noregret("learn", address, *LEARN, "--until-idle", 0, "--save", "m.nr", "--quiet")
    consumer = Consumer({"bootstrap.servers": cluster.servers, "group.id": "fraud", "log_level": 0})
    [found] = consumer.committed([TopicPartition(name, 3)], timeout=10)
    consumer.close()
    assert found.offset == len(SAID) and nr.load(here / "m.nr").position.at == str(len(SAID) - 1)


def test_a_receipt_names_the_positions_and_is_verified_on_the_same_stream(noregret, here, file, stream):
    address, add = stream
    add(SAID[:80])
    answer = noregret("learn", address, *LEARN, "--until-idle", 0, "--receipt", "r.json", "--quiet")
    assert (answer.code, answer.err) == (0, "")
    add(SAID[80:])  # what comes later changes nothing
    body = json.loads((here / "r.json").read_text())
    assert body["source"]["stream"] == address and set(body["source"]) == {"stream", "first", "last"}
    answer = noregret("verify", "r.json", address, "--verbose")
    assert answer.code == 0 and "the last position in the stream" in answer.out
    file.write_text("".join(json.dumps(event) + "\n" for event in SAID[:80]))
    assert noregret("verify", "r.json", file, "--quiet").code == 0
    answer = noregret("verify", "r.json", file.with_name("nothing"))
    assert answer.code != 0


def test_a_receipt_with_other_positions_fails(noregret, here, empty):
    from noregret.proof.late import LateReceipt

    empty.add("ev", SAID)
    noregret("learn", empty.address("ev"), *LEARN, "--until-idle", 0, "--receipt", "r.json", "--quiet")
    found = LateReceipt.load(here / "r.json")
    for change in ({"last": f"1-{len(SAID) - 1}"}, {"first": "1-2"}, {"last": "2-0"}, {"first": "x"}):
        vars(found)["source"] = {"stream": empty.address("ev"), "first": "1-1", "last": f"1-{len(SAID)}", **change}
        found.save(here / "forged.json")
        answer = noregret("verify", "forged.json", empty.address("ev"))
        assert answer.code == 1 and "verification failed" in answer.err
    for wrong in ({"stream": "a"}, {"stream": "a", "first": "1", "last": "2"}, 3):
        vars(found)["source"] = wrong
        found.save(here / "forged.json")
        assert noregret("verify", "forged.json", empty.address("ev")).code == 1


def test_a_receipt_of_a_file_is_not_verified_on_a_stream(noregret, file, empty):
    noregret("learn", file, *LEARN, "--receipt", "r.json", "--quiet")
    empty.add("ev", SAID)
    answer = noregret("verify", "r.json", empty.address("ev"))
    assert answer.code == 2 and "the events came from a file" in answer.err


def test_what_was_trimmed_or_made_again_is_refused(noregret, here, empty):
    address = empty.address("ev")
    empty.add("ev", SAID[:60])
    noregret("learn", address, *LEARN, "--until-idle", 0, "--save", "m.nr", "--quiet")
    before = (here / "m.nr").read_bytes()
    going = ["learn", address, "--events", "--resume", "m.nr", "--save", "m.nr", "--until-idle", 0]
    empty.add("ev", SAID[60:], 61)
    empty.client.xtrim("ev", minid="1-60", approximate=False)
    assert noregret(*going[:-4], "--until-idle", 0, "--quiet").code == 0  # the entry itself is there
    empty.client.xtrim("ev", minid="1-61", approximate=False)
    answer = noregret(*going)
    assert answer.code == 2 and "the entry at 1-60, up to which was read before, is gone" in answer.err
    assert "give --after-position and a position" in answer.err
    empty.client.delete("ev")
    answer = noregret(*going)
    assert answer.code == 2 and "there is no such stream" in answer.err
    empty.add("ev", [{"x": {"a": 1.0}, "y": 1}] * 60)
    answer = noregret(*going)
    assert answer.code == 2 and "is not the one that the model has learned from" in answer.err
    assert (here / "m.nr").read_bytes() == before
    assert noregret(*going, "--after-position", "1-59", "--quiet").code == 0
    assert nr.load(here / "m.nr").events == 61


def test_a_stream_that_is_trimmed_below_a_running_reader_is_noticed(here, empty):
    empty.add("ev", SAID[:10])
    found = nr.follow(empty.address("ev")).messages(None)
    assert next(found).at == "1-1"
    empty.add("ev", SAID[10:], 11)
    empty.client.xtrim("ev", minid="1-50", approximate=False)
    with pytest.raises(nr.InputError, match="the entry at 1-10"):
        list(found)


def test_kafka_refuses_an_offset_that_is_no_longer_there(noregret, here, cluster):
    name = f"t{os.urandom(8).hex()}"
    cluster.add(name, SAID)
    address = cluster.address(name)
    noregret("learn", address, *LEARN, "--until-idle", 0, "--save", "m.nr", "--quiet")
    for _ in range(8):  # the mock broker keeps 5 MiB
        cluster.add(name, [json.dumps({"x": {"a": "long" * 200_000}, "y": 1})])
    answer = noregret("learn", address, "--events", "--resume", "m.nr", "--until-idle", 0)
    assert answer.code == 2 and f"the entry at {len(SAID) - 1}, up to which was read before, is gone" in answer.err


@pytest.mark.parametrize("wrong, sentence", [('{"x": 1', "is not an event"), ("[]", "is not an event")])
def test_a_malformed_entry_is_named_by_its_position(noregret, here, stream, wrong, sentence):
    address, add = stream
    add([*SAID[:5], wrong])
    answer = noregret("learn", address, *LEARN, "--until-idle", 0, "--save", "m.nr", "--every", 1)
    last = nr.load(here / "m.nr").position.at
    spot = f"{address}:{'1-6' if address.startswith('redis') else '5'}: "
    assert answer.code == 2 and spot in answer.err and sentence in answer.err
    assert last in ("1-5", "4")


def test_an_entry_without_an_event_is_named_and_can_be_passed_over(noregret, here, empty):
    empty.add("ev", SAID[:5])
    empty.client.xadd("ev", {"other": "1"}, id="1-6")
    empty.add("ev", SAID[5:], 7)
    answer = noregret("learn", empty.address("ev"), *LEARN, "--until-idle", 0, "--save", "m.nr", "--every", 1)
    assert answer.code == 2 and ":1-6: is not an event: expected a field named event" in answer.err
    going = ["--events", "--resume", "m.nr", "--after-position", "1-6", "--until-idle", 0, "--save", "m.nr", "--quiet"]
    assert noregret("learn", empty.address("ev"), *going).code == 0
    assert nr.load(here / "m.nr").events == len(SAID)


def test_a_server_that_asks_for_a_password(noregret, tmp_path, server, monkeypatch):
    locked = RedisServer(tmp_path, "--requirepass", "secret")
    try:
        address = f"redis://127.0.0.1:{locked.port}/ev"
        asked = ["--events", "--task", "binary", "--until-idle", 0, "--quiet"]
        for given in (address, address.replace("//", "//:wrong@")):
            answer = noregret("learn", given, *asked)
            assert answer.code == 2 and "the user or the password is refused" in answer.err
            assert "wrong@" not in answer.err
        assert "there is no such stream" in noregret("learn", address.replace("//", "//:secret@"), *asked).err
        monkeypatch.setenv("NOREGRET_BROKER_PASSWORD", "secret")
        assert "there is no such stream" in noregret("learn", address, *asked).err
    finally:
        locked.close()


def test_refusals(noregret, here, file, empty, cluster):
    address, topic = empty.address("ev"), cluster.address("some")
    empty.add("ev", SAID)
    empty.client.set("text", "x")
    cluster.add("some", SAID)
    noregret("learn", address, *LEARN, "--until-idle", 0, "--save", "m.nr", "--quiet")
    for words, sentence in [
        (["learn", address], "is a stream of events, not of rows"),
        (["predict", "m.nr", address], "is a stream of events, not of rows"),
        (["learn", file, *LEARN, "--until-idle", 1], "--until-idle goes with --events and a stream of Redis or Kafka"),
        (
            ["learn", file, *LEARN, "--after-position", "1-1"],
            "--after-position goes with --events and a stream of Redis or Kafka",
        ),
        (["learn", file, "--predictions", address], "--predictions goes to Redis or Kafka only with --events"),
        (["learn", address, *LEARN, "--until-idle", -1], "must be a number of seconds, at least 0"),
        (
            ["learn", address, *LEARN, "--after-position", "x"],
            "--after-position must be a position such as 1700000000000-0",
        ),
        (["learn", address, "--events", "--resume", "m.nr", "--skip", "seen"], "leave out --skip seen"),
        (["learn", "redis://127.0.0.1:1/ev", *LEARN], "cannot be reached"),
        (["learn", empty.address("none"), *LEARN], "there is no such stream"),
        (["learn", empty.address("text"), *LEARN], "is no stream: its key holds something else"),
        (["learn", file, *LEARN, "--predictions", empty.address("text")], "is no stream"),
        (["learn", "redis://localhost/a/b", *LEARN], "must be redis://HOST[:PORT][/DB]/STREAM"),
        (["learn", topic.removesuffix("/0"), *LEARN], "has 4 partitions"),
        (["learn", topic[:-1] + "9", *LEARN], "there is no such partition; the topic has 4"),
        (["learn", cluster.address("none"), *LEARN], "there is no such topic"),
        (["learn", topic + "?nonsense=1", *LEARN], "its settings cannot be used"),
        (["learn", topic, "--events", "--resume", "m.nr"], "which is none of such a stream"),
    ]:
        answer = noregret(*words)
        assert answer.code == 2 and sentence in answer.err, (words, answer.err)
        assert answer.err.count("\n") == 1


@pytest.mark.parametrize(
    "extra, module, address", [("redis", "redis", "redis://h/s"), ("kafka", "confluent_kafka", "kafka://h/t")]
)
def test_without_the_extra_one_sentence_names_it(noregret, monkeypatch, extra, module, address):
    from importlib import util

    find = util.find_spec
    monkeypatch.setattr(util, "find_spec", lambda name, *more: None if name == module else find(name, *more))
    answer = noregret("learn", address, *LEARN)
    assert answer.code == 2 and f"pip install 'noregret[{extra}]'" in answer.err


def test_each_event_once_though_server_and_reader_are_killed(noregret, here, server):
    total, found = killed_in_between(here, 1500, 2)
    assert 0 < found[0] < found[1] < total
    noregret("learn", "log.jsonl", *LEARN, "--save", "whole.nr", "--quiet")
    assert kept(here / "m.nr") == kept(here / "whole.nr")
    assert nr.load(here / "m.nr").events == total


def test_reading_needs_no_module_of_a_broker_that_is_not_read():
    code = "import sys, noregret.late.playing; sys.exit(bool({'redis', 'confluent_kafka'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=120).returncode == 0
