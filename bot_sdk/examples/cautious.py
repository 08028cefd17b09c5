"""cautious: promises little and keeps out of trouble. One decorated function for each kind of decision."""

from bot_sdk.bot import Bot, Decision

RANKS = "23456789TJQKA"

bot = Bot("cautious", author="slagveld", max_games=64)


def rank(action: str) -> int:
    """Order actions such as ``play:QH`` by the card's rank."""
    return RANKS.index(action[-2])


@bot.on("river", "bid")
def bid(decision: Decision) -> tuple[str, str]:
    """Promise only what can hardly fail: aces and kings of trumps."""
    trump = decision.observation["trump"]
    sure = sum(card in {f"A{trump}", f"K{trump}"} for card in decision.hand)
    chosen = min(decision.legal, key=lambda action: abs(int(action.removeprefix("bid:")) - sure))
    return chosen, f"{sure} sure"


@bot.on("river", "play")
def play(decision: Decision) -> str:
    """Play the highest card while a trick is missing, then the lowest."""
    seen = decision.observation
    missing = seen["bids"][decision.seat] > seen["tricks_won"][decision.seat]
    return (max if missing else min)(decision.legal, key=rank)


@bot.on("seven_up", "beg", "gift")
def trump(decision: Decision) -> str:
    """Stand, and run, with whatever comes: the first legal action is the quiet one."""
    return decision.legal[0]


@bot.on("seven_up", "discard")
def discard(decision: Decision) -> str:
    """Keep trumps, then high cards."""
    trump_suit = decision.observation["trump"]
    return min(decision.legal, key=lambda action: (action[-1] == trump_suit, rank(action)))


@bot.on("seven_up", "play")
def follow(decision: Decision) -> str:
    """Lead low, and answer high."""
    leads = not decision.observation["trick"]["cards"]
    return (min if leads else max)(decision.legal, key=rank)
