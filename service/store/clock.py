"""The store's clock, the one that all processes share, and what becomes of things when somebody sets it.

Deadlines, leases and all that is due are times of that clock. When it is set an hour on or back, nobody is to lose his
time and nothing to stand still. Whoever reads it notices by his own monotonic clock that it has jumped, and notes that;
from then on stamps of before count as the clock would give them now (`Moment.adjusted`). When it went back, `mend` has
all that is due looked at again, and what expires do so as much earlier.
"""

from __future__ import annotations

import secrets
import time
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

import msgspec
from msgspec.structs import replace

from service.store import keys
from service.store.documents import encode
from service.store.lua import Scripts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from redis import Redis

    from service.store.roundtrip import Command

TOLERANCE_MS: Final = 10_000
"""A clock that was set by less than this hasn't jumped."""
DRIFT: Final = 0.001
"""How far two clocks may drift apart, as a share of the time that has passed."""
MARGIN_MS: Final = 60_000
"""How far in the future a stamp must lie to be one of before the clock went back: whoever asks may know an old now."""
SOON_MS: Final = 60_000
"""What expires within this is left alone when the clock went back: it may have been set since. So may some of what
lasts longer, but nothing of ours suffers from expiring early: leases are taken again, requests repeated."""
MOST_JUMPS: Final = 8
_LETTERS: Final = 17
_PAGE: Final = 500


class Jump(NamedTuple):
    """The clock said `before`, and would have gone on from there, when it came to say `after` (Unix ms)."""

    before: int
    after: int


class Moment(NamedTuple):
    """What the clock says now (Unix ms), and how it has jumped lately, in the order in which it did."""

    now: int
    jumps: tuple[Jump, ...] = ()

    def adjusted(self, stamp: int) -> int:
        """Give the time at which the clock, as it is set now, would have stamped what it stamped at `stamp`.

        Whether a stamp is of before the clock went back can be told as long as it lies in the future. What was
        stamped longer before than the clock has gone on since counts as of after it, and gives more time.
        """
        ends = [jump.before for jump in self.jumps] + [self.now]  # how far the clock had come by the next jump
        for (before, after), end in zip(self.jumps, ends[1:], strict=True):
            is_earlier = stamp < (before + after) // 2 if before < after else stamp > end + MARGIN_MS
            stamp += after - before if is_earlier else 0
        return stamp


class _Kept(msgspec.Struct, frozen=True):
    """How often the clock has jumped, after how many of those things were mended, and the last jumps."""

    count: int = 0
    mended: int = 0
    jumps: list[Jump] = []

    @property
    def unmended(self) -> list[Jump]:
        """The jumps after which nothing was mended yet."""
        return self.jumps[self.mended - self.count :] if self.count > self.mended else []


class _Look(NamedTuple):
    """One look at the clock, between two moments (s) of our own, and what was noted then."""

    now: int
    sent: float
    received: float
    raw: bytes
    kept: _Kept


_kept = msgspec.json.Decoder(_Kept).decode


