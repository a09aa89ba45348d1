from __future__ import annotations

import threading

import pytest

from nbprof.capture import regions
from nbprof.capture.regions import (
    ProfilerRegion,
    disable_region,
    enable_region,
    list_profiler_regions,
    region,
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


def test_an_idle_region_lets_values_and_exceptions_through() -> None:
    @region("idle")
    def double(x: int) -> int:
        """Twice."""
        return 2 * x

    assert double(3) == 6
    assert double.__doc__ == "Twice."
    with pytest.raises(KeyError), region("idle"):
        raise KeyError("mine")


def test_a_name_that_is_no_text_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="name is text, not int"):
        region(3)  # type: ignore[arg-type]


def test_names_made_up_on_the_fly_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regions, "_MOST_SLOTS", 5)
    for number in range(20):
        with region(f"step {number}"):
            pass
    assert len(regions._slots) == 5


class _Recorder:
    """A stand-in that counts."""

    def __init__(self) -> None:
        self.open = 0
        self.entered = 0

    def __enter__(self) -> None:
        self.open += 1
        self.entered += 1

    def __exit__(self, *exc: object) -> None:
        self.open -= 1


def test_a_slot_taken_while_off_looks_again_when_it_is_entered() -> None:
    kept = region("kept")
    recorder = _Recorder()
    regions.follow(lambda slot: recorder)
    with kept:
        assert recorder.open == 1
        with kept:
            assert recorder.open == 2
            regions.follow(None)  # what was entered is left, whoever follows now
    assert (recorder.open, recorder.entered) == (0, 2)


def test_a_slot_entered_while_off_and_left_while_on_closes_nothing_of_others() -> None:
    kept = region("kept")
    recorder = _Recorder()
    with kept:
        regions.follow(lambda slot: recorder)
        thread = threading.Thread(target=kept.__exit__, args=(None, None, None))
        with kept:
            thread.start()
            thread.join()
            assert recorder.open == 1
        assert recorder.open == 0
    assert recorder.open == 0
    regions.follow(None)
