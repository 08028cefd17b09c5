"""clumsy: means well, but now and then it is late, breaks, or answers with a card it may not play.

It shows what the arena makes of that: the fallback is played, the fault is named in the bot's ledger and in the record,
and five of them in one game cost the seat. Not a bot to copy, unless you want to see the same with your own.

Its luck hangs on nothing but the decision's id. A check asks the same decisions every time, and it has luck with those.
"""

import time
from random import Random

from bot_sdk.bot import Bot, Decision

LATE, BROKEN, ILLEGAL = 0.996, 0.992, 0.986  # luck above which a decision goes wrong in this way

bot = Bot("clumsy", author="slagveld", max_games=64)


@bot.on("river")
@bot.on("seven_up")
def fumble(decision: Decision) -> str:
    """Play the first legal action, mostly."""
    luck = Random(f"clumsy {decision.id}").random()
    if luck > LATE:
        time.sleep(decision.budget_ms / 1000 * 1.1)
    elif luck > BROKEN:
        raise RuntimeError("dropped the cards")
    elif luck > ILLEGAL:
        return "play:joker"
    return decision.legal[0]