class Clock:
    """The clock as one process reads it. `monotonic` gives seconds; `nonce` 16 letters, new each time."""

    def __init__(
        self,
        redis: Redis,
        *,
        monotonic: Callable[[], float] = time.monotonic,
        nonce: Callable[[], str] = lambda: secrets.token_hex(8),
    ) -> None:
        self._redis = redis
        self._scripts = Scripts(redis)
        self._monotonic = monotonic
        self._nonce = nonce
        self._last: _Look | None = None

    def read(self) -> Moment:
        """Give what the clock says, and note if it has jumped since this process read it last."""
        look = self._look()
        return Moment(look.now, tuple(look.kept.jumps))

    def asking(self) -> tuple[list[Command], float]:
        """Give the commands by which the clock can be read together with other things, and the moment; see `told`.

        What is noted is asked first: a jump between the two is then seen, never missed.
        """
        return [("GET", keys.CLOCK), ("TIME",)], self._monotonic()

    def told(self, answers: Sequence[Any], sent: float) -> Moment:
        """Give what the clock says, as `read`, by the answers to commands of `asking` and the moment it gave."""
        raw, (seconds, micros) = answers
        look = self._noticed(self._looked(raw, seconds, micros, sent))
        return Moment(look.now, tuple(look.kept.jumps))

    def reckoned(self) -> float | None:
        """Give the time in Unix seconds as it follows from the last reading, without asking; None before the first."""
        last = self._last
        return None if last is None else last.now / 1000 + self._monotonic() - last.received

    def mend(self) -> bool:
        """Have nothing wait for a time that has moved away, if the clock went back; tell whether there was need.

        Safe to repeat. Whoever breaks off in the middle leaves it to the next.
        """
        look = self._look()
        if look.kept.mended == look.kept.count:
            return False
        back = sum(before - after for before, after in look.kept.unmended if after < before)
        if back:
            self._hurry(look.now, back)
        self._put(look.raw, replace(look.kept, mended=look.kept.count))
        return True

    # --- noticing -----------------------------------------------------------------------------------------------------

    def _look(self) -> _Look:
        return self._noticed(self._seen())

    def _noticed(self, look: _Look) -> _Look:
        last = self._last
        jump = self._since_another_life(look) if last is None else _jump_between(last, look)
        if jump is not None:
            known = look.kept
            jumps = [*known.jumps, jump][-MOST_JUMPS:]
            self._put(look.raw, replace(known, count=known.count + 1, jumps=jumps))
            look = self._seen()
        self._last = look
        return look

    def _seen(self) -> _Look:
        sent = self._monotonic()
        with self._redis.pipeline(transaction=True) as pipe:
            pipe.time()
            pipe.get(keys.CLOCK)
            (seconds, micros), raw = pipe.execute()
        return self._looked(raw, seconds, micros, sent)

    def _looked(self, raw: bytes | None, seconds: bytes | int, micros: bytes | int, sent: float) -> _Look:
        return _Look(int(seconds) * 1000 + int(micros) // 1000, sent, self._monotonic(), raw or b"", _read(raw))

    def _since_another_life(self, look: _Look) -> Jump | None:
        """Tell whether the clock says less than when a worker, perhaps one that is gone, was there."""
        found = self._redis.zrange(keys.WORKERS, -1, -1, withscores=True)
        latest = max((int(at) for _, at in cast("list[tuple[bytes, float]]", found)), default=0)
        is_known = any(after < before for before, after in look.kept.unmended)
        return Jump(latest, look.now) if latest > look.now + TOLERANCE_MS and not is_known else None

    def _put(self, seen: bytes, new: _Kept) -> None:
        """Put it in the place of what was seen; if another was faster, what he has put stands."""
        self._scripts.run("put", [keys.CLOCK], [seen, f"{self._nonce()} ".encode() + encode(new)])

    # --- mending ------------------------------------------------------------------------------------------------------

    def _hurry(self, now: int, back: int) -> None:
        """Make due now what is due later, and let what expires do so by `back` (ms) earlier."""
        self._redis.zremrangebyscore(keys.WORKERS, f"({now + TOLERANCE_MS}", "+inf")
        later = cast("list[bytes]", self._redis.zrange(keys.DUE, f"({now}", "+inf", byscore=True))
        for names in _pages(later):
            self._redis.zadd(keys.DUE, dict.fromkeys(names, now), xx=True)
        for names in _pages(self._redis.scan_iter(count=_PAGE)):
            self._expire_earlier(names, back)

    def _expire_earlier(self, names: list[bytes], back: int) -> None:
        with self._redis.pipeline(transaction=False) as pipe:
            for name in names:
                pipe.pttl(name)
            left = dict(zip(names, pipe.execute(), strict=True))
            for name, ms in left.items():
                if ms > SOON_MS:
                    pipe.pexpire(name, max(1, ms - back), lt=True)
            pipe.execute()


class Agreed:
    """The time, Unix seconds, on which two of three clocks agree; so what is signed for bots stays good if one is set.

    They are this machine's, the store's, and this machine's as it was at first and has gone on by the monotonic one.
    """

    def __init__(
        self, clock: Clock, *, wall: Callable[[], float] = time.time, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._wall = wall
        self._monotonic = monotonic
        self._began = wall() - monotonic()

    def __call__(self) -> float:
        """Give it, without asking anybody."""
        wall, steady, reckoned = self._wall(), self._began + self._monotonic(), self._clock.reckoned()
        return wall if reckoned is None else sorted((wall, steady, reckoned))[1]


def _read(raw: bytes | None) -> _Kept:
    """Give what is noted; a note that is damaged counts as none, for everything waits for the clock."""
    try:
        return _Kept() if raw is None else _kept(raw[_LETTERS:])
    except msgspec.DecodeError:
        return _Kept()


def _jump_between(last: _Look, look: _Look) -> Jump | None:
    """Tell whether the clock has gone on otherwise than ours; not if another has noted that since."""
    if look.kept.count != last.kept.count:
        return None
    least = last.now + int((look.sent - last.received) * 1000)
    most = last.now + int((look.received - last.sent) * 1000)
    slack = TOLERANCE_MS + int((look.received - last.sent) * 1000 * DRIFT)
    if look.now > most + slack:
        return Jump(most, look.now)
    return Jump(least, look.now) if look.now < least - slack else None


def _pages(names: Iterable[bytes]) -> Iterable[list[bytes]]:
    left = iter(names)
    return iter(lambda: list(islice(left, _PAGE)), [])
