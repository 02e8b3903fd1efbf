"""Chroma seen from the process: addresses, forks, working directories, and the lock of a folder."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import numpy as np
import pytest

from langchain_tiered_memory.backends import chroma_client
from langchain_tiered_memory.backends.chroma import ChromaVectorIndex, lock_folder
from langchain_tiered_memory.core.errors import BackendUnavailable, ConfigError
from tests.proxy import Proxy

if TYPE_CHECKING:
    from pathlib import Path

ADA = "ada"
EAST = np.array([1, 0, 0], dtype=np.float32)


def run(script: str, *arguments: object, cwd: Path, **environment: str) -> str:
    """Run a script in a process of its own, and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


class TestFolder:
    def test_a_closed_folder_can_be_removed_and_opened_anew(self, tmp_path: Path) -> None:
        for _ in range(2):
            index = ChromaVectorIndex.embedded(tmp_path / "index")
            assert index.ids(ADA) == frozenset()
            index.upsert(ADA, [("a", EAST)])
            index.close()
            shutil.rmtree(tmp_path / "index")

    def test_a_closed_folder_keeps_its_rows(self, tmp_path: Path) -> None:
        for count in (1, 2):
            index = ChromaVectorIndex.embedded(tmp_path)
            index.upsert(ADA, [(str(count), EAST)])
            assert len(index.ids(ADA)) == count
            index.close()

    def test_a_folder_that_cannot_be_made_is_unavailable(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        with pytest.raises(BackendUnavailable, match="open its folder"):
            ChromaVectorIndex.embedded(tmp_path / "file")

    def test_a_damaged_folder_is_unavailable(self, tmp_path: Path) -> None:
        (tmp_path / "data").mkdir()
        (tmp_path / "data" / "chroma.sqlite3").write_bytes(b"no database" * 1000)
        with pytest.raises(BackendUnavailable, match="open its folder"):
            ChromaVectorIndex.embedded(tmp_path)


class TestUrl:
    @pytest.mark.parametrize(
        "url",
        [
            "",
            "chroma:8000",
            "ftp://chroma:8000",
            "http://",
            "http://chroma:no",
            "http://chroma:8000/prefix",
            "http://chroma:8000?tenant=a",
            "http://user:secret@chroma:8000",
            "http://[::1",
        ],
    )
    def test_one_that_says_too_little_or_too_much_is_refused_without_repeating_it(self, url: str) -> None:
        with pytest.raises(ConfigError, match="http://host:port") as caught:
            ChromaVectorIndex.from_url(url)
        assert "secret" not in str(caught.value)

    @pytest.mark.parametrize(
        ("url", "address"),
        [
            ("http://chroma", ("http", "chroma", 8000)),
            ("https://chroma/", ("https", "chroma", 443)),
            ("https://chroma:8443", ("https", "chroma", 8443)),
            ("http://[::1]:9000", ("http", "[::1]", 9000)),
        ],
    )
    def test_gives_scheme_host_and_port(self, url: str, address: tuple[str, str, int]) -> None:
        assert chroma_client.address_of(url) == address

    def test_nobody_there_is_unavailable_when_it_is_asked(self) -> None:
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            index = ChromaVectorIndex.from_url(f"http://127.0.0.1:{unused.getsockname()[1]}")
            with pytest.raises(BackendUnavailable, match="chroma could not list"):
                index.ids(ADA)
            with pytest.raises(BackendUnavailable, match="not asked for a while"):
                index.ids(ADA)
            assert index.incidents() == {"chroma_unavailable": 1, "chroma_not_asked": 1}

    def test_somebody_silent_is_unavailable_in_time(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as silent:
            index = ChromaVectorIndex.from_url(f"http://127.0.0.1:{silent.getsockname()[1]}", deadline=0.2)
            with pytest.raises(BackendUnavailable, match="Timeout"):
                index.query(ADA, EAST, 1)

    def test_a_server_has_a_deadline(self, chroma_url: str) -> None:
        index = ChromaVectorIndex.from_url(chroma_url)
        sessions = chroma_client._sessions(index._connection.client)
        assert [(one.timeout.connect, one.timeout.read) for one in sessions] == [(2.0, 30.0)] * 2
        index.close()
        assert all(one.is_closed for one in sessions)

    def test_a_server_that_falls_silent_is_left_alone_for_a_while_and_found_again(self, chroma_url: str) -> None:
        server = urlsplit(chroma_url)
        with Proxy((str(server.hostname), int(server.port or 0))) as proxy:
            index = ChromaVectorIndex.from_url(f"http://127.0.0.1:{proxy.port}", deadline=0.5, pause=0.5)
            index.drop(ADA)
            index.upsert(ADA, [("a", EAST)])
            proxy.frozen = True
            for reason in ("Timeout", "not asked"):
                with pytest.raises(BackendUnavailable, match=reason):
                    index.query(ADA, EAST, 1)
            proxy.frozen = False
            proxy.break_connections()
            time.sleep(0.6)
            assert index.query(ADA, EAST, 1) == ("a",)
            index.close()


class TestProcess:
    def test_the_module_imports_no_driver(self, tmp_path: Path) -> None:
        script = """
            import sys
            import langchain_tiered_memory.backends.chroma
            print(sorted({"chromadb", "filelock", "httpx"} & sys.modules.keys()))
        """
        assert run(script, cwd=tmp_path) == "[]"

    @pytest.mark.parametrize("content", [b"CHROMA_SERVER_HTTP_PORT=abc\nIS_PERSISTENT=maybe\n", b"\xff\xfe\x00"])
    def test_a_hostile_env_file_in_the_working_directory_changes_nothing(self, tmp_path: Path, content: bytes) -> None:
        (tmp_path / ".env").write_bytes(content)
        script = """
            import numpy as np
            from langchain_tiered_memory.backends.chroma import ChromaVectorIndex
            index = ChromaVectorIndex.embedded("index")
            index.upsert("ada", [("a", np.ones(3, dtype=np.float32))])
            print(index.ids("ada"))
            import chromadb
            print(chromadb.config.Settings is not None, chromadb.api.client.Client.__name__)
        """
        assert run(script, cwd=tmp_path).splitlines() == ["frozenset({'a'})", "True Client"]

    def test_a_hostile_variable_of_the_environment_is_named_as_the_cause(self, tmp_path: Path) -> None:
        script = """
            from langchain_tiered_memory.backends.chroma import ChromaVectorIndex
            from langchain_tiered_memory.core.errors import ConfigError
            try:
                ChromaVectorIndex.embedded("index")
            except ConfigError as error:
                print(error)
        """
        assert "environment" in run(script, cwd=tmp_path, CHROMA_SERVER_HTTP_PORT="abc")

    def test_a_forked_child_has_no_embedded_index_and_ends_without_waiting(self, tmp_path: Path) -> None:
        """Neither a call nor the exit of a child touches the parent's client, which would wait for ever."""
        script = """
            import os, sys
            import numpy as np
            from langchain_tiered_memory.backends.chroma import ChromaVectorIndex, lock_folder
            from langchain_tiered_memory.core.errors import BackendUnavailable
            lock = lock_folder("index")
            index = ChromaVectorIndex.embedded("index")
            index.upsert("ada", [("a", np.ones(3, dtype=np.float32))])
            pid = os.fork()
            if pid == 0:
                try:
                    index.ids("ada")
                except BackendUnavailable as error:
                    assert "forked" in str(error)
                    index.close()
                    lock.release()
                    del lock
                    assert lock_folder("index") is None
                    sys.exit(7)
            print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), lock_folder("index"), index.ids("ada"))
            index.close()
            lock.release()
            print(lock_folder("index") is not None)
        """
        assert run(script, cwd=tmp_path).splitlines() == ["7 None frozenset({'a'})", "True"]

    def test_a_forked_child_connects_to_the_server_anew(self, tmp_path: Path, chroma_url: str) -> None:
        script = """
            import os, sys
            import numpy as np
            from langchain_tiered_memory.backends.chroma import ChromaVectorIndex
            index = ChromaVectorIndex.from_url(sys.argv[1])
            index.drop("forked")
            vector = np.ones(3, dtype=np.float32)
            index.upsert("forked", [("parent", vector)])
            pid = os.fork()
            if pid == 0:
                index.upsert("forked", [("child", vector)])
                index.close()
                sys.exit(7)
            print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), sorted(index.query("forked", vector, 5)))
            index.drop("forked")
            index.close()
        """
        assert run(script, chroma_url, cwd=tmp_path) == "7 ['child', 'parent']"


class TestLock:
    def test_has_one_holder_in_a_process(self, tmp_path: Path) -> None:
        lock = lock_folder(tmp_path / "new")
        assert lock is not None
        assert lock_folder(tmp_path / "new") is None
        lock.release()
        lock.release()
        again = lock_folder(tmp_path / "new")
        assert again is not None
        again.release()

    def test_has_one_holder_on_the_machine_and_goes_when_that_is_killed(self, tmp_path: Path) -> None:
        script = (
            "import sys; from langchain_tiered_memory.backends.chroma import lock_folder;"
            "lock = lock_folder(sys.argv[1]); print(lock is not None, flush=True); sys.stdin.read()"
        )
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        with subprocess.Popen(
            [sys.executable, "-c", script, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
        ) as holder:
            assert holder.stdout is not None
            assert holder.stdout.readline() == b"True\n"
            assert lock_folder(tmp_path) is None
            holder.send_signal(signal.SIGKILL)
            holder.wait()
        lock = lock_folder(tmp_path)
        assert lock is not None
        lock.release()

    def test_a_folder_that_takes_no_lock_is_left_alone_and_logged(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        (tmp_path / "file").touch()
        with caplog.at_level(logging.WARNING):
            assert lock_folder(tmp_path / "file") is None
        assert "cannot be locked" in caplog.text
