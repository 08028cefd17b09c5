"""Matches in processes of their own: `pool` hands games out and takes them in, `child` plays them.

Processes are started as commands and spoken to in lines of JSON over pipes: nothing is forked, and no code is sent.
"""
