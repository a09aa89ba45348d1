"""The first line becomes a call, every other line stays where it was."""

from __future__ import annotations

import ast

import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from nbprof.magics.rewriting import HOME, FirstCalls, rewrite_first_line
from tests.magics.shells import Shell


def rewritten(text: str) -> str:
    return "".join(rewrite_first_line(text.splitlines(keepends=True)))


def test_a_region_is_one_call_in_the_place_of_its_line() -> None:
    assert rewritten("%%region a --memory\nx\ny\n") == f"{HOME}open_region('a --memory')\nx\ny\n"


def test_regions_that_follow_each_other_keep_their_lines() -> None:
    assert rewritten("%%region a\n%%region b\nx\n") == f"{HOME}open_region('a')\n{HOME}open_region('b')\nx\n"


def test_a_cell_that_is_one_profile_once_is_a_call_and_the_code_as_typed() -> None:
    assert rewritten("%profile_once --wait 0 f(x,  -w);\n\n") == f"{HOME}open_once('--wait 0'); f(x,  -w);\n\n"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x\n%%region a\n",
        "%%regions\nx\n",
        "%%region?\n",
        "%%region a\n%%time\nx\n",
        "%%region a\n\n%%time\nx\n",
        "%%region a\n%%profile_once\nx\n",
        "%profile_once f(x)\ny\n",
        "%profile_once f(x)?\n",
        "%profile_once for i in x: f(i)\n",
        "v = %profile_once f(x)\n",
        "%profile_once f(x\n",
    ],
)
def test_what_the_plain_magics_do_is_left_alone(text: str) -> None:
    assert rewritten(text) == text


@pytest.mark.parametrize("text", ["%%region a\n", "%%region a\n \n\n", "%%profile_once\n", "%%region a\n%%region b\n"])
def test_an_empty_body_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError, match="there are none"):
        rewritten(text)


def test_it_is_pure(shell: Shell) -> None:
    for _ in range(3):
        assert rewritten("%%region a\nx\n") == f"{HOME}open_region('a')\nx\n"
        shell.ip.check_complete("%%region a\nx\n")
    assert repr(shell.run("%regions").value).startswith("No region is registered yet")


def test_inside_a_cell_the_text_is_left_alone(shell: Shell) -> None:
    ran = shell.run("get_ipython().transform_cell('%%region a\\nx')").raise_error()
    assert ran.value.startswith("get_ipython().run_cell_magic('region'")


def body_of(shell: InteractiveShell, text: str) -> list[str]:
    return ast.unparse(FirstCalls(shell).visit(ast.parse(rewritten(text)))).splitlines()


def test_a_cell_that_can_not_run_opens_nothing(shell: Shell) -> None:
    assert body_of(shell.ip, "%%region a\nx\nreturn 5\n") == ["x", "return 5"]


def test_what_runs_several_times_is_a_loop_whose_last_value_is_shown(shell: Shell) -> None:
    assert body_of(shell.ip, "%%profile_once\ny = 1\ny\n")[1:] == [
        f"while {HOME}goes_on():".replace('"', "'"),
        "    y = 1",
        f"    {HOME}keep(y)".replace('"', "'"),
        f"{HOME}take()".replace('"', "'"),
    ]
