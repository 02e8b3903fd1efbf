"""What stands under `.deploy` names images, settings and options that exist, and the page says the same figures."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import psycopg
import pytest
import redis
import typer.main
import yaml
from celery import Celery
from celery.contrib.testing.worker import start_worker

from langchain_tiered_memory import InvalidInput, MemorySystem
from langchain_tiered_memory.cli.app import app
from langchain_tiered_memory.distributed import TASK, add_work
from langchain_tiered_memory.embedding import HashedEmbedder
from tests.conftest import FakeClock
from tests.flow.world import QUIET

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "howto" / "deployment.md").read_text(encoding="utf-8")
KEYS = {
    "build", "command", "depends_on", "deploy", "environment", "healthcheck", "image", "restart", "stop_grace_period",
    "volumes",
}  # fmt: skip


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    composed = yaml.safe_load((ROOT / ".deploy" / "compose.yaml").read_text(encoding="utf-8"))
    assert set(composed) == {"name", "services", "volumes"}
    found: dict[str, Any] = composed["services"]
    return found


def test_it_is_made_of_the_servers_and_workers_with_what_they_need(services: dict[str, Any]) -> None:
    assert set(services) == {"redis", "postgres", "chroma", "worker"}
    for service in services.values():
        assert set(service) <= KEYS
        for volume in service.get("volumes", ()):
            assert volume.partition(":")[0] in services
    assert set(services["worker"]["depends_on"]) == {"redis", "postgres", "chroma"}
    assert (ROOT / ".deploy" / "Dockerfile").read_text(encoding="utf-8").endswith('ENTRYPOINT ["ltm"]\n')


def test_the_worker_is_given_options_that_it_has(services: dict[str, Any]) -> None:
    name, *args = services["worker"]["command"]
    command = typer.main.get_command(app).commands[name]  # type: ignore[attr-defined] # it is a group
    environment = {one.envvar for one in command.params if getattr(one, "envvar", None)}

    given = command.make_context(name, list(args))

    assert (given.params["every"], given.params["users_at_once"], given.params["json"]) == (60, 2, True)
    assert set(services["worker"]["environment"]) <= environment


def test_redis_knows_every_setting(services: dict[str, Any], redis_url: str) -> None:
    _, *args = services["redis"]["command"]
    with redis.Redis.from_url(redis_url) as client:
        known = {name for name in (one.removeprefix("--") for one in args[::2]) if client.config_get(name)}

    assert known == {"appendonly", "appendfsync", "maxmemory", "maxmemory-policy"}
    assert dict(zip(args[::2], args[1::2], strict=True))["--maxmemory-policy"] == "noeviction"


def test_postgres_knows_every_setting(services: dict[str, Any], postgres_url: str) -> None:
    settings = [one for one in services["postgres"]["command"][1:] if one != "-c"]
    with psycopg.connect(postgres_url.replace("+psycopg", "")) as connection:
        for setting in settings:
            name, _, value = setting.partition("=")
            known = connection.execute("SELECT vartype FROM pg_settings WHERE name = %s", [name]).fetchone()
            assert known == ("integer",), setting
            assert re.fullmatch(r"\d+(MB|GB)?", value)


def test_the_urls_of_the_worker_are_urls_that_a_memory_takes(services: dict[str, Any]) -> None:
    said = services["worker"]["environment"]
    password = re.compile(r"\$\{[^}]*\}")

    MemorySystem(said["LTM_REDIS"], said["LTM_VECTOR_DB"], password.sub("x", said["LTM_POSTGRES"]))

    for name in ("LTM_REDIS", "LTM_VECTOR_DB", "LTM_POSTGRES"):
        assert re.search(r"[@/](\w+):\d+", password.sub("x", said[name])[6:]).group(1) in services  # type: ignore[union-attr]


def test_the_arithmetic_of_the_page_is_right() -> None:
    record, item, vector, held = (float(one) for one in re.findall(r"\| (\d+\.\d) kB \|\n", PAGE))
    users, a_day, said, kept = 100_000, 10_000, 30, 300

    for figure in (
        f"| {a_day * said * item / 1e6:.1f} GB |",
        f"| {users * kept * record / 1e6:.0f} GB |",
        f"| {users * kept * vector / 1e6:.0f} GB |",
        f"| {500 * (kept + said) * held / 1e6:.1f} GB, the most",
    ):
        assert figure in PAGE, figure


def test_every_setting_that_the_page_names_exists() -> None:
    named = re.findall(r"`(?:MaintenanceSettings|SearchSettings)\.(\w+)`|\(`(lease|attempts)`\)", PAGE)

    for name in {one or other for one, other in named}:
        assert hasattr(QUIET.maintenance, name) or hasattr(QUIET.search, name), name


def test_a_worker_of_celery_serves_who_is_due(clock: FakeClock) -> None:
    """On a broker of its own in this process, with a real worker's thread."""
    memory = MemorySystem.open(":memory:", embedder=HashedEmbedder(16), settings=QUIET, clock=clock)
    celery = Celery("memory", broker="memory://", backend="cache+memory://")
    work = add_work(celery, memory)

    memory.sync.remember("ada", "The pot is blue", importance=0.9)
    clock.advance(minutes=10)
    with start_worker(celery, pool="solo", perform_ping_check=False, loglevel="ERROR"):
        served = work.delay().get(timeout=60)
        assert (served["users"], served["failed"], served["unavailable"]) == (1, 0, [])
        assert work.delay().get(timeout=60)["users"] == 0
    memory.sync.close()


def test_celerys_beat_calls_it_beside_what_it_called_before() -> None:
    celery = Celery("memory", broker="memory://")
    celery.conf.beat_schedule = {"mine": {"task": "mine", "schedule": 1.0}}
    with MemorySystem.open(":memory:", embedder=HashedEmbedder(16)).sync as memory:
        tasks = [add_work(celery, memory, every=30), add_work(celery, memory, name="second")]

    assert [task.name for task in tasks] == [TASK, "second"]
    assert {name: entry["schedule"] for name, entry in celery.conf.beat_schedule.items()} == {
        "mine": 1.0,
        TASK: 30.0,
        "second": 60.0,
    }
    assert celery.conf.beat_schedule[TASK]["options"] == {"expires": 30.0}


@pytest.mark.parametrize(
    "given", [{"app": "celery"}, {"every": 0}, {"every": float("inf")}, {"users_at_once": 0}, {"name": ""}], ids=str
)
def test_a_task_that_cannot_work_is_refused(given: dict[str, Any]) -> None:
    (field,) = given
    memory = MemorySystem.open(":memory:", embedder=HashedEmbedder(16))
    with pytest.raises(InvalidInput, match=f"^{field}"):
        add_work(given.pop("app", Celery("memory", broker="memory://")), memory, **given)
