"""Both games as PettingZoo environments, for learning: ``pip install 'slagveld[envs]'``.

`seven_up_v1` and `river_v1` follow PettingZoo's classic environments. They play by the rules of `bot_sdk.games`:
nothing here knows a rule of its own, and nothing reaches an agent but what its seat may see.
"""
