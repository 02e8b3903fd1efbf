"""Redis over TLS: a certificate of one's own authority serves, any other is refused in a sentence, and fast."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
import redis
import trustme

from langchain_tiered_memory import MemorySystem
from langchain_tiered_memory.backends.redis import RedisItemStore
from langchain_tiered_memory.core.errors import BackendUnavailable, ConfigError
from langchain_tiered_memory.embedding import HashedEmbedder
from langchain_tiered_memory.testing.samples import NOW, entry_of
from tests import servers
from tests.conftest import need
from tests.faults.machines import redis_machine
from tests.proxy import Proxy

ADA = "ada"
PASSWORD = "xyzzy-4711"
PATIENT = timedelta(seconds=20)


@dataclass(frozen=True)
class Secured:
    """A Redis that speaks TLS.

    Attributes:
        proxy: The way to it, which can be frozen.
        folder: Where the certificates are: `ca.pem` issued the server's, `other.pem` did not.
    """

    proxy: Proxy
    folder: Path

    def url(self, options: str = "ssl_ca_certs={}/ca.pem", *, host: str = "localhost", login: str = "") -> str:
        """Return an address; `{}` in the options stands for the folder."""
        return f"rediss://{login}{host}:{self.proxy.port}/0?{options.format(self.folder)}"


@pytest.fixture(scope="module")
def secured() -> Iterator[Secured]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        port = servers._free_port()
        need(stack, lambda: redis_machine("--tls-port", str(port), *_certificates(folder)))
        proxy = stack.enter_context(Proxy(("127.0.0.1", port)))
        made = Secured(proxy, folder)
        with redis.Redis.from_url(made.url()) as client:
            client.acl_setuser("worker", enabled=True, passwords=[f"+{PASSWORD}"], keys=["ltm:*"], categories=["+@all"])
        yield made


@pytest.fixture(autouse=True)
def thawed(secured: Secured) -> Iterator[None]:
    yield
    secured.proxy.frozen = False


def _certificates(folder: Path) -> list[str]:
    """Make an authority, the server's certificate and that of a client; return the server's options."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(folder / "ca.pem"))
    trustme.CA().cert_pem.write_to_path(str(folder / "other.pem"))
    issued = {"server": authority.issue_cert("localhost"), "client": authority.issue_cert("app.example")}
    for name, one in issued.items():
        one.private_key_and_cert_chain_pem.write_to_path(str(folder / f"{name}.pem"))
    files = {"cert": "server.pem", "key": "server.pem", "ca-cert": "ca.pem"}
    options = [part for name, file in files.items() for part in (f"--tls-{name}-file", str(folder / file))]
    return [*options, "--tls-auth-clients", "optional"]


@pytest.mark.parametrize("login", ["", f"worker:{PASSWORD}@"])
@pytest.mark.parametrize(
    "options",
    ["ssl_ca_certs={}/ca.pem", "ssl_ca_certs={0}/ca.pem&ssl_certfile={0}/client.pem&ssl_keyfile={0}/client.pem"],
)
def test_a_store_works_over_tls(secured: Secured, options: str, login: str) -> None:
    store = RedisItemStore(secured.url(options, login=login), timeout=PATIENT)
    store.put(ADA, [entry_of("a"), entry_of("b")])
    assert store.touch(ADA, ["a"], NOW).ids == {"a"}
    version = store.changes(ADA, 0).version
    assert store.remove(ADA, {"b": None}) == ("b",)
    assert store.changes(ADA, version).gone == ("b",)
    assert store.forget(ADA) == 1
    assert set(store.incidents().values()) == {0}
    store.close()


def test_a_memory_works_over_tls(secured: Secured) -> None:
    memory = MemorySystem(secured.url(), "exact", path=":memory:", embedder=HashedEmbedder(32)).sync
    memory.remember(ADA, "the garden gate is green", importance=0.1)
    result = memory.recall(ADA, "gate")
    assert [(hit.content, hit.tier) for hit in result] == [("the garden gate is green", "short_term")]
    assert result.failed == ()
    memory.close()


@pytest.mark.parametrize(
    ("options", "host", "said"),
    [
        ("", "localhost", r"not trusted \(self.signed .*\): name the file of the authority .*\?ssl_ca_certs="),
        ("ssl_ca_certs={}/other.pem", "localhost", r"not trusted \(self.signed .*\): name the file of the authority"),
        ("ssl_ca_certs={}/ca.pem", "127.0.0.1", r"not trusted \(IP address mismatch, .*\): connect to a name"),
    ],
    ids=["authority of nobody's", "another authority", "another address"],
)
def test_a_certificate_that_is_not_trusted_is_refused_in_a_sentence_each_time(
    secured: Secured, options: str, host: str, said: str
) -> None:
    """Also the second time: who is refused at once costs nobody any time, and is to hear why."""
    store = RedisItemStore(secured.url(options, host=host, login=f":{PASSWORD}@"), timeout=PATIENT)
    for _ in range(2):
        with pytest.raises(BackendUnavailable, match=said) as refused:
            store.version(ADA)
        assert PASSWORD not in f"{refused.value!r}{refused.value.__cause__!r}"
    assert set(store.incidents().values()) == {0}
    store.close()


def test_a_memory_whose_redis_is_not_trusted_recalls_what_is_elsewhere(secured: Secured) -> None:
    memory = MemorySystem(secured.url(""), "exact", path=":memory:", embedder=HashedEmbedder(32)).sync
    memory.remember(ADA, "the kitchen gate is blue", importance=0.9)
    result = memory.recall(ADA, "gate")
    assert ([hit.content for hit in result], result.failed) == (["the kitchen gate is blue"], ("short_term",))
    with pytest.raises(BackendUnavailable, match="certificate is not trusted"):
        memory.remember(ADA, "the garden gate is green", importance=0.1)
    memory.close()


@pytest.mark.parametrize("name", ["ssl_ca_certs", "ssl_certfile", "ssl_keyfile"])
def test_a_file_that_is_not_there_is_named_before_anything_is_sent(name: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=rf"{name}=.* no such file"):
        RedisItemStore(f"rediss://:{PASSWORD}@localhost/0?{name}={tmp_path}/missing.pem")


def test_a_frozen_server_costs_no_more_over_tls(secured: Secured) -> None:
    """On a connection that stands, and in the middle of making one."""
    stands = RedisItemStore(secured.url(), timeout=timedelta(seconds=1))
    stands.put(ADA, [entry_of("a")])
    fresh = RedisItemStore(secured.url(), timeout=timedelta(seconds=1))
    secured.proxy.frozen = True
    for store in (stands, fresh):
        began = time.monotonic()
        with pytest.raises(BackendUnavailable):
            store.version(ADA)
        with pytest.raises(BackendUnavailable, match="not asked"):
            store.version(ADA)
        assert time.monotonic() - began < 3
        store.close()
