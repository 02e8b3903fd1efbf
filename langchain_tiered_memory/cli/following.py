"""How far a long command is: bars for who looks on, and where it stands for who stops it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import typer

from langchain_tiered_memory.cli.common import INTERRUPTED, STAYS
from langchain_tiered_memory.cli.screen import Screen, plain
from langchain_tiered_memory.core.progress import told_to

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_LONGEST = 60


@dataclass(frozen=True, slots=True)
class _Step:
    """How far a step is, and the bar that shows it."""

    name: str
    task: TaskID
    done: float
    total: float | None

    @property
    def over(self) -> bool:
        """Whether it is done."""
        return self.total is not None and self.done >= self.total

    def __str__(self) -> str:
        """Say how far it is; what is told as a share of one is said in percent."""
        if self.total is None:
            return self.name
        return f"{self.name}, at {f'{self.done:.0%}' if self.total == 1 else f'{self.done:.0f} of {self.total:.0f}'}"


@dataclass(frozen=True, slots=True)
class Following:
    """Shows each step as a bar, and keeps how far it came."""

    bars: Progress
    _steps: dict[str, _Step] = field(default_factory=dict)

    def __call__(self, step: str, done: float, total: float | None) -> None:
        """Show how far a step is: one that begins again starts its bar anew, one without anything to do has none."""
        if total == 0:
            return
        known = self._steps.get(step)
        task = self.bars.add_task(plain(step, _LONGEST), total=total) if known is None else known.task
        if known is not None and not done:
            self.bars.reset(task)
        self.bars.update(task, completed=done, total=total)
        self._steps[step] = _Step(plain(step, _LONGEST), task, done, total)

    def between(self, step: str, by: int) -> None:
        """Move the bar of a step on by so much, ahead of what the step itself tells."""
        if step in self._steps and not self._steps[step].over:
            self.bars.advance(self._steps[step].task, by)

    @property
    def stand(self) -> str:
        """Where it stands, such as " while consolidating, at 300 of 1200": the outermost step that is not over."""
        steps = list(self._steps.values())
        return next((f" while {one}" for one in [*steps, *steps[-1:]] if not one.over or one is steps[-1]), "")


@contextmanager
def following(screen: Screen, stays: str = STAYS, *, bars: bool = True) -> Iterator[Following]:
    """Show the steps of what is done within the block, and on Ctrl-C say where it stands.

    Args:
        screen: Where.
        stays: What is true of what was done by then.
        bars: Whether bars may be shown; not while the data themselves go to the terminal.

    Raises:
        Exit: It was stopped.
    """
    with screen.progress(wanted=bars) as progress:
        shown = Following(progress)
        try:
            with told_to(shown):
                yield shown
        except KeyboardInterrupt:
            progress.stop()
            screen.note(f"stopped{shown.stand}: {stays}")
            raise typer.Exit(INTERRUPTED) from None
