"""Several hosts, one arena: whoever asks sees the same, whichever API he asks; hosts come and go while it plays."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass

import pytest
from requests.adapters import HTTPAdapter

from bot_sdk.bots import HOUSE
from bot_sdk.client import Arena as Client
from bot_sdk.client import ArenaError
from bot_sdk.games.record import read, verify
from bot_sdk.hosting import respond
from bot_sdk.transport import lines
from service.store.entities import PULL, BotState
from tests.integration.arena import PATIENT_LIMITS, SECRET, wait_until
from tests.integration.chaos import told_of_failure
from tests.integration.hosts import Cluster, Host
from tests.integration.played import check_recomputed, check_records, check_settled, check_whole, is_settled
from tests.integration.pulling import TOKEN, bot_id, give_token
from tests.integration.readers import LOOK_S, Follower, Onlooker, Person, ResultsSeen, look_once_more

ADMIN = "admin-" + "a" * 32
PERSON = {"kind": "human", "name": "Ada"}
SHORT = {"target": 3}
END_S = 60.0
ACCOUNTS = 6


# --- one arena, whichever API is asked --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Run two hosts, whose workers share the queues out."""
    folder = tmp_path_factory.mktemp("hosts") / "arena"
    more = {
        "SLAGVELD_ADMIN_TOKEN": ADMIN,
        "SLAGVELD_ACCOUNTS": "open",
        "SLAGVELD_RATE_NEW_ACCOUNTS": f"{ACCOUNTS} per hour",
    }
    with Cluster(folder, bots=["house:greedy", "house:random"], **more) as made:
        made.add(made.start_host("--queues", "interactive"), made.start_host("--queues", "tournament"))
        yield made


@pytest.fixture
def apis(cluster):
    """Give a client of each API."""
    with ExitStack() as stack:
        yield [stack.enter_context(Client(host.url)) for host in cluster.hosts]


def at_once(calls: Sequence[Callable[[], object]]) -> list[object]:
    """Make all calls at the same time, and give what came of each."""
    start = threading.Barrier(len(calls))

    def make(call: Callable[[], object]) -> object:
        start.wait(timeout=END_S)
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return [each.result(timeout=END_S) for each in [pool.submit(make, call) for call in calls]]


def refusal(call: Callable[..., object], *args: object, **more: object) -> tuple[int, str]:
    with pytest.raises(ArenaError) as refused:
        call(*args, **more)
    return refused.value.status, refused.value.code


def table_of_two(client: Client) -> tuple[str, list[str]]:
    """Seat two people; give the game and their tokens."""
    game = client.create_game("seven_up", [PERSON, PERSON], options=SHORT, human_budget_ms=600_000)
    return game["id"], [seat["token"] for seat in game["seats"]]


def test_what_one_api_has_taken_every_other_one_shows_at_once(apis):
    """Each step is asked of the API that hasn't done the one before."""
    one, other = apis
    one.token = other.token = one.create_account("ann")["token"]
    bot = other.create_bot("reader", "http://127.0.2.1:8100", ["seven_up"])["id"]
    assert one.bot(bot)["name"] == "reader"
    one.change_bot(bot, name="writer")
    assert other.bot(bot)["name"] == "writer"
    made = one.create_tournament("anywhere", "seven_up", rounds=4, options=SHORT)["id"]
    other.enter(made, "house:greedy")
    one.enter(made, "house:random")
    assert {entry["bot_id"] for entry in other.entries(made)} == {"house:greedy", "house:random"}
    other.withdraw(made, "house:random")
    assert [entry["bot_id"] for entry in one.entries(made)] == ["house:greedy"]
    one.enter(made, "house:random")
    other.set_tournament_state(made, "running")
    assert one.tournament(made)["state"] in {"running", "finished"}
    wait_until(lambda: other.tournament(made)["state"] == "finished", END_S, "the end of the tournament")
    assert one.tournament(made)["state"] == "finished"
    assert one.standings(made) == other.standings(made)
    assert [*one.records(made)] == [*other.records(made)]
    other.delete_bot(bot)
    assert refusal(one.bot, bot) == (404, "not_found")


def test_token_that_one_api_has_revoked_no_other_takes(apis):
    one, other = apis
    one.token = one.create_account("ann")["token"]
    made = one.create_token("another")
    other.token = made["token"]
    assert other.me()["name"] == "ann"
    one.revoke_token(made["id"])
    assert refusal(other.me)[0] == 401


def test_maintenance_that_one_api_is_told_of_holds_at_every_other(apis):
    one, other = apis
    one.token = ADMIN
    one.set_maintenance(on=True, reason="moving")
    try:
        assert refusal(Client(other.url, timeout_s=0.5).create_game, "seven_up", [PERSON, PERSON])[0] == 503
    finally:
        one.set_maintenance(on=False)
    table_of_two(other)


class From(HTTPAdapter):
    """Sends requests from an address of its own."""

    def init_poolmanager(self, *args: object, **more: object) -> None:
        super().init_poolmanager(*args, source_address=("127.0.3.1", 0), **more)


