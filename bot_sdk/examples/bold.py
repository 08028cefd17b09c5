"""bold: bids on everything that shines and always plays its best card. A class, for bots that grow."""

from bot_sdk.bot import Bot, Decision

RANKS = "23456789TJQKA"


class Bold(Bot):
    """Decides by phase; ``plays`` is left alone, so it plays every ruleset."""

    def decide(self, decision: Decision) -> str:
        """Choose by the kind of action that is owed."""
        if decision.phase == "bid":
            return self.bid(decision)
        if decision.phase == "beg":
            return "beg"  # a bold player expects a better suit
        if decision.phase in {"play", "discard"}:
            return self.strongest(decision)
        return decision.legal[0]

    def bid(self, decision: Decision) -> str:
        """Count every honour and every trump as a trick."""
        trump = decision.observation["trump"]
        hoped = sum(card[1] == trump or card[0] in "AK" for card in decision.hand)
        return min(decision.legal, key=lambda action: abs(int(action.removeprefix("bid:")) - hoped))

    def strongest(self, decision: Decision) -> str:
        """Play the strongest card, throw away the weakest."""
        trump = decision.observation["trump"]
        ranked = sorted(decision.legal, key=lambda action: (action[-1] == trump, RANKS.index(action[-2])))
        return ranked[0] if decision.phase == "discard" else ranked[-1]


bot = Bold("bold", author="slagveld", max_games=64)
