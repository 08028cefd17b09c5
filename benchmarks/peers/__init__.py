"""Others' libraries, measured in processes of their own, in a virtual environment of their own.

A module of this folder drives one peer. That environment has none of our libraries: it imports of ours `rounds` alone.
"""
