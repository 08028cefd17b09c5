import cProfile

from benchmarks.profiled import by_room
from bot_sdk.cards import parse_card
from bot_sdk.messages import ChallengeReply, encode


def test_time_is_counted_for_the_room_it_was_spent_in_and_of_c_functions_for_who_called_them():
    def play():
        for _ in range(1000):
            parse_card("QH")
            encode(ChallengeReply("a", "b"))

    profile = cProfile.Profile()
    profile.runcall(play)
    spent = by_room(profile)
    assert set(spent) >= {"bot_sdk/cards", "tests/benchmarks"}
    assert all(seconds > 0 for seconds in spent.values())
    assert not any(room.startswith("~") for room in spent)
