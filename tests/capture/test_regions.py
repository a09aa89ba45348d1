from __future__ import annotations

import pytest

from nbprof.capture.regions import (
    ProfilerRegion,
    disable_region,
    enable_region,
    list_profiler_regions,
    region_state,
    register_profiler_region,
    reset_region,
    resolve_profiler_region,
)


def test_names_are_stripped_and_lower_cased() -> None:
    register_profiler_region("  Training_DiT ", "the DiT", default_enabled=True)
    assert resolve_profiler_region("TRAINING_dit") == ProfilerRegion("training_dit", "the DiT", True)


@pytest.mark.parametrize("name", ["", "   ", "\t\n"])
def test_an_empty_name_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="needs a name that is not empty"):
        register_profiler_region(name, "nothing")


def test_registering_twice_is_refused_and_says_what_stands_there() -> None:
    register_profiler_region("a", "the first")
    with pytest.raises(ValueError, match=r"'a' is already registered \('the first'\)"):
        register_profiler_region(" A", "the second")


@pytest.mark.parametrize("name", ["", " a", "A"])
def test_region_metadata_refuses_a_name_that_no_registration_makes(name: str) -> None:
    with pytest.raises(ValueError, match="must be non-empty, lower-case"):
        ProfilerRegion(name, "")


def test_a_short_name_resolves_behind_the_long_prefix() -> None:
    register_profiler_region("profiler_region_denoising", "the loop")
    found = resolve_profiler_region("denoising")
    assert found is not None
    assert found.name == "profiler_region_denoising"
    assert resolve_profiler_region("noising") is None


def test_listing_is_sorted() -> None:
    for name in ("b", "c", "a"):
        register_profiler_region(name, "")
    assert [region.name for region in list_profiler_regions()] == ["a", "b", "c"]


def test_states_are_on_off_and_default() -> None:
    register_profiler_region("a", "")
    assert region_state("a") == "default"
    enable_region("A")
    assert region_state("a") == "on"
    disable_region("a")
    assert region_state("a") == "off"
    reset_region("a")
    assert region_state("a") == "default"


def test_an_unknown_region_is_refused_with_the_nearest_name() -> None:
    register_profiler_region("attention", "")
    with pytest.raises(ValueError, match=r"no region 'atention'; did you mean 'attention'\? Registered: attention"):
        enable_region("atention")


def test_a_region_registered_late_picks_up_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBPROF_TORCH_PROFILE_REGIONS", "early, late")
    monkeypatch.setenv("NBPROF_TORCH_PROFILE_FEED_FORWARD", "0")
    register_profiler_region("late", "")
    register_profiler_region("feed-forward", "")
    register_profiler_region("other", "")
    assert [region_state(name) for name in ("late", "feed-forward", "other")] == ["on", "off", "default"]


def test_a_bad_boolean_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBPROF_TORCH_PROFILE_A", "maybe")
    with pytest.raises(ValueError, match="NBPROF_TORCH_PROFILE_A='maybe' is no boolean; use 1 or 0"):
        register_profiler_region("a", "")


def test_a_bad_environment_registers_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBPROF_TORCH_PROFILE_X", "maybe")
    with pytest.raises(ValueError, match="NBPROF_TORCH_PROFILE_X"):
        register_profiler_region("a", "")
    monkeypatch.delenv("NBPROF_TORCH_PROFILE_X")
    register_profiler_region("a", "")
