"""Folders of the tests: a cache of their own, and the real files where `ELMBENCH_DATA_DIR` names
them.
"""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from loopback import API, Server
from sklearn.datasets import load_breast_cancer

from elmbench.datasets import fetch, find, load
from elmbench.datasets.sources import base as download
from elmbench.specs.datasets import DatasetSpecs, parse_dataset_specs
from elmbench.specs.files import spec_root

GIVEN = os.environ.get("ELMBENCH_DATA_DIR")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELMBENCH_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Folder of the real files."""
    if not GIVEN:
        pytest.skip("needs ELMBENCH_DATA_DIR: a folder with the public files")
    return Path(GIVEN)


@pytest.fixture(scope="session")
def wdbc_lines() -> list[str]:
    """The lines of wdbc.csv, header first, from what scikit-learn brings along."""
    bunch = load_breast_cancer()
    header = ",".join([f"V{index}" for index in range(1, 31)] + ["target"])
    labels = np.where(bunch.target == 0, 2, 1)
    rows = [
        ",".join([*(f"{v:.6f}" for v in row), str(label)])
        for row, label in zip(bunch.data, labels, strict=True)
    ]
    return [header, *rows]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty data directory."""
    path = tmp_path / "data"
    path.mkdir()
    return path


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A web server on loopback; no host is known to be out of reach."""
    running = Server()
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr(download, "_closed", set())
    yield running
    running.close()


@pytest.fixture
def openml_server(
    server: Server,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> Server:
    """The same server, with OpenML's client configured for it: nothing of the client is
    replaced.
    """
    # It makes these folders as soon as it is imported.
    monkeypatch.setenv("OPENML_CACHE_DIR", str(tmp_path_factory.mktemp("openml")))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
    import openml

    monkeypatch.setattr(openml.config, "server", server.url + API)
    monkeypatch.setattr(openml.config, "connection_n_retries", 2)
    return server


@pytest.fixture
def use_specs(
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[[dict[str, Any]], DatasetSpecs]:
    """Put other data sets in place of those of `datasets.yaml`."""

    def use(content: dict[str, Any]) -> DatasetSpecs:
        specs = parse_dataset_specs(content, "test.yaml")
        for module in (load, fetch, find):
            monkeypatch.setattr(module, "load_dataset_specs", lambda: specs)
        return specs

    return use


@pytest.fixture
def loopback_specs(server: Server, use_specs: Callable[..., DatasetSpecs]) -> Server:
    """`datasets.yaml` as it is, but for the host of every address, which is the server on
    loopback.
    """
    text = (spec_root() / "datasets.yaml").read_text()
    use_specs(yaml.safe_load(re.sub(r"https://[^/\s\"]+/", server.url + "/", text)))
    return server
