"""One examination: every key is looked at, what seems wrong is looked at once more, and what still does is told."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from service.doctor.bots import BotCheck, CheckCheck, ErasureCheck
from service.doctor.games import GameCheck, PackCheck
from service.doctor.keyspace import JOIN, KeyCheck, MemberCheck, shown
from service.doctor.kinds import ADVICE, Severity
from service.doctor.surroundings import Surroundings
from service.doctor.suspects import UNREADABLE, Check, Suspect
from service.doctor.tournaments import TournamentCheck
from service.doctor.waiting import CounterCheck, DueCheck
from service.outbound.guard import Guard
from service.store import catalogue, keys
from service.store.inspection import Inspection
from service.store.store import Store

BETWEEN_S: Final = 1.0
"""How long between the two looks: longer than anything of ours is under way that isn't stamped with its time."""
MOST_KEPT: Final = 10_000
"""So many suspicions of a kind are looked at once more; more of the same say nothing new."""
PAGE: Final = 500


class Finding(NamedTuple):
    """What is wrong, by its code (`kinds.ADVICE`), with what, and how that is called for who mends it."""

    code: str
    where: str
    subject: str


class Findings(NamedTuple):
    """What an examination came to. `keys` were looked at; of the codes in `cut` there is more than is found."""

    found: list[Finding]
    keys: int
    cut: frozenset[str] = frozenset()

    @property
    def needs_somebody(self) -> bool:
        """Whether anything was lost, or won't heal by itself."""
        advice = [ADVICE[each.code] for each in self.found]
        return any(a.severity is Severity.ERROR or (a.severity is Severity.WARNING and a.heals is None) for a in advice)


class Examination:
    """Examines one store. `monotonic` and `sleep` are in seconds; `seconds` are what the first look may take."""

    def __init__(
        self,
        store: Inspection,
        values: Store,
        guard: Guard,
        surroundings: Surroundings,
        *,
        is_still: bool,
        seconds: float,
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        """Keep where it looks."""
        self._store = store
        self._surroundings = surroundings
        self._is_still = is_still
        self._seconds = seconds
        self._monotonic = monotonic
        self._sleep = sleep
        self._keys = KeyCheck(store)
        self._members = MemberCheck(store)
        self._due = DueCheck(store, is_still=is_still)
        self._by_kind: Mapping[object, Check] = {
            keys.game_meta: GameCheck(store, values),
            keys.game_packed: PackCheck(store),
            keys.tournament: TournamentCheck(store, values),
            keys.bot: BotCheck(store, values, guard),
            keys.check: CheckCheck(store, values),
            keys.erasure: ErasureCheck(store),
        }
        self._counters = CounterCheck(store, values)
        self._seen = 0
        self._kept: Counter[str] = Counter()
        self._cut: set[str] = set()

    def run(self) -> Findings:
        """Examine; raises what redis-py raises if the store can't be read."""
        standing = [Finding(*each) for each in self._surroundings.look()]
        suspects: dict[Check, dict[Suspect, None]] = defaultdict(dict)
        ends = self._monotonic() + self._seconds
        is_whole = self._gather(suspects, ends)
        if any(suspects.values()) and not self._is_still:
            self._sleep(BETWEEN_S)
        for check, first in suspects.items():
            standing += self._confirmed(check, first)
        if not is_whole:
            standing.append(Finding("not_all_seen", f"{self._seen} of {self._store.size()} keys", ""))
        order = list(ADVICE)
        found = sorted(set(standing), key=lambda each: (order.index(each.code), each.where))
        return Findings(found, self._seen, frozenset(self._cut))

    def _gather(self, suspects: Mapping[Check, dict[Suspect, None]], ends: float) -> bool:
        """Look at everything once; False if the time was up before."""
        for check, subjects in self._everything():
            for suspect in looked(check, subjects):
                self._keep(suspects[check], suspect)
            if self._monotonic() > ends:
                return False
        return True

    def _keep(self, kept: dict[Suspect, None], suspect: Suspect) -> None:
        if suspect in kept:
            return
        if self._kept[suspect.code] < MOST_KEPT:
            self._kept[suspect.code] += 1
            kept[suspect] = None
        else:
            self._cut.add(suspect.code)

    def _everything(self) -> Iterator[tuple[Check, Sequence[str]]]:
        for page in self._store.members(keys.DUE):
            yield self._due, [name for name, _ in page]
        for names in self._store.all_keys():
            yield self._keys, [name.decode(errors="surrogateescape") for name in names]
            yield from self._of_page(names)
            self._seen += len(names)

    def _of_page(self, names: Iterable[bytes]) -> Iterator[tuple[Check, Sequence[str]]]:
        by_check: dict[Check, list[str]] = defaultdict(list)
        for name in names:
            of = catalogue.named(name)
            if of is None:
                continue
            if of.kind.make in self._by_kind:
                by_check[self._by_kind[of.kind.make]].append(of.ident)
            elif of.kind.make == keys.unfinished:
                by_check[self._counters].append(name.decode())
            elif of.kind.lists:
                for page in self._store.members(name.decode()):
                    yield self._members, [f"{name.decode()}{JOIN}{member}" for member, _ in page]
        yield from by_check.items()

    def _confirmed(self, check: Check, first: Mapping[Suspect, None]) -> Iterator[Finding]:
        """Give what a second look says again, whatever else it says."""
        subjects = list(dict.fromkeys(each.subject for each in first))
        for start in range(0, len(subjects), PAGE):
            again = looked(check, subjects[start : start + PAGE])
            known = {(each.code, each.where) for each in first}
            yield from (Finding(*each) for each in again if (each.code, each.where) in known)


def looked(check: Check, subjects: Sequence[str]) -> list[Suspect]:
    """Give what a check suspects; one of these that it breaks on keeps it from no other, and is damaged."""
    try:
        return list(check.look(subjects))
    except UNREADABLE:
        if len(subjects) == 1:
            return [Suspect("key_damaged", shown(subjects[0].partition(JOIN)[0]), subjects[0])]
    half = len(subjects) // 2
    return [*looked(check, subjects[:half]), *looked(check, subjects[half:])]
