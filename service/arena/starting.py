"""Starting games of a tournament, as far as bots and workers have room."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from bot_sdk.bots import PREFIX
from bot_sdk.games.packs import board_secret, commitment
from bot_sdk.games.registry import ruleset
from bot_sdk.results.values import GameState, Slot
from service.arena.minting import short
from service.arena.seating import bot_seat, house_seat
from service.referee.table import BOT
from service.store import unfinished
from service.store.entities import Bot, BotState, Game, Seat, Tournament
from service.store.store import Store
from service.tournaments.boards import Place, label_of


@dataclass(frozen=True, slots=True)
class Attempt:
    """A game to be played: the how-manieth try at a place of the schedule."""

    place: Place
    number: int

    @property
    def slot(self) -> Slot:
        """Where in the tournament, on which board."""
        return self.place.slot(self.number)

    @property
    def game_id(self) -> str:
        """The id of this attempt's game: the same whoever works it out."""
        place = self.place
        named = f"{place.tournament_id}/{place.round}/{place.table}/{place.leg}/{self.number}"
        return "gam_" + short(hashlib.sha256(named.encode()).digest())

    @property
    def following(self) -> Attempt:
        """The next attempt at the same place."""
        return Attempt(self.place, self.number + 1)


class Starting:
    """Starts games of one tournament as far as bots and workers have room; made anew for each look."""

    def __init__(self, store: Store, tournament: Tournament, due_at: int, clock: Callable[[], int]) -> None:
        """Read entries, bots and how much they play already."""
        self._store = store
        self._tournament = tournament
        self._due_at = due_at
        self._clock = clock
        self._root_secret = store.tournaments.secret(tournament.id)
        self._entries = {entry.bot_id: entry for entry in store.tournaments.entries(tournament.id)}
        ids = [bot_id for bot_id in self._entries if not bot_id.startswith(PREFIX)]
        self._bots = {bot.id: bot for bot in store.bots.get_many(ids) if bot is not None}
        self._playing = {bot_id: self._counted(bot_id) for bot_id in self._bots}
        self._pruned: set[str] = set()
        self.is_held_up = False
        """Whether a game waits since a bot plays as many as it takes."""

    def start(self, ready: Iterable[Attempt], room: int) -> list[str]:
        """Make at most `room` games; give their ids."""
        made: list[str] = []
        for attempt in ready:
            if len(made) >= room:
                break
            if not (self._has_room(attempt) and self._reserve(attempt)):
                self.is_held_up = True
            elif self._make(attempt):
                made.append(attempt.game_id)
        return made

    def _active(self, bot_id: str) -> Bot | None:
        """Give a registered bot that still plays here, None for one that forfeits."""
        bot = self._bots.get(bot_id)
        is_in = self._entries[bot_id].withdrawn_at is None
        return bot if bot is not None and bot.state is BotState.ACTIVE and is_in else None

    def _limited(self, attempt: Attempt) -> list[Bot]:
        found = [self._active(bot_id) for bot_id in attempt.place.bots if not bot_id.startswith(PREFIX)]
        return [bot for bot in found if bot is not None]

    def _counted(self, bot_id: str) -> set[str]:
        return set(self._store.unfinished.games(unfinished.bot(bot_id)))

    def _has_room(self, attempt: Attempt) -> bool:
        return all(self._has_place(bot, attempt.game_id) for bot in self._limited(attempt))

    def _has_place(self, bot: Bot, game_id: str) -> bool:
        """Tell whether a bot may play one more; before it is thought full, what has ended is counted no longer."""
        if self._is_full(bot, game_id) and bot.id not in self._pruned:
            self._pruned.add(bot.id)
            if self._store.unfinished.prune(unfinished.bot(bot.id)):
                self._playing[bot.id] = self._counted(bot.id)
        return not self._is_full(bot, game_id)

    def _is_full(self, bot: Bot, game_id: str) -> bool:
        return len(self._playing[bot.id] - {game_id}) >= bot.max_games

    def _reserve(self, attempt: Attempt) -> bool:
        reserved: list[str] = []
        for bot in self._limited(attempt):
            if not self._store.unfinished.reserve(unfinished.bot(bot.id), attempt.game_id, bot.max_games):
                for name in reserved:
                    self._store.unfinished.drop(name, attempt.game_id)
                self._playing[bot.id] = self._counted(bot.id)
                return False
            reserved.append(unfinished.bot(bot.id))
            self._playing[bot.id].add(attempt.game_id)
        return True

    def _make(self, attempt: Attempt) -> bool:
        store, slot = self._store, attempt.slot
        if not store.tournaments.claim(self._tournament.id, slot):
            return False
        secret = board_secret(self._root_secret, slot.board)
        if store.games.create(self._game(attempt, secret), secret=secret, due_at=self._due_at):
            return True
        self._leave_to_its_maker(attempt)
        return False

    def _leave_to_its_maker(self, attempt: Attempt) -> None:
        """Take back what was counted for a game that another sweeper has made, should it have ended by now."""
        made = self._store.games.get(attempt.game_id)
        if made is not None and made.state.is_end:
            self._store.games.settle(made)

    def _game(self, attempt: Attempt, secret: bytes) -> Game:
        tournament = self._tournament
        label = label_of(tournament.id, attempt.slot.board)
        return Game(
            id=attempt.game_id,
            ruleset=tournament.ruleset,
            rules=ruleset(tournament.ruleset).version,
            options=tournament.options,
            seats=[self._seat(bot_id) for bot_id in attempt.place.bots],
            limits=tournament.limits,
            label=label,
            commitment=commitment(secret, label),
            entropy=[entry.entropy for entry in self._entries.values()],
            forfeited=[seat for seat, bot_id in enumerate(attempt.place.bots) if self._forfeits(bot_id)],
            slot=attempt.slot,
            state=GameState.RUNNING,
            created_at=self._clock(),
        )

    def _forfeits(self, bot_id: str) -> bool:
        if bot_id.startswith(PREFIX):
            return self._entries[bot_id].withdrawn_at is not None
        return self._active(bot_id) is None

    def _seat(self, bot_id: str) -> Seat:
        if bot_id.startswith(PREFIX):
            return house_seat(bot_id.removeprefix(PREFIX))
        bot = self._bots.get(bot_id)
        entry = self._entries[bot_id]
        return bot_seat(bot) if bot else Seat(kind=BOT, name=entry.name, bot_id=bot_id, account_id=entry.account_id)
