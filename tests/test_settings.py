from __future__ import annotations

import os
from pathlib import Path

import pytest

from nbprof.settings import CaptureOptions, Rank, read_settings, switch_name, temporary_variable


def test_an_empty_environment_gives_the_defaults() -> None:
    settings = read_settings({})
    assert (settings.directory, settings.regions, dict(settings.switches), settings.show) == (None, (), {}, "report")
    assert settings.options == CaptureOptions(shapes=True, memory=False, stack=False, flops=False)
    assert settings.rank == Rank(0, 0, 1)


def test_every_variable_is_read() -> None:
    settings = read_settings(
        {
            "NBPROF_TORCH_PROFILE_REGIONS": " a ,, b ",
            "NBPROF_TORCH_PROFILE_FEED_FORWARD": "0",
            "NBPROF_TORCH_PROFILER_DIR": "~/traces",
            "NBPROF_TORCH_PROFILER_RECORD_SHAPES": "off",
            "NBPROF_TORCH_PROFILER_WITH_PROFILE_MEMORY": "TRUE",
            "NBPROF_TORCH_PROFILER_WITH_STACK": "yes",
            "NBPROF_TORCH_PROFILER_WITH_FLOPS": "1",
            "NBPROF_SHOW": "none",
            "RANK": "3",
            "LOCAL_RANK": "1",
            "WORLD_SIZE": "8",
        }
    )
    assert settings.regions == ("a", "b")
    assert settings.switches == {"FEED_FORWARD": False}
    assert settings.directory == Path.home() / "traces"
    assert settings.options == CaptureOptions(shapes=False, memory=True, stack=True, flops=True)
    assert settings.show == "none"
    assert settings.rank == Rank(3, 1, 8)


@pytest.mark.parametrize(
    ("variable", "value", "sentence"),
    [
        ("NBPROF_TORCH_PROFILER_WITH_STACK", "2", r"NBPROF_TORCH_PROFILER_WITH_STACK='2' is no boolean; use 1 or 0"),
        ("NBPROF_TORCH_PROFILE_A", "o", r"NBPROF_TORCH_PROFILE_A='o' is no boolean"),
        ("NBPROF_SHOW", "all", r"NBPROF_SHOW='all' is unknown; use one of report, none"),
    ],
)
def test_a_bad_value_names_its_variable(variable: str, value: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        read_settings({variable: value})


def test_a_switch_is_the_name_in_capitals() -> None:
    assert switch_name("feed-forward.2 é") == "FEED_FORWARD_2__"


def test_a_temporary_variable_leaves_the_users_own_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NBPROF_X", raising=False)
    with temporary_variable("NBPROF_X", "1"):
        assert os.environ["NBPROF_X"] == "1"
    assert "NBPROF_X" not in os.environ
    monkeypatch.setenv("NBPROF_X", "mine")
    with temporary_variable("NBPROF_X", "1"):
        assert os.environ["NBPROF_X"] == "mine"
