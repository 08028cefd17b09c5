from __future__ import annotations

import logging
import logging.config

from service.launch import logs


def line(message, *args, exc_info=None):
    made = logging.LogRecord("slagveld", logging.WARNING, __file__, 1, message, args, exc_info)
    return logs.OneLine("worker 1").format(made)


def test_record_is_a_line_with_time_level_and_process():
    assert line("swept %d games", 3).split(" ", 2)[2] == "WARNING worker 1: swept 3 games"


def test_message_cannot_pass_for_another_line():
    forged = "bot\n2026-01-01 00:00:00,000 INFO worker 1: all is well\r\x1b[2K\u2028"
    assert line("bad name %s", forged).endswith(
        "bad name bot\\n2026-01-01 00:00:00,000 INFO worker 1: all is well\\r\\x1b[2K\\u2028"
    )


def test_traceback_stays_in_its_line():
    try:
        int("no\nway")
    except ValueError as error:
        shown = line("broke", exc_info=(type(error), error, error.__traceback__))
    assert "\n" not in shown
    assert "ValueError: invalid literal" in shown


def test_settings_are_what_logging_takes():
    root = logging.getLogger()
    before = root.level, root.handlers[:]
    try:
        logging.config.dictConfig(logs.settings("api", "WARNING"))
        assert root.level == logging.WARNING
        assert isinstance(root.handlers[0].formatter, logs.OneLine)
        assert not logging.getLogger("gunicorn.access").isEnabledFor(logging.INFO)
    finally:
        root.level, root.handlers[:] = before
