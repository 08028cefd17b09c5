"""What a store has done, as it counts that itself."""

from __future__ import annotations

from dataclasses import dataclass

from redis import Redis


@dataclass(frozen=True, slots=True)
class Spent:
    """What a store has counted since it began: the microseconds of its one thread, commands, bytes."""

    us: float
    commands: int
    scripts: int
    received: int
    sent: int
    journal: int

    @classmethod
    def of(cls, redis: Redis) -> Spent:
        """Look at a store; commands are counted one by one, those in scripts too."""
        told = redis.info("everything")
        calls = {name: each["calls"] for name, each in told.items() if name.startswith("cmdstat_")}
        return cls(
            us=1e6 * (told["used_cpu_user_main_thread"] + told["used_cpu_sys_main_thread"]),
            commands=sum(calls.values()),
            scripts=calls.get("cmdstat_evalsha", 0),
            received=told["total_net_input_bytes"],
            sent=told["total_net_output_bytes"],
            journal=told["aof_current_size"],
        )

    def since(self, before: Spent) -> Spent:
        """Give what was spent between two looks."""
        return Spent(*(getattr(self, name) - getattr(before, name) for name in self.__slots__))
