"""Pure arithmetic of tournaments: schedules, standings, statistics."""
