from __future__ import annotations

import pytest

from service.store.accounts import Token
from service.store.entities import Account
from service.store.errors import FullError, LastError


def test_account_is_kept_once(store):
    account = Account(id="acc_1", name="Ada", created_at=1)
    assert store.accounts.create(account)
    assert store.accounts.create(account)
    assert not store.accounts.create(Account(id="acc_1", name="Bob", created_at=2))
    assert store.accounts.get("acc_1") == account
    assert store.accounts.get("acc_none") is None


def test_token_stands_for_its_account_until_revoked(store):
    tokens = [Token(id=f"tok_{n}", account_id="acc_1", scopes=["play"], created_at=n) for n in (2, 1)]
    for token in tokens:
        store.accounts.add_token(token, f"digest-{token.id}", most=2)
    assert store.accounts.token("digest-tok_1") == tokens[1]
    assert store.accounts.tokens("acc_1") == tokens[::-1]
    assert store.accounts.revoke("acc_1", "tok_1")
    assert not store.accounts.revoke("acc_1", "tok_1")
    assert not store.accounts.revoke("acc_other", "tok_2")
    with pytest.raises(LastError):
        store.accounts.revoke("acc_1", "tok_2")
    assert store.accounts.token("digest-tok_1") is None
    assert store.accounts.tokens("acc_1") == [tokens[0]]
    assert store.accounts.tokens("acc_none") == []


def test_account_with_as_many_tokens_as_it_may_have_gets_no_further(store):
    store.accounts.add_token(Token(id="tok_1", account_id="acc_1", created_at=1), "digest-1", most=1)
    store.accounts.add_token(Token(id="tok_1", account_id="acc_1", created_at=1), "digest-1", most=1)
    with pytest.raises(FullError):
        store.accounts.add_token(Token(id="tok_2", account_id="acc_1", created_at=2), "digest-2", most=1)
    assert store.accounts.token("digest-2") is None


def test_token_made_while_all_are_revoked_can_be_revoked_after_them(store, redis, monkeypatch):
    late = Token(id="tok_2", account_id="acc_1", created_at=2)
    store.accounts.add_token(Token(id="tok_1", account_id="acc_1", created_at=1), "digest-1", most=9)
    begin = redis.__class__.pipeline

    def interrupted(self, *args, **kwargs):
        store.accounts.add_token(late, "digest-2", most=9)
        return begin(self, *args, **kwargs)

    with monkeypatch.context() as amid:
        amid.setattr(redis.__class__, "pipeline", interrupted)
        store.accounts.revoke_all("acc_1")
    assert store.accounts.tokens("acc_1") == [late]
    store.accounts.revoke_all("acc_1")
    store.accounts.revoke_all("acc_1")
    assert (store.accounts.token("digest-1"), store.accounts.token("digest-2")) == (None, None)


def test_accounts_are_listed_newest_first(store):
    for n in range(3):
        store.accounts.create(Account(id=f"acc_{n}", name="x", created_at=n))
    first, cursor = store.accounts.list_all(limit=2)
    rest, end = store.accounts.list_all(limit=2, cursor=cursor)
    assert [account.id for account in first + rest] == ["acc_2", "acc_1", "acc_0"]
    assert end is None
