"""What may stand behind the magics."""

from __future__ import annotations

import pytest
from IPython.core.completer import provisionalcompleter

from tests.magics.shells import Shell


@pytest.fixture
def known(shell: Shell) -> Shell:
    shell.run(
        "for name in ('training_dit', 'training_vae', 'attention'):\n    nbprof.register_profiler_region(name, '')"
    )
    return shell


def completions(shell: Shell, text: str) -> list[str]:
    """What a front end would be offered at the end of the text."""
    with provisionalcompleter():
        return [one.text for one in shell.ip.Completer.completions(text, len(text))]


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("%%region tra", ["training_dit", "training_vae"]),
        ("%%region training_dit --sh", ["--shapes", "--show"]),
        ("%%region training_dit --show ", ["none", "report"]),
        ("%profile_once --a", ["--active"]),
        ("v = %profile_once --format ", ["chrome", "tensorboard"]),
        ("%%profile_once --memory --no-m", ["--no-memory"]),
        ("%regions ", ["disable", "enable", "reset"]),
        ("%regions disable a", ["all", "attention"]),
        ("%profiler st", ["start", "status", "stop"]),
    ],
)
def test_names_options_and_values_are_offered(known: Shell, line: str, offered: list[str]) -> None:
    assert sorted(completions(known, line)) == offered


def test_an_option_that_stands_there_is_not_offered_again(known: Shell) -> None:
    assert "--memory" not in completions(known, "%%region a --memory --me")


def test_the_users_code_is_completed_as_behind_any_magic(known: Shell) -> None:
    assert completions(known, "%profile_once x.cum") == completions(known, "%timeit x.cum") != []


def test_lines_below_the_magic_are_python(known: Shell) -> None:
    assert "cumsum" in completions(known, "%%region training_dit\nx.cum")
