"""Options at the front of a line; all behind them stays as it was typed."""

from __future__ import annotations

from pathlib import Path

import pytest
from IPython.core.error import UsageError

from nbprof.magics import cell
from nbprof.magics.arguments import split_front, takes_value, wishes_of
from nbprof.settings import CaptureOptions


@pytest.mark.parametrize(
    ("line", "options", "code"),
    [
        ("f(x)", [], "f(x)"),
        ("  f(x, -w)  ", [], "f(x, -w)"),
        ('s="a   b"', [], 's="a   b"'),
        ("--wait 2 f(x)", ["--wait", "2"], "f(x)"),
        ("--wait=2 --memory f(x, --y)", ["--wait", "2", "--memory"], "f(x, --y)"),
        ("-o T --dir 'a b' \"it's {w}\"", ["-o", "T", "--dir", "a b"], '"it\'s {w}"'),
        ("-- -w", [], "-w"),
        ("--stack -- -w + 1", ["--stack"], "-w + 1"),
        ("-w.sum()", [], "-w.sum()"),
        ("", [], ""),
        ("--memory", ["--memory"], ""),
    ],
)
def test_options_end_at_the_first_word_that_is_none(line: str, options: list[str], code: str) -> None:
    assert split_front(line, cell.once_parser) == (options, code)


def test_an_unknown_option_is_named_with_the_way_out() -> None:
    with pytest.raises(UsageError, match=r"Unknown option -n; there are --active.* put -- in front of it"):
        split_front("-n 3 f(x)", cell.once_parser)


def test_wrong_counts_are_reported_together() -> None:
    with pytest.raises(UsageError, match=r"wait=-1 must be .* at least 0; active=0 must be .* at least 1"):
        cell.parse_once("--active 0 --wait -1 f(x)", is_cell=False)


@pytest.mark.parametrize("line", ["--wait x f()", "--show panels f()", "-o 3x f()", "--dir 'a f()"])
def test_a_bad_value_is_a_usage_error(line: str) -> None:
    with pytest.raises(UsageError):
        cell.parse_once(line, is_cell=False)


def test_what_is_not_said_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBPROF_TORCH_PROFILER_WITH_STACK", "1")
    monkeypatch.setenv("NBPROF_TORCH_PROFILER_WITH_FLOPS", "1")
    monkeypatch.setenv("NBPROF_TORCH_PROFILER_DIR", "/traces")
    monkeypatch.setenv("NBPROF_SHOW", "none")
    wishes = wishes_of(cell.region_parser.parse_args(["a", "--no-flops", "--no-shapes", "--memory"]))
    assert wishes.options == CaptureOptions(shapes=False, memory=True, stack=True, flops=False)
    assert (wishes.directory, wishes.show) == (Path("/traces"), "none")


def test_a_bad_variable_is_a_usage_error_that_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBPROF_TORCH_PROFILER_WITH_STACK", "maybe")
    with pytest.raises(UsageError, match="NBPROF_TORCH_PROFILER_WITH_STACK='maybe'"):
        cell.parse_region("a")


def test_a_name_may_hold_blanks() -> None:
    assert cell.parse_region("my  region --stack")[0] == "my region"
    assert cell.parse_region('"two  blanks"')[0] == "two  blanks"


def test_every_option_stands_in_the_help() -> None:
    for function, parser in ((cell.region, cell.region_parser), (cell.profile_once, cell.once_parser)):
        assert all(option in (function.__doc__ or "") for option in takes_value(parser))
    assert "\n  %%region NAME" in (cell.region.__doc__ or "") and "\n  %profile_once [" in (
        cell.profile_once.__doc__ or ""
    )
