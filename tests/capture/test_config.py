from __future__ import annotations

import warnings

import pytest

from nbprof.capture.config import TorchProfilerConfig
from nbprof.capture.regions import register_profiler_region


@pytest.fixture(autouse=True)
def _three_regions() -> None:
    for name in ("attention", "feed_forward", "profiler_region_decode"):
        register_profiler_region(name, "")


def test_a_comma_list_with_blanks_and_short_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBPROF_TORCH_PROFILE_REGIONS", " Attention , decode,, ")
    assert TorchProfilerConfig.from_env().regions == {"attention": True, "profiler_region_decode": True}


def test_switches_turn_single_regions_on_and_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBPROF_TORCH_PROFILE_REGIONS", "attention")
    monkeypatch.setenv("NBPROF_TORCH_PROFILE_ATTENTION", "0")
    monkeypatch.setenv("NBPROF_TORCH_PROFILE_FEED_FORWARD", "1")
    monkeypatch.setenv("NBPROF_TORCH_PROFILE_DECODE", "true")
    assert TorchProfilerConfig.from_env().regions == {
        "attention": False,
        "feed_forward": True,
        "profiler_region_decode": True,
    }


def test_an_unknown_name_is_warned_about_once_with_the_nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBPROF_TORCH_PROFILE_REGIONS", "attention,feedforward")
    with pytest.warns(UserWarning, match=r"'feedforward' that is not registered; did you mean 'feed_forward'\?"):
        TorchProfilerConfig.from_env()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert TorchProfilerConfig.from_env().regions == {"attention": True}


def test_no_match_lists_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBPROF_TORCH_PROFILE_REGIONS", "xyz")
    with (
        pytest.warns(UserWarning, match="xyz"),
        pytest.raises(
            ValueError, match=r"no region that is registered: xyz\. Registered regions: attention, feed_forward"
        ),
    ):
        TorchProfilerConfig.from_env()


def test_nothing_given_and_nothing_on_by_default_says_which_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=r"none is on by default\. Set NBPROF_TORCH_PROFILE_REGIONS"):
        TorchProfilerConfig.from_env()
    register_profiler_region("always", "", default_enabled=True)
    assert TorchProfilerConfig.from_env().regions == {}


def test_names_given_in_code_are_resolved_or_refused() -> None:
    assert TorchProfilerConfig({"Decode": True}).regions == {"profiler_region_decode": True}
    with pytest.raises(ValueError, match="no region 'nope' to configure"):
        TorchProfilerConfig({"nope": True})
