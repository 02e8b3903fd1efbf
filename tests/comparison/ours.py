"""The column of this package: the same situations, and the tests that show what is said of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tests.comparison.findings import Outcome


@dataclass(frozen=True)
class Cell:
    """What is said of one situation, and the tests that fail when it is not so."""

    outcome: Outcome
    words: str
    tests: tuple[str, ...]


CELLS: Mapping[str, Cell] = {
    "process restart": Cell(
        "holds",
        "messages bit for bit, memories with all they are",
        (
            "tests/adapters/langchain/test_history.py::test_messages_come_back_bit_for_bit_after_a_restart",
            "tests/flow/test_kill.py::test_what_a_killed_process_acknowledged_is_there_exactly_once",
        ),
    ),
    "two users on one object": Cell(
        "holds",
        "a user per call; no user is an error",
        (
            "tests/flow/test_contract_tenants.py::test_recall_finds_only_what_the_user_remembered",
            "tests/flow/test_contract_sessions.py::test_one_object_serves_interleaved_users",
            "tests/flow/test_bad_input.py::test_every_call_refuses_a_user_that_is_none",
        ),
    ),
    "tool calls at the cut": Cell(
        "holds",
        "kept together at every budget",
        (
            "tests/unit/test_working.py::test_every_call_has_its_result_and_every_result_its_call",
            "tests/adapters/langchain/test_history.py::test_no_tool_result_is_shown_without_its_call",
        ),
    ),
    "a summary over budget": Cell(
        "holds",
        "a summary keeps to its cap, and all together to one budget",
        (
            "tests/flow/test_summary.py::test_no_context_exceeds_its_budget_and_no_summary_its_cap",
            "tests/flow/test_contract_sessions.py::test_no_window_and_no_context_exceeds_its_budget",
        ),
    ),
    "contradiction": Cell(
        "partly",
        "in a slot, named or extracted, and `as_of` finds the former; else both answer",
        (
            "tests/flow/test_life_slots.py::test_the_current_value_alone_by_default_and_both_on_request",
            "tests/flow/test_life_slots.py::test_as_of_finds_what_was_true_then",
            "tests/flow/test_life_consolidation.py::test_the_plain_extractor_finds_what_people_say_of_themselves",
            "tests/flow/test_life_placement.py::test_opposite_statements_are_two",
        ),
    ),
    "crash between tiers": Cell(
        "holds",
        "each thing once, after a crash at any call of any store",
        (
            "tests/flow/test_crash.py::test_one_crash_anywhere_on_sqlite",
            "tests/flow/test_faults.py::test_one_failure_anywhere",
            "tests/flow/test_kill.py::test_what_a_killed_process_acknowledged_is_there_exactly_once",
        ),
    ),
    "deletion": Cell(
        "partly",
        "gone from every answer and every file; a message also stands in its transcript until `clear`",
        (
            "tests/flow/test_contract_forget.py::test_nothing_of_a_forgotten_memory_is_left_in_any_file",
            "tests/flow/test_contract_forget.py::test_neither_consolidation_nor_an_import_revives_it",
            "tests/flow/test_comparison.py::test_a_forgotten_message_stands_in_its_transcript_until_clear",
        ),
    ),
    "async under a running loop": Cell(
        "holds",
        "nothing blocks; both faces do the same",
        (
            "tests/flow/test_async_face.py::test_no_call_blocks_the_loop",
            "tests/flow/test_async_face.py::test_both_faces_have_the_same_names_signatures_and_docstrings",
            "tests/adapters/langchain/test_async.py::test_the_event_loop_is_never_blocked",
        ),
    ),
    "offline": Cell(
        "holds",
        "embedder and vocabulary come with it",
        ("tests/flow/test_comparison.py::test_the_defaults_recall_by_meaning_without_network_and_key",),
    ),
    "explanation of a hit": Cell(
        "holds",
        "parts that add up, and why another is no hit",
        (
            "tests/flow/test_contract_recall.py::test_contributions_add_up_to_the_score",
            "tests/flow/test_contract_recall.py::test_explain_says_why_it_is_not_recalled",
        ),
    ),
}
