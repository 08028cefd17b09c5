"""Signatures by the scheme of Standard Webhooks, and the proof that answers a challenge."""

from __future__ import annotations

import base64
import hashlib
import hmac
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standardwebhooks import Webhook

from bot_sdk.signing import SigningError, check_secret, is_proof, make_secret, proof, sign, verify

SECRET = make_secret(bytes(range(32)))
OTHER = make_secret(b"o" * 24)
NOW = 1_700_000_000
BODY = '{"type":"decision","note":"é☃"}'.encode()


def test_the_vector_of_the_scheme():
    headers = sign(
        "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}', ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"]
    )
    assert headers == {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }


@given(st.text(), st.integers(0, 10**10), st.binary(min_size=24, max_size=64))
def test_the_arena_signs_as_the_package_does(text, timestamp, key):
    secret = make_secret(key)
    theirs = Webhook(secret).sign("msg_1", datetime.fromtimestamp(timestamp, UTC), text)
    assert sign("msg_1", timestamp, text.encode(), [secret])["webhook-signature"] == theirs


def test_what_is_signed_verifies_and_gives_the_id():
    headers = sign("msg_1", NOW, BODY, [SECRET])
    assert verify(headers, BODY, [SECRET], now=NOW) == "msg_1"
    assert verify({name.title(): value for name, value in headers.items()}, BODY, [SECRET], now=NOW) == "msg_1"


def test_during_a_rotation_either_side_may_hold_two_secrets():
    both = sign("msg_1", NOW, BODY, [OTHER, SECRET])
    assert both["webhook-signature"].count("v1,") == 2
    for known in ([OTHER], [SECRET], [SECRET, OTHER]):
        verify(both, BODY, known, now=NOW)
    verify(sign("msg_1", NOW, BODY, [SECRET]), BODY, [OTHER, SECRET], now=NOW)


def test_signatures_of_other_versions_are_passed_over():
    headers = sign("msg_1", NOW, BODY, [SECRET])
    headers["webhook-signature"] = "v1a,xxxx v2 , " + headers["webhook-signature"] + " v1"
    verify(headers, BODY, [SECRET], now=NOW)


@pytest.mark.parametrize("secrets", [[], [OTHER]])
def test_another_secret_does_not_verify(secrets):
    with pytest.raises(SigningError, match="no signature fits"):
        verify(sign("msg_1", NOW, BODY, [SECRET]), BODY, secrets, now=NOW)


@pytest.mark.parametrize(
    "change",
    [
        {"webhook-id": "msg_2"},
        {"webhook-id": ""},
        {"webhook-id": "msg 1"},
        {"webhook-id": "msg_\ud800"},
        {"webhook-timestamp": str(NOW + 1)},
        {"webhook-timestamp": ""},
        {"webhook-timestamp": "now"},
        {"webhook-timestamp": f"{NOW}.0"},
        {"webhook-timestamp": "٣"},
        {"webhook-timestamp": "1" * 5000},
        {"webhook-signature": ""},
        {"webhook-signature": "v1"},
        {"webhook-signature": "v1,"},
        {"webhook-signature": "v1,not base64!"},
        {"webhook-signature": "v1,\ud800"},
        {"webhook-signature": "nonsense"},
        {"webhook-signature": sign("msg_1", NOW, BODY, [SECRET])["webhook-signature"][3:]},
    ],
)
def test_anything_else_is_a_signing_error(change):
    with pytest.raises(SigningError):
        verify(sign("msg_1", NOW, BODY, [SECRET]) | change, BODY, [SECRET], now=NOW)


@pytest.mark.parametrize("missing", ["webhook-id", "webhook-timestamp", "webhook-signature"])
def test_a_missing_header_is_named(missing):
    headers = sign("msg_1", NOW, BODY, [SECRET])
    del headers[missing]
    with pytest.raises(SigningError, match=missing):
        verify(headers, BODY, [SECRET], now=NOW)


@pytest.mark.parametrize("body", [BODY[:-1], BODY + b" ", b"", b"\xff"])
def test_another_body_does_not_verify(body):
    with pytest.raises(SigningError):
        verify(sign("msg_1", NOW, BODY, [SECRET]), body, [SECRET], now=NOW)


def test_a_message_is_good_for_five_minutes_either_way():
    headers = sign("msg_1", NOW, BODY, [SECRET])
    for now in (NOW - 300, NOW + 300):
        verify(headers, BODY, [SECRET], now=now)
    for now in (NOW - 301, NOW + 301):
        with pytest.raises(SigningError, match="clock"):
            verify(headers, BODY, [SECRET], now=now)


@pytest.mark.parametrize("webhook_id", ["", "a b", "a\r\nhost: x", "é", "a\0"])
def test_an_id_that_is_no_header_is_not_signed(webhook_id):
    with pytest.raises(SigningError):
        sign(webhook_id, NOW, BODY, [SECRET])


def test_nothing_is_signed_without_a_secret():
    with pytest.raises(SigningError):
        sign("msg_1", NOW, BODY, [])


@pytest.mark.parametrize("size", [0, 23, 65])
def test_a_secret_is_made_of_24_to_64_bytes(size):
    with pytest.raises(SigningError, match="24 to 64"):
        make_secret(bytes(size))


@pytest.mark.parametrize(
    "secret",
    [
        "",
        "whsec_",
        "geheim",
        SECRET[6:],
        "whsec_" + "A" * 8,
        "whsec_" + "A" * 200,
        "whsec_!" + SECRET[6:],
        SECRET + "é",
    ],
)
def test_what_is_no_secret_is_refused_and_not_shown(secret):
    with pytest.raises(SigningError) as caught:
        check_secret(secret)
    assert not secret or secret not in str(caught.value) or secret == "whsec_"


def test_padding_may_be_left_out():
    assert proof(SECRET.rstrip("="), "bot_1", "c") == proof(SECRET, "bot_1", "c")


def test_a_proof_is_the_hmac_under_the_decoded_key():
    key = base64.b64decode(SECRET.removeprefix("whsec_"))
    assert proof(SECRET, "bot_1", "c0ffee") == hmac.new(key, b"bot_1.c0ffee", hashlib.sha256).hexdigest()


def test_a_proof_is_of_one_bot_one_challenge_and_one_secret():
    good = proof(SECRET, "bot_1", "c0ffee")
    assert is_proof(good, SECRET, "bot_1", "c0ffee")
    assert not is_proof(good, OTHER, "bot_1", "c0ffee")
    assert not is_proof(good, SECRET, "bot_2", "c0ffee")
    assert not is_proof(good, SECRET, "bot_1", "c0ffeE")
    for wrong in ("", good.upper(), "é", "\ud800"):
        assert not is_proof(wrong, SECRET, "bot_1", "c0ffee")