def test_an_address_has_one_allowance_at_all_apis_together(apis):
    for client in apis:
        client._session._session.mount(client.url, From())
    for number in range(ACCOUNTS):
        apis[number % 2].create_account(f"account {number}")
    assert [refusal(Client.create_account, client, "one more") for client in apis] == [(429, "rate_limited")] * 2


def test_one_key_makes_one_game_though_both_apis_are_asked_at_once(apis):
    for client in apis:
        client._session._new_key = lambda: "0123456789abcdef"
    made = at_once([lambda client=client: client.create_game("seven_up", [PERSON, PERSON]) for client in apis * 3])
    assert made == [made[0]] * len(made)


def test_who_waits_at_one_api_is_woken_by_what_another_takes(apis):
    """Two people play; each waits at one API and acts at the other. By time alone each move would take 20 s."""
    game, tokens = table_of_two(apis[0])
    versions = [[], []]

    def play(seat: int) -> None:
        mine, other = apis[seat], apis[1 - seat]
        while (view := mine.seat(game, seat, tokens[seat], wait_s=20))["decision_id"] is not None:
            taken = other.act(game, seat, view["decision_id"], view["legal_actions"][0], tokens[seat])
            versions[seat] += [view["version"], taken["version"], mine.seat(game, seat, tokens[seat])["version"]]

    at_once([lambda: play(0), lambda: play(1)])
    assert apis[0].game(game)["state"] == "finished"
    assert all(seen == sorted(seen) for seen in versions)
    assert apis[0].record(game) == apis[1].record(game)


def test_an_action_counts_once_though_both_apis_are_told_of_it_at_once(apis):
    game, tokens = table_of_two(apis[0])
    view = apis[1].seat(game, 0, tokens[0], wait_s=1)
    seat = 0 if view["decision_id"] else 1
    view = apis[1].seat(game, seat, tokens[seat])
    decision, (first, second, *_) = view["decision_id"], view["legal_actions"]
    act = [lambda client=client: client.act(game, seat, decision, first, tokens[seat]) for client in apis * 3]
    assert {taken["action"] for taken in at_once(act)} == {first}
    for client in apis:
        assert refusal(client.act, game, seat, decision, second, tokens[seat])[0] == 409


def test_a_bot_fetches_its_calls_at_one_api_and_answers_at_another(cluster, apis):
    give_token(cluster.store)
    bot = HOUSE["house:greedy"]()
    bot.secret = SECRET
    cluster.register(bot_id(0), "fetching", PULL)
    for client in apis:
        client.token = TOKEN
    apis[0].fetch_calls(bot_id(0))  # it is there
    game = cluster.start_game("seven_up", [bot_id(0), "bot_0"], PATIENT_LIMITS)
    turns = itertools.cycle([apis, apis[::-1]])
    while apis[0].game(game)["state"] == "running":
        fetching, answering = next(turns)
        calls = fetching.fetch_calls(bot_id(0), wait_s=1)
        replies = [respond(bot, "POST", call.headers, call.body.encode()) for call in calls]
        answers = [{"id": call.id, "body": reply.body.decode()} for call, reply in zip(calls, replies, strict=True)]
        if answers:
            assert answering.answer_calls(bot_id(0), answers).taken == [call.id for call in calls]
    shown = read(apis[1].record(game))
    outcomes = {event["outcome"] for deal in shown.deals for event in deal.events}
    assert (shown.status, outcomes) == ("finished", {"ok"})


def following(client: Client, game: str, last: str) -> tuple[str, bytes] | None:
    """Give id and text of the next message of a game's stream, None if none will follow."""
    headers = {"Last-Event-ID": last} if last else None
    with client._session.stream(f"/v1/games/{game}/stream", headers=headers) as response:
        number = b""
        for line in lines(response.iter_content(1)):
            field, _, value = line.partition(b": ")
            if field == b"id":
                number = value
            elif field == b"data":
                return number.decode(), value
    return None


def test_a_stream_is_taken_up_at_another_api_without_a_gap_and_nothing_twice(cluster, apis):
    """Who follows leaves after each message, while the game is played."""
    person = Person(cluster.address)
    person.sit_down(apis[0], "river", 4, {"start_cards": 3})
    seen: list[tuple[str, bytes]] = []
    with Onlooker(person.move, pause_s=0):
        while (message := following(apis[len(seen) % 2], person.game_id, seen[-1][0] if seen else "")) is not None:
            assert int(message[0]) == len(seen) + 1
            seen.append(message)
    events = list(apis[0].events(person.game_id))
    assert len(seen) == len(events) == events[-1]["id"]
    person.check(read(apis[1].record(person.game_id)))


# --- hosts that come and go -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Size:
    """How many rounds of four games there are, how many decisions between two steps, how often all is replaced."""

    rounds: int
    share: int
    times: int

    @property
    def games(self) -> int:
        return 4 * self.rounds


