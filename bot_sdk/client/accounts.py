"""The part of the client that is about one's account and its tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bot_sdk.answers import AccountMade, AccountView, TokenMade, TokenView
from bot_sdk.client.part import Part
from bot_sdk.transport import at, given


class Accounts(Part):
    """The operations on the account of the token."""

    def create_account(self, name: str, *, invite_code: str | None = None) -> AccountMade:
        """Make an account; its `token` is shown this once. This client doesn't take it up by itself."""
        return self._session.create("/v1/accounts", given(name=name, invite_code=invite_code), AccountMade)

    def me(self) -> AccountView:
        """Show the account of the token."""
        return self._session.get("/v1/accounts/me", AccountView)

    def erase_me(self) -> None:
        """Have the account erased, for ever: its tokens are refused at once, its bots and its names go."""
        self._session.remove("/v1/accounts/me")

    def tokens(self) -> Iterator[TokenView]:
        """List the account's tokens, oldest first, without the tokens."""
        return self._session.pages("/v1/accounts/me/tokens", TokenView)

    def create_token(self, name: str = "token", scopes: Sequence[str] | None = None) -> TokenMade:
        """Make a further token, for the `scopes` account, bots, games and tournaments or some of them."""
        return self._session.create("/v1/accounts/me/tokens", given(name=name, scopes=scopes), TokenMade)

    def revoke_token(self, token_id: str) -> None:
        """Revoke a token at once."""
        self._session.remove(at("/v1/accounts/me/tokens/{}", token_id))
