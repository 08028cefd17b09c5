"""Games of people in an arena, played through its API by the test: it alone says when anything happens."""

from __future__ import annotations

from typing import Any

import requests


class Party:
    """A game of people, and their tokens by seat. A seat without a name is open, one of `house:NAME` a house bot's."""

    def __init__(self, address: str, names: list[str], *, ruleset: str = "river", **order: Any) -> None:
        seats = [_seat(name) for name in names]
        made = requests.post(
            f"{address}/v1/games", json={"ruleset": ruleset, "seats": seats, **order}, timeout=30
        ).json()
        self.address = address
        self.id = made["id"]
        self.tokens = {seat: each["token"] for seat, each in enumerate(made["seats"]) if "token" in each}

    @property
    def page(self) -> str:
        return f"/games/{self.id}"

    def ask(self, method: str, path: str = "", seat: int | None = None, **more: Any) -> requests.Response:
        headers = {} if seat is None else {"Authorization": f"Bearer {self.tokens[seat]}"}
        answer = requests.request(
            method, f"{self.address}/v1/games/{self.id}{path}", headers=headers, timeout=30, **more
        )
        assert answer.ok, answer.text
        return answer

    def view(self, seat: int) -> dict[str, Any]:
        return self.ask("GET", f"/seats/{seat}", seat).json()

    def views(self) -> list[dict[str, Any]]:
        return [self.view(seat) for seat in sorted(self.tokens)]

    def act(self, times: int = 1) -> None:
        """Have whoever owes a decision take the last action that is legal, so many times."""
        for _ in range(times):
            seats = self.ask("GET").json()["turn"]
            seat, view = next((seat, view) for seat in seats if (view := self.view(seat))["decision_id"])
            decided = {"decision_id": view["decision_id"], "action": view["legal_actions"][-1]}
            self.ask("POST", f"/seats/{seat}/actions", seat, json=decided)

    def finish(self) -> None:
        """Play to the end."""
        while self.ask("GET").json()["state"] == "running":
            self.act()

    def events(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        while True:
            page = self.ask("GET", f"/events?after={len(found)}").json()
            found += page["items"]
            if page["next_cursor"] is None:
                return found

    def sit(self, seat: int, name: str) -> None:
        """Take an open seat."""
        answer = requests.put(f"{self.address}/v1/games/{self.id}/seats/{seat}", json={"name": name}, timeout=30)
        assert answer.ok, answer.text
        self.tokens[seat] = answer.json()["token"]


def _seat(name: str) -> dict[str, str]:
    if not name:
        return {"kind": "open"}
    kind, _, bot = name.partition(":")
    return {"kind": "house", "name": bot} if kind == "house" else {"kind": "human", "name": name}
