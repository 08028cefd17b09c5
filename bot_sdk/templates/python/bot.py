"""{{name}}: a bot for Slagveld. Make it better than this."""

from bot_sdk import Bot, Decision

bot = Bot("{{name}}", version="1", author="", max_batch=64)


@bot.on("river", "bid")
def bid(decision: Decision) -> str:
    """Bid one trick for every ace and every trump above the nine, or the legal bid nearest to that."""
    trump = decision.observation["trump"]
    hoped = sum(card[0] == "A" or (card[1] == trump and card[0] in "TJQK") for card in decision.hand)
    return min(decision.legal, key=lambda action: abs(int(action.removeprefix("bid:")) - hoped))


@bot.on("river", "play")
def play(decision: Decision) -> tuple[str, str]:
    """Play high while tricks are missing, else low. The note is shown in the record."""
    seen = decision.observation
    missing = seen["bids"][decision.seat] - seen["tricks_won"][decision.seat]
    ranked = sorted(decision.legal, key=lambda action: "23456789TJQKA".index(action[-2]))
    return (ranked[-1] if missing > 0 else ranked[0]), f"{missing} to go"


@bot.on("seven_up")
def seven_up(decision: Decision) -> str:
    """Any legal action; `decision.phase` tells which of beg, gift, discard and play is asked."""
    return decision.rng.choice(decision.legal)
