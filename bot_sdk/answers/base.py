"""What all answers have in common."""

from __future__ import annotations

from typing import Any

import msgspec

__all__ = ["Answer"]


class Answer(msgspec.Struct, frozen=True):
    """What the arena answered, as a value: its fields are attributes.

    Fields that this version of the SDK doesn't know are left out. Code that was written for the JSON reads an answer
    too: ``game["state"]`` is ``game.state``; a name that is no field raises KeyError.
    """

    def __getitem__(self, name: str) -> Any:
        if name not in self.__struct_fields__:
            raise KeyError(name)
        return getattr(self, name)
