from benchmarks.ground import BotServer, Ground
from benchmarks.growth import copy
from service.referee.table import Table
from service.store import keys


def ids(redis, key):
    return [member.decode().rpartition(":")[2] for member in redis.zrange(key, 0, -1)]


def test_copies_are_games_and_tournaments_of_their_own(monkeypatch):
    monkeypatch.setenv("SLAGVELD_SWEEP_MS", "50")
    with BotServer() as bots, Ground(bots) as ground:
        held = ground.start("seven_up", 2)
        ground.wait_for(held)
        assert copy(ground.redis, held, 5) == 6
        tournaments, games = ids(ground.redis, keys.TOURNAMENTS), ids(ground.redis, keys.GAMES)
        assert (len(set(tournaments)), len(set(games))) == (4, 8)
        assert [game.id for game in ground.store.games.get_many(games)] == games
        held_by = {name: ids(ground.redis, keys.tournament_games(name)) for name in tournaments}
        assert sorted(game for listed in held_by.values() for game in listed) == sorted(games)
        for name, listed in held_by.items():
            assert {result.game_id for result in ground.store.tournaments.results(name)} == set(listed)
            assert {game.slot.tournament_id for game in ground.store.games.get_many(listed)} == {name}
        tables = [Table.replayed(*ground.store.games.load(game_id)) for game_id in games]  # by the rules, all of it
        assert all(table.game.is_over for table in tables)
        assert len({tuple(table.game.log) for table in tables}) == 2
        own = {name.decode().partition("}")[2] for name in ground.redis.scan_iter("*{g:*")}
        assert ":packed" in own
        assert not own & {":meta", ":log"}
