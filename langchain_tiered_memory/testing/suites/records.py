"""The contract of `RecordStore`."""

from __future__ import annotations

from langchain_tiered_memory.core.ports import RecordStore
from langchain_tiered_memory.testing.suites.access import EmbedCases, TouchCases, UpdateCases
from langchain_tiered_memory.testing.suites.applying import ApplyCases, HistoryCases
from langchain_tiered_memory.testing.suites.chains import SlotCases
from langchain_tiered_memory.testing.suites.changes import ChangesCases, ConcurrencyCases
from langchain_tiered_memory.testing.suites.choosing import ChosenCases
from langchain_tiered_memory.testing.suites.counting import TallyCases
from langchain_tiered_memory.testing.suites.forgetting import EraseCases, ForgetCases, IntentCases
from langchain_tiered_memory.testing.suites.indexing import IndexCases
from langchain_tiered_memory.testing.suites.repeats import RepeatCases
from langchain_tiered_memory.testing.suites.rewording import RewordingCases
from langchain_tiered_memory.testing.suites.roundtrip import OwnershipCases, RoundTripCases, WallCases
from langchain_tiered_memory.testing.suites.statements import StatementCases
from langchain_tiered_memory.testing.suites.users import UsersCases


class RecordStoreContract(
    ApplyCases,
    HistoryCases,
    SlotCases,
    StatementCases,
    ForgetCases,
    ChosenCases,
    IntentCases,
    EraseCases,
    RewordingCases,
    UsersCases,
    IndexCases,
    RoundTripCases[RecordStore],
    WallCases[RecordStore],
    OwnershipCases[RecordStore],
    RepeatCases[RecordStore],
    TouchCases[RecordStore],
    UpdateCases[RecordStore],
    EmbedCases[RecordStore],
    ChangesCases[RecordStore],
    ConcurrencyCases[RecordStore],
    TallyCases[RecordStore],
):
    """Every sentence of `RecordStore` as a case. Subclass it, and give the fixture `store` and `raw_ids`."""
