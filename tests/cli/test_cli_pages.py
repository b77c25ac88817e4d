"""`elmbench pages`: marked blocks of Markdown files from results."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from sentences import sentence

from elmbench.report.result_blocks import ResultBlocks

#: Words of the blocks that need some.
WORDS = {"table": " toy/one ci"}


def block(words: str, content: str = "earlier text") -> str:
    return f"<!-- elmbench pages: {words} -->\n\n{content}\n\n<!-- end -->\n"


def cells_of(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


@pytest.fixture
def ran(elmbench: Callable, one: Path, worker: dict) -> None:
    """A run of the toy experiment under profile ci."""
    elmbench("run", "one", "--profile", "ci", "-q")


def test_blocks_are_filled_and_the_rest_stays(elmbench: Callable, ran: None) -> None:
    readme = Path("README.md")
    page = Path("docs/more/table.md")
    page.parent.mkdir(parents=True)
    foreign = block("kernels").replace("elmbench pages", "make pages")
    foreign += f"```markdown\n{block('signs')}```\n"
    readme.write_text(f"# Mine\n\n{block('grid')}\nAfter it.\n{foreign}")
    page.write_text(
        block("table one ci metric=mcc", "```\nearlier text\n```")
        + block("verdicts toy")
    )
    assert elmbench("pages").out == f"written to README.md\nwritten to {page}\n"

    before, grid, after = re.split(r"\n\n(?=\|)|(?<=\|)\n\n", readme.read_text())
    assert before == "# Mine\n\n<!-- elmbench pages: grid -->"
    assert after == f"<!-- end -->\n\nAfter it.\n{foreign}"
    heading, _, line = grid.splitlines()
    assert cells_of(heading) == [
        "paper",
        "tables",
        "values within the margin",
        "pairs in the printed order",
    ]
    assert cells_of(line) == ["A paper", "? undecided: Table I", "1 of 2", "–"]
    shown = page.read_text()
    assert "earlier text" not in shown
    assert "0.920" in shown
    assert "| Table I: Something | ci " in shown

    again = elmbench("pages")
    assert again.out == "2 files unchanged\n"
    assert elmbench("pages", "README.md", "--json").json == []


def test_every_block_is_made_from_the_results_of_a_project(
    elmbench: Callable, ran: None
) -> None:
    names = ResultBlocks.names
    page = Path("page.md")
    page.write_text("".join(block(name + WORDS.get(name, "")) for name in names))
    elmbench("pages", page)
    assert "earlier text" not in page.read_text()


def test_a_paper_that_has_not_run_says_so(elmbench: Callable, one: Path) -> None:
    Path("README.md").write_text(block("grid folder=papers") + block("answer"))
    elmbench("pages")
    text = Path("README.md").read_text()
    (line,) = (line for line in text.splitlines() if line.startswith("| A paper"))
    assert cells_of(line) == ["A paper", "not run", "–", "–", "[TOY](papers/toy.md)"]
    assert "No published value is compared." in text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (block("grids"), "unknown block 'grids'"),
        (block("table"), "missing a required argument: 'id'"),
        (block("grid color=red"), "unexpected keyword argument 'color'"),
        (block("verdicts miller"), "unknown paper 'miller'"),
        (block("table one"), "toy/one has no results under profile fast"),
        (block("table one fats"), "unknown profile 'fats' (did you mean 'fast'?)"),
        (block("table one ci reading=order=stored"), "under order=stored"),
        (block("table one ci metric=mc"), "unknown metric 'mc' (did you mean 'mcc'?)"),
        (
            block("table one ci metric=n_units"),
            "'n_units' is published\nExpected: one of fit_seconds, mcc",
        ),
        (block("table one ci dataset=x"), "unknown data set 'x'"),
        ("<!-- elmbench pages: grid -->\nText.\n", "the block 'grid' has no end"),
        (
            "<!-- elmbench pages: signs -->\nText.\n" + block("grid"),
            "the block 'signs' has no end",
        ),
    ],
)
def test_a_block_that_cannot_be_made_leaves_all_files(
    elmbench: Callable, ran: None, text: str, message: str
) -> None:
    Path("good.md").write_text(block("signs"))
    Path("bad.md").write_text(text)
    error = elmbench("pages", "good.md", "bad.md", code=2).err
    assert error.startswith("error: bad.md: ")
    assert message in error
    assert "\nNext: " in error
    assert Path("good.md").read_text() == block("signs")
    assert Path("bad.md").read_text() == text


def test_a_block_of_profile_ci_beside_others_names_these(
    elmbench: Callable, ran: None
) -> None:
    elmbench("run", "one", "--profile", "fast", "-q")
    Path("page.md").write_text(block("table one ci"))
    error = elmbench("pages", "page.md", code=2).err
    assert error == sentence("cli.pages.profile-ci-is-hidden")


def test_files_without_a_block_are_refused(elmbench: Callable, one: Path) -> None:
    assert "no block in README.md and docs/" in elmbench("pages", code=2).err
    Path("README.md").write_text("# Mine\n")
    error = elmbench("pages", code=2).err
    assert error == sentence("cli.pages.no-block")
    assert (
        "cannot read none.md: No such file" in elmbench("pages", "none.md", code=2).err
    )


def test_the_pages_of_a_project_are_found_from_a_subfolder(
    elmbench: Callable, one: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("elmbench.toml").write_text("")
    Path("README.md").write_text(block("signs"))
    Path("below").mkdir()
    monkeypatch.chdir("below")
    path = Path("..", "README.md")
    assert elmbench("pages", "--json").json == [str(path)]
    assert "≈ close" in path.read_text("utf-8")