HOSTS = 2
BOTS = ["house:greedy", "house:random"] * 4
IDS = [f"bot_{number}" for number in range(len(BOTS))]


class Work:
    """A tournament that gets on by a share at each step, and stands still before it is all played too soon."""

    def __init__(self, arena: Cluster, size: Size) -> None:
        self._arena = arena
        self._size = size
        self.name = arena.launch("rolling", "seven_up", 2, size.rounds, IDS, PATIENT_LIMITS, SHORT)

    def during(self, step: Callable[[], object]) -> None:
        """Do a step while a share of the decisions is made; what was begun before it goes on after it."""
        asked = self._arena.bots.journal.count
        until = asked() + self._size.share
        self._arena.bots.gate.shut(after=until)
        step()
        wait_until(lambda: asked() > until, END_S, f"games that go on, {asked()} of {until}")
        assert not self._arena.is_finished(self.name)


class Streamed:
    """Follows a tournament's stream, whichever APIs it takes; what has ended stays ended."""

    def __init__(self, arena: Cluster, name: str) -> None:
        self._arena = arena
        self._name = name
        self.finished: list[int] = []
        self.state = ""

    def look(self) -> None:
        if self.state != "finished":
            with self._arena.client() as client:
                for message in client.follow_tournament(self._name, timeout_s=1_200):
                    self.finished.append(message["finished"])
                    self.state = message["state"]


def replace(arena: Cluster, work: Work, host: Host, clients: Collection[Onlooker]) -> None:
    """Put a new host in the place of one, as a rolling upgrade does."""
    work.during(lambda: arena.add(arena.start_host()))
    work.during(lambda: arena.remove(host, clients))


def restart(server) -> None:
    server.stop()
    server.start()


def come_and_go(arena: Cluster, size: Size) -> None:
    arena.bots.gate.shut()
    arena.add(*[arena.start_host() for _ in range(HOSTS)])
    work, person = Work(arena, size), Person(arena.address)
    with arena.client() as client:
        person.sit_down(client, "river", 4, {"start_cards": 8})
    reader = ResultsSeen(arena.address, [work.name])
    follower = Follower(arena.address, lambda: [game.id for game in arena.running(work.name)[:2]])
    stream = Streamed(arena, work.name)
    with (
        Onlooker(reader.look, pause_s=0.2) as reads,
        Onlooker(follower.look, pause_s=0.2) as follows,
        Onlooker(person.move, pause_s=0.1) as plays,
        Onlooker(stream.look),
    ):
        clients = (reads, follows, plays)
        wait_until(
            lambda: reader.looks and follower.looks and stream.finished, LOOK_S, "readers that were shown something"
        )
        for _ in range(size.times):
            while len(arena.hosts) < HOSTS:
                work.during(lambda: arena.add(arena.start_host()))
            for host in list(arena.hosts):
                replace(arena, work, host, clients)
            work.during(lambda: restart(arena.broker))
            assert [each.missed for each in (reader, follower, person)] == [0, 0, 0], "somebody was sent away"
            work.during(lambda: restart(arena.valkey))
            work.during(lambda: arena.lose(arena.hosts[0]))
            for each in (reader, follower, person):
                each.missed = 0  # a store that was away and a host that crashed may be felt
        arena.bots.gate.open()
        wait_until(lambda: arena.is_finished(work.name) and person.is_done, 10 * END_S, "the end", every_s=0.05)
        look_once_more(reader)
        wait_until(lambda: stream.state == "finished", END_S, "the end of the stream", every_s=0.05)
    assert stream.finished == sorted(stream.finished)
    assert stream.finished[-1] == size.games
    check(arena, work.name, size.games, person)


def check(arena: Cluster, name: str, games: int, person: Person) -> None:
    """Check that no game failed, that no bot is to blame for anything, that all that is shown holds."""
    wait_until(lambda: is_settled(arena.store, IDS), END_S, "nothing to do any more", every_s=0.05)
    check_settled(arena.store, IDS)
    check_whole(arena.store, name, games)
    outcomes = {each for result in arena.store.tournaments.results(name) for seat in result.outcomes for each in seat}
    assert outcomes == {"ok"}
    assert {bot.state for bot in arena.store.bots.get_many(IDS)} == {BotState.ACTIVE}
    with arena.client() as client:
        check_records(arena.store, name, client.records(name))
        check_recomputed(client, name)
        shown = read(client.record(person.game_id))
    verify(shown)
    person.check(shown)


@pytest.mark.parametrize(
    "size",
    [
        pytest.param(Size(rounds=25, share=200, times=1), id="100 games"),
        pytest.param(Size(rounds=500, share=2_000, times=2), id="2000 games", marks=pytest.mark.soak),
    ],
)
def test_every_process_is_replaced_during_a_tournament_and_nobody_notices(tmp_path, size):
    """First in order, one after the other, then the stores, at last a whole host without warning."""
    with Cluster(tmp_path / "arena", bots=BOTS, think_ms=10, max_games=6) as arena, told_of_failure(arena):
        come_and_go(arena, size)
