"""Which errors pass by themselves: as the server words them, alone and in a pipeline."""

from __future__ import annotations

import pytest
from redis import Redis
from redis._parsers import _RESP2Parser
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import ExecAbortError
from redis.exceptions import TimeoutError as RedisTimeoutError

from service.store.errors import DamagedError, passes, told_apart

LATER = [
    "OOM command not allowed when used memory > 'maxmemory'.",
    "OOM allow-oom flag is not set on the script, can not run it when used memory > 'maxmemory'",
    "READONLY You can't write against a read only replica.",
    "MISCONF Errors writing to the AOF file: No space left on device",
    "NOREPLICAS Not enough good replicas to write.",
    "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
    "LOADING Valkey is loading the dataset in memory",
    "BUSY Valkey is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
    "CLUSTERDOWN The cluster is down",
    "NOSCRIPT No matching script.",
    "TRYAGAIN Multiple keys request during rehashing of slot",
]
NEVER = [
    "WRONGTYPE Operation against a key holding the wrong kind of value",
    "ERR user_script:3: Script attempted to access nonexistent global variable 'x'",
    "ERR unknown command 'NONSENSE'",
    "NOPERM this user has no permissions to run the 'get' command",
    "ERR value is not an integer or out of range: caused error BUSY ",
]


def as_raised(text):
    return _RESP2Parser.parse_error(text)


def in_a_pipeline(text):
    error = as_raised(text)
    Redis().pipeline().annotate_exception(error, 1, ("SET", "a", "OOM BUSY "))
    return error


@pytest.mark.parametrize("made", [as_raised, in_a_pipeline])
@pytest.mark.parametrize("text", LATER)
def test_what_a_server_says_that_is_full_away_or_read_only_passes(text, made):
    assert passes(made(text))


@pytest.mark.parametrize("made", [as_raised, in_a_pipeline])
@pytest.mark.parametrize("text", NEVER)
def test_what_it_says_of_a_damaged_key_or_a_mistake_of_ours_does_not_pass(text, made):
    assert not passes(made(text))


@pytest.mark.parametrize("error", [RedisConnectionError("gone"), RedisTimeoutError("slow"), ExecAbortError("later")])
def test_a_server_that_can_not_be_reached_passes(error):
    assert passes(error)


def test_a_pipelines_answers_are_told_apart():
    never = as_raised(NEVER[0])
    first, second = told_apart([1, never])
    assert (first, type(second)) == (1, DamagedError)
    with pytest.raises(type(as_raised(LATER[0]))):
        told_apart([1, never, as_raised(LATER[0])])
