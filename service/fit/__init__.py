"""The fit of ratings, in a process of its own.

A fit keeps a processor busy for seconds, while the worker that wants it watches the deadlines of bots; and a process
can be ended, which a thread can't. Nobody else loads numpy.
"""
