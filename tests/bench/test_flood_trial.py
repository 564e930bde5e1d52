"""What is seen of a run: when something was said, and that it ends soon after."""

from dataclasses import dataclass, field

from australis.bench import flood_trial
from australis.bench.flood_trial import _watch


@dataclass
class Watched:
    """A run that says something, and a clock that goes on at every look."""

    ends: int
    says: dict[int, str]
    lead: int = 100
    looks: int = 0
    notices: list[tuple[int, str]] = field(default_factory=list)

    def wait(self, timeout: float) -> bool:
        assert timeout == flood_trial._LOOK
        self.looks += 1
        if self.looks in self.says:
            self.notices.append((len(self.notices) + 1, self.says[self.looks]))
        return self.looks >= self.ends

    def seconds(self) -> float:
        return self.lead + float(self.looks)


def test_each_notice_has_the_second_at_which_it_was_seen() -> None:
    watched = Watched(20, {4: "too much", 9: "not any more"})
    assert _watch(watched, watched, None) == [(4.0, "too much"), (9.0, "not any more")]  # type: ignore[arg-type]
    assert watched.looks == 20


def test_a_trial_ends_some_seconds_after_something_was_said() -> None:
    watched = Watched(100, {4: "too much"})
    assert _watch(watched, watched, 3.0) == [(4.0, "too much")]  # type: ignore[arg-type]
    assert watched.looks == 8
    silent = Watched(10, {})
    assert _watch(silent, silent, 3.0) == []  # type: ignore[arg-type]
