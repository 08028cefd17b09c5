"""The doctor: looks for what is wrong with an arena, and says what to do. It changes nothing unless it is to mend."""
