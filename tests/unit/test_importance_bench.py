"""The measurement of importance: it reads both kinds of file, and says what it measures."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

from langchain_tiered_memory.bench import importance as bench

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

LOCOMO = [
    {
        "conversation": {
            "session_10": [{"dia_id": "D10:1", "text": "ok thanks"}],
            "session_2": [
                {"dia_id": "D2:1", "text": "I live in Rome"},
                {"dia_id": "D2:2", "text": "Look!", "blip_caption": "a dog"},
            ],
        },
        "qa": [
            {"category": 1, "evidence": ["D:02:1; D9:9"]},
            {"category": 5, "evidence": ["D10:1"]},
        ],
    }
]
NEUTRAL = {
    "conversations": [
        {
            "turns": [
                {"id": "1", "role": "user", "content": "I live in Rome"},
                {"id": "2", "role": "assistant", "content": "Rome is lovely."},
            ],
            "questions": [{"gold": ["1"]}],
        }
    ]
}


def test_the_measurement_reads_both_kinds_of_file(tmp_path: Path) -> None:
    """LoCoMo: sessions by number, malformed evidence, captions, no fifth category; and the neutral format."""
    (tmp_path / "locomo.json").write_text(json.dumps(LOCOMO), encoding="utf-8")
    (tmp_path / "neutral.json").write_text(json.dumps(NEUTRAL), encoding="utf-8")

    assert bench.read(tmp_path / "locomo.json") == [
        [
            ("I live in Rome", "user", True),
            ("Look! [shared photo: a dog]", "user", False),
            ("ok thanks", "user", False),
        ]
    ]
    assert bench.read(tmp_path / "neutral.json") == [
        [("I live in Rome", "user", True), ("Rome is lovely.", "assistant", False)]
    ]


def test_auc_counts_pairs_and_halves_ties() -> None:
    assert bench.auc([3, 2], [2, 1]) == 0.875
    assert bench.auc([1], [1]) == 0.5
    assert bench.auc([0], [1]) == 0
    assert math.isnan(bench.auc([], [1]))


def test_the_measurement_prints_its_command_data_and_baseline(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "neutral.json").write_text(json.dumps(NEUTRAL), encoding="utf-8")

    assert bench.main([str(tmp_path / "neutral.json"), "--tuned", "1"]) == 0

    printed = capsys.readouterr().out
    for word in ("bench.importance neutral.json", "baseline", "AUC", "users, all", "assistants, all", "p50"):
        assert word in printed
