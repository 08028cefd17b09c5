from __future__ import annotations

from service.launch.memory import store_bytes, there_is


def test_share_of_a_container_counts_if_it_is_less(tmp_path):
    machine = there_is(())
    assert machine > 2**28
    for text, expected in (("1048576\n", 2**20), ("max\n", machine), (f"{2**60}\n", machine)):
        (tmp_path / "memory.max").write_text(text)
        assert there_is([tmp_path / "none", tmp_path / "memory.max"]) == expected


def test_setting_is_in_mib_and_half_of_all_by_default():
    assert store_bytes(100) == 100 * 2**20
    assert store_bytes(0) == there_is() // 2
