"""Small conversations in the formats of LoCoMo, LongMemEval and BEAM. What is said in them is made up."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

LOCOMO: list[dict[str, Any]] = [
    {
        "sample_id": "conv-26",
        "conversation": {
            "speaker_a": "Ada",
            "speaker_b": "Ben",
            "session_10_date_time": "12:05 am on 1 July, 2023",
            "session_10": [
                {"speaker": "Ada", "dia_id": "D10:1", "text": "My violin needs new strings."},
                {"speaker": "Ben", "dia_id": "D10:2", "text": "Look!", "blip_caption": "a lighthouse at dusk"},
            ],
            "session_2_date_time": "1:56 pm on 8 May, 2023",
            "session_2": [
                {"speaker": "Ada", "dia_id": "D2:1", "text": "I adopted a hedgehog called Pfeffer."},
                {"speaker": "Ben", "dia_id": "D2:2", "text": "Our roof was repaired.", "blip_caption": None},
                {"speaker": "Ada", "dia_id": "D2:3", "text": " "},
            ],
            "session_11_date_time": "9:00 am on 2 August, 2023",
            "session_11": [],
        },
        "qa": [
            {"question": "What is the hedgehog called?", "category": 4, "evidence": ["D2:1"], "answer": "Pfeffer"},
            {"question": "Which violin strings?", "category": 1, "evidence": ["D10:01; D:2:2", "D99:1"]},
            {"question": "When was the lighthouse at dusk?", "category": 2, "evidence": ["D2:1"]},
            {"question": "What did Ben adopt?", "category": 5, "evidence": ["D2:1"], "adversarial_answer": "a cat"},
            {"question": "Would Ada like a zoo?", "category": 3, "evidence": []},
            {"question": "Would Ben like a boat?", "category": 3},
        ],
    },
    {
        "sample_id": "conv-99",
        "conversation": {
            "session_1_date_time": "10:00 am on 3 March, 2024",
            "session_1": [
                {"speaker": "Cleo", "dia_id": "D1:1", "text": "I bake sourdough on Sundays."},
                {"speaker": "Dan", "dia_id": "D1:2", "text": "The marathon was exhausting."},
            ],
        },
        "qa": [{"question": "Who bakes sourdough?", "category": 4, "evidence": ["D1:1"]}],
    },
]
"""Asked for one memory, the first conversation gives 1 of 1, 1 of 2 and 0 of 1 gold turns, the second 1 of 1."""

LONGMEMEVAL: list[dict[str, Any]] = [
    {
        "question_id": "q1",
        "question_type": "single-session-user",
        "question": "Which hedgehog did I adopt?",
        "answer": "Pfeffer",
        "question_date": "2023/06/01 (Thu) 09:30",
        "haystack_session_ids": ["same", "same"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 14:00"],
        "haystack_sessions": [
            [
                {"role": "user", "content": "I adopted a hedgehog called Pfeffer.", "has_answer": True},
                {"role": "assistant", "content": "How nice!", "has_answer": False},
            ],
            [{"role": "user", "content": "How do I repair a roof?"}],
        ],
        "answer_session_ids": ["same"],
    },
    {
        "question_id": "q2_abs",
        "question_type": "single-session-user",
        "question": "Which cat did I adopt?",
        "answer": "None was.",
        "question_date": "2023/06/01 (Thu) 09:30",
        "haystack_session_ids": ["one"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21"],
        "haystack_sessions": [[{"role": "user", "content": "I like cats."}]],
        "answer_session_ids": [],
    },
    {
        "question_id": "q3",
        "question_type": "multi-session",
        "question": "How often did I mention cats?",
        "answer": "Once.",
        "question_date": "2023/06/01 (Thu) 09:30",
        "haystack_session_ids": ["one"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21"],
        "haystack_sessions": [[{"role": "user", "content": "I like cats."}]],
        "answer_session_ids": ["one"],
    },
]

BEAM_CHAT: list[dict[str, Any]] = [
    {
        "batch_number": 1,
        "turns": [
            [
                {"role": "user", "id": 0, "time_anchor": "March-15-2024", "content": "My sprint ends soon. ->-> 1,1"},
                {"role": "assistant", "id": 1, "content": "Then plan a demo."},
            ],
            [{"role": "user", "id": 2, "content": "Always answer with syntax highlighting. ->-> 1,N/A"}],
        ],
    },
    {
        "batch_number": 2,
        "turns": [
            [{"role": "user", "id": 4, "time_anchor": "April-05-2024", "content": "The dashboard needs 250 ms."}]
        ],
    },
]
BEAM_QUESTIONS: dict[str, list[dict[str, Any]]] = {
    "abstention": [{"question": "Which car do I drive?"}],
    "knowledge_update": [
        {"question": "How fast is the dashboard?", "source_chat_ids": {"original_info": [2], "updated_info": [4]}},
    ],
    "information_extraction": [{"question": "When does my sprint end?", "source_chat_ids": [0, 77]}],
    "multi_session_reasoning": [{"question": "How many demos?", "source_chat_ids": []}],
    "summarization": [{"question": "Can you sum it up?", "source_chat_ids": [0, 1, 2]}],
}

NEUTRAL: dict[str, Any] = {
    "conversations": [
        {
            "id": "beam-1",
            "turns": [
                {
                    "id": "0",
                    "role": "user",
                    "name": "Ada",
                    "content": "I adopted a hedgehog.",
                    "session_id": "batch-1",
                    "observed_at": "2024-03-15T00:00:00+00:00",
                },
                {"id": "1", "role": "assistant", "content": "How nice!", "session_id": "batch-1"},
            ],
            "questions": [
                {"text": "What did I adopt?", "category": "preference", "gold": ["0"]},
                {"text": "What else?", "category": "preference", "gold": ["9"]},
            ],
        }
    ]
}


def written(path: Path, data: object) -> Path:
    """Write JSON into a file, and make the folders above it; return the file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def chat(folder: Path, data: object = BEAM_CHAT, questions: object = BEAM_QUESTIONS, name: str = "chat.json") -> Path:
    """Write a chat of BEAM into a folder; return the folder."""
    written(folder / name, data)
    written(folder / "probing_questions" / "probing_questions.json", questions)
    return folder
