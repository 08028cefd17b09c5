"""Packs against the vectors of docs/deals.md, and what they refuse."""

from __future__ import annotations

import hashlib
import hmac
import random
from collections import Counter

import pytest

from bot_sdk.cards import NAMES
from bot_sdk.games import packs
from bot_sdk.games.packs import FairnessError

ZERO = bytes(32)


def names(pack: list[int], count: int) -> str:
    return " ".join(NAMES[card] for card in pack[:count])


def test_commitment_is_the_published_vector() -> None:
    assert packs.commitment(ZERO, "game:42") == "eea65ddf159e9706793efa26ef607be999b25bdf4b3ab9e13ab2dbe1565d3eae"


def test_deal_0_is_the_published_vector() -> None:
    pack = packs.committed(ZERO, "game:42", ["alice", "bob"])(0)
    assert names(pack, 10) == "5S 7S AS 3D 3C 3S 4H 8C JH QC"


def test_a_deal_with_a_rejected_word_is_the_published_vector() -> None:
    pack = packs.committed(ZERO, "game:42", ["alice", "bob"])(7375980)
    assert names(pack, 10) == "7D AH 7H 9D KC 6C 2H KS 3S JD"


def plain_deck(secret: bytes, label: str, entropy: list[str], deal: int) -> list[int]:
    """Shuffle once more, word for word as docs/deals.md says it."""

    def mac(key: bytes, message: bytes) -> bytes:
        return hmac.new(key, message, hashlib.sha256).digest()

    mix = b"slagveld/mix/v1\0" + label.encode()
    for text in entropy:
        mix += len(text.encode()).to_bytes(2, "big") + text.encode()
    key = mac(mac(secret, mix), b"deal" + deal.to_bytes(4, "big"))
    stream = b"".join(mac(key, i.to_bytes(8, "big")) for i in range(20))
    words = [int.from_bytes(stream[at : at + 4], "big") for at in range(0, len(stream), 4)]
    deck = list(range(52))
    for i in range(51, 0, -1):
        while words[0] >= 2**32 // (i + 1) * (i + 1):
            words.pop(0)
        j = words.pop(0) % (i + 1)
        deck[i], deck[j] = deck[j], deck[i]
    return deck


def test_packs_are_those_of_a_second_implementation() -> None:
    rng = random.Random(6)
    for _ in range(200):
        secret = rng.randbytes(32)
        label = f"gam_{rng.random()}"
        entropy = [rng.choice(["", "é", "x" * 256, "bob"]) for _ in range(rng.randrange(2, 9))]
        deal = rng.choice([0, 1, 255, 2**31])
        assert packs.committed(secret, label, entropy)(deal) == plain_deck(secret, label, entropy, deal)


def test_every_pack_holds_52_different_cards() -> None:
    for deal in range(100):
        assert sorted(packs.seeded("any", 2)(deal)) == list(range(52))


def test_every_card_comes_to_every_place() -> None:
    shuffle = packs.seeded("spread", 2)
    met = Counter((at, card) for deal in range(1000) for at, card in enumerate(shuffle(deal)))
    assert len(met) == 52 * 52
    # 1000 draws of 1/52 have mean 19.2 and standard deviation 4.3
    assert 2 <= min(met.values()) <= max(met.values()) <= 48


@pytest.mark.parametrize(
    ("secret", "label", "entropy"),
    [
        (bytes(31) + b"\1", "game:42", ["alice", "bob"]),
        (ZERO, "game:43", ["alice", "bob"]),
        (ZERO, "game:42", ["alice", "bo"]),
        (ZERO, "game:42", ["alic", "ebob"]),
        (ZERO, "game:42", ["bob", "alice"]),
        (ZERO, "game:42", ["alice", "bob", ""]),
    ],
)
def test_secret_label_and_each_entropy_change_the_pack(secret: bytes, label: str, entropy: list[str]) -> None:
    assert packs.committed(secret, label, entropy)(0) != packs.committed(ZERO, "game:42", ["alice", "bob"])(0)


def test_entropy_counts_bytes_of_utf_8() -> None:
    packs.committed(ZERO, "x", ["é" * 128])
    with pytest.raises(FairnessError, match="at most 256 bytes of entropy, got 258"):
        packs.committed(ZERO, "x", ["é" * 129])


@pytest.mark.parametrize("size", [0, 31, 33])
def test_a_secret_has_32_bytes(size: int) -> None:
    with pytest.raises(FairnessError, match=f"expected a secret of 32 bytes, got {size}"):
        packs.commitment(bytes(size), "x")
    with pytest.raises(FairnessError, match=f"got {size}"):
        packs.committed(bytes(size), "x", [])


def test_a_label_holds_no_nul() -> None:
    with pytest.raises(FairnessError, match="without NUL"):
        packs.commitment(ZERO, "a\0b")


def test_seed_board_and_table_size_name_the_packs_of_offline_play() -> None:
    assert packs.seeded("s", 2, 1)(0) == packs.seeded("s", 2, 1)(0)
    different = [
        packs.seeded("s", 2, 1)(0),
        packs.seeded("s", 2, 2)(0),
        packs.seeded("t", 2, 1)(0),
        packs.seeded("s", 4, 1)(0),
    ]
    assert len({tuple(pack) for pack in different}) == 4


def test_given_packs_come_in_turn_and_then_no_more() -> None:
    first, second = list(range(52)), list(range(51, -1, -1))
    deal = packs.given([first, second])
    assert [deal(0), deal(1)] == [first, second]
    with pytest.raises(FairnessError, match="expected a pack for deal 2, got 2 packs"):
        deal(2)
