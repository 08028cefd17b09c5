"""House bots that think, in processes of their own.

A bot that computes for milliseconds would hold the interpreter, and with it the deadlines of everybody else's bots; and
a process can be ended, which a thread can't. This room knows no games: a decision goes in as it would be sent to a bot,
and what comes out is the reply of a bot.
"""
