"""counter: counts the cards that are gone and leads only what nothing can beat. It needs no memory to do so.

Every decision carries all tricks of the deal, so a bot may forget everything between two requests.
"""

from bot_sdk.bot import Bot, Decision

RANKS = "23456789TJQKA"

bot = Bot("counter", author="slagveld", max_games=64)


def unseen_above(decision: Decision, card: str) -> int:
    """Count the cards of the same suit that beat this one and may still be in somebody's hand."""
    shown = decision.observation
    turned = shown.get("upcards") or [shown.get("upcard")]
    played = [gone for trick in (*shown["tricks"], shown["trick"] or {"cards": []}) for gone in trick["cards"]]
    known = {*decision.hand, *turned, *played, *shown.get("discards", ())}
    return sum(f"{rank}{card[1]}" not in known for rank in RANKS[RANKS.index(card[0]) + 1 :])


def masters(decision: Decision) -> list[str]:
    """List the playable cards that nothing of their suit can beat."""
    return [action for action in decision.legal if unseen_above(decision, action[-2:]) == 0]


def low_first(action: str) -> int:
    """Order actions by the card's rank."""
    return RANKS.index(action[-2])


@bot.on("river", "bid")
def bid(decision: Decision) -> str:
    """Bid a trick for each card that at most one other can beat, trumps counting double."""
    trump = decision.observation["trump"]
    hoped = sum(unseen_above(decision, card) <= (3 if card[1] == trump else 0) for card in decision.hand)
    return min(decision.legal, key=lambda action: abs(int(action.removeprefix("bid:")) - hoped))


@bot.on("river", "play")
def play(decision: Decision) -> str:
    """Cash masters while tricks are missing; without one wait, with the bid made duck."""
    seen = decision.observation
    wants = seen["bids"][decision.seat] > seen["tricks_won"][decision.seat]
    sure = masters(decision)
    if wants:
        return sure[0] if sure else min(decision.legal, key=low_first)
    return min(decision.legal, key=lambda action: (action in sure, -low_first(action)))


@bot.on("seven_up", "beg", "gift", "discard")
def prepare(decision: Decision) -> str:
    """Beg unless two trumps are in hand; throw away the low cards of other suits."""
    if decision.phase == "discard":
        trump = decision.observation["trump"]
        return min(decision.legal, key=lambda action: (action[-1] == trump, low_first(action)))
    suit = decision.observation["upcards"][-1][1]
    strong = sum(card[1] == suit for card in decision.hand) >= 2
    return decision.legal[0] if strong else decision.legal[-1]


@bot.on("seven_up", "play")
def collect(decision: Decision) -> str:
    """Lead masters; else keep low, for the last tricks are worth waiting for."""
    sure = masters(decision)
    return max(sure, key=low_first) if sure else min(decision.legal, key=low_first)
