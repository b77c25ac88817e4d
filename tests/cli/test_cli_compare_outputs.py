"""`elmbench compare` never writes over its input, the code of its models or files of results."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sentences import sentence

from elmbench.registry.plugins import load_address
from elmbench.results.folders import TABLE_FILES


@pytest.fixture
def own_code(shop: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """Files of a plug-in, a package and a module in the working folder; later tests do not find
    them.
    """
    monkeypatch.setattr(sys, "path", list(sys.path))
    files = {
        "own_file.py": "from own_package import SVC\nMODELS = {'plug-in': SVC}\n",
        "own_package/__init__.py": "from own_neighbour import SVC\n",
        "own_package/part.py": "",
        "own_neighbour.py": "from sklearn.svm import SVC\n",
    }
    Path("own_package").mkdir()
    for name, text in files.items():
        Path(name).write_text(text)
    yield files
    load_address.cache_clear()
    for name in [name for name in sys.modules if name.startswith("own_")]:
        del sys.modules[name]


@pytest.mark.parametrize(
    "output", ["own_file.py", "own_package/part.py", "own_neighbour.py"]
)
@pytest.mark.parametrize("model", ["own_file:SVC", "own_package:SVC", "plug-in"])
def test_no_output_is_code_of_a_model(
    elmbench: Callable, shop: Path, own_code: dict[str, str], model: str, output: str
) -> None:
    plugin = ("--plugin", "own_file.py") if model == "plug-in" else ()
    command = (
        *plugin,
        "compare",
        shop,
        "-t",
        "buys",
        "-m",
        model,
        "--dry-run",
        "--html",
        output,
    )
    if (model, output) == ("own_package:SVC", "own_file.py"):
        assert "not written in a dry run: own_file.py" in elmbench(*command).out
    else:
        message = f"--html would write {output}, which is the input "
        assert message in elmbench(*command, code=2).err
    assert {name: Path(name).read_text() for name in own_code} == own_code


@pytest.mark.parametrize("option", ["--save", "--html"])
def test_no_output_is_a_file_of_results(
    elmbench: Callable, shop: Path, option: str
) -> None:
    store = Path("elmbench-results", ".store", "records", "1.log")
    cells = Path("elmbench-results", "compare", "own", "mine", "cells.csv")
    for path in (store, cells):
        path.parent.mkdir(parents=True)
        path.write_text("results")
    Path("link").symlink_to(store)
    for output in (store, cells, Path("link"), store.with_name("new")):
        words = ("compare", shop, "-t", "buys", "-m", "dummy", option, output)
        error = elmbench(*words, code=2).err
        assert (
            sentence(
                "cli.compare.output-inside-results-folder", option=option, output=output
            )
            in error
        )
    assert (store.read_text(), cells.read_text()) == ("results", "results")


@pytest.mark.parametrize("option", ["--save", "--html"])
def test_no_output_is_an_input(elmbench: Callable, shop: Path, option: str) -> None:
    content = shop.read_bytes()
    Path("link.csv").symlink_to(shop)
    for data, output in ((shop, "link.csv"), ("link.csv", shop), (shop, shop)):
        for more in ((), ("--dry-run",)):
            words = (
                "compare",
                data,
                "-t",
                "buys",
                "-m",
                "dummy",
                option,
                output,
                *more,
            )
            error = elmbench(*words, code=2).err
            assert f"{option} would write {output}, which is the input {data}" in error
    held_out = ("compare", "sklearn:iris", "--test", shop, option, "link.csv")
    assert "which is the input shop.csv" in elmbench(*held_out, code=2).err
    Path("mine.py").write_text("from sklearn.svm import SVC\nMODELS = {'mine': SVC}\n")
    plugin = ("--plugin", "mine.py", "compare", shop, option, "mine.py")
    assert "which is the input" in elmbench(*plugin, code=2).err
    same = ("compare", shop, "--save", "best", "--html", "./best")
    assert (
        sentence("cli.compare.output-of-two-options", file="best")
        in elmbench(*same, code=2).err
    )
    assert shop.read_bytes() == content
    assert Path("link.csv").is_symlink()
    assert not Path("elmbench-results").exists()


def test_a_table_of_an_earlier_comparison_is_not_replaced_by_the_tables_of_its_comparison(
    elmbench: Callable, worker: dict, shop: Path
) -> None:
    elmbench("compare", shop, "-t", "buys", "-m", "ridge", "--runs", "4")
    (folder,) = Path("elmbench-results/compare/own").iterdir()
    names = {path.name for path in folder.iterdir()}
    assert names <= set(TABLE_FILES)
    content = (folder / "cells.csv").read_bytes()
    words = ("compare", folder / "cells.csv", "-t", "model", "-m", "ridge", "--name")
    elmbench(*words, "shop")
    assert (folder / "cells.csv").read_bytes() == content
    diagram = ("table", f"own/{folder.name}", "--diagram", folder / "figure.png")
    assert "--diagram would write" in elmbench(*diagram, code=2).err
