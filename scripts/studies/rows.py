"""Rows of a study: every case run and measured, in one process or on several, in the order of the cases."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from functools import lru_cache
from typing import Any

from kinetree.scripts.studies.measures import measured

AHEAD = 4  # tasks per worker that wait


@lru_cache(maxsize=2)
def mechanism_of(source: str) -> Any:
    """Loaded once per process."""
    from kinetree.models import load

    return load(source)


def one_row(source: str, case: dict[str, float], options: dict[str, Any], texts: Sequence[str]) -> list[float]:
    """Parameters and measures of one case."""
    from kinetree.models.analysis.moment import linear_at_rest

    system = mechanism_of(source).compile(**case)
    moving = any("(" in text for text in texts)
    result = system.simulate(**options) if moving else None
    columns: Mapping[str, Any] = result if result is not None else {}
    time = result.time if result is not None else None
    return [*case.values(), *(measured(text, time, columns, lambda: linear_at_rest(system, options.get("inputs"))) for text in texts)]  # type: ignore[arg-type]


def rows_of(
    source: str, cases: Sequence[dict[str, float]], options: dict[str, Any], texts: Sequence[str], workers: int, told: Callable[[float], None]
) -> Iterator[tuple[int, list[float]]]:
    """Number and row of every case as it is done; a worker that dies takes its case along, which is then run here."""
    if workers <= 1:
        for number, case in enumerate(cases):
            told(number)
            yield number, one_row(source, case, options, texts)
        return
    from concurrent.futures.process import BrokenProcessPool

    left, waiting, done = list(range(len(cases)))[::-1], {}, 0
    with ProcessPoolExecutor(workers) as pool:
        try:
            while left or waiting:
                while left and len(waiting) < AHEAD * workers:
                    number = left.pop()
                    waiting[pool.submit(one_row, source, cases[number], options, texts)] = number
                for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                    row = future.result()
                    number = waiting.pop(future)
                    done += 1
                    told(done)
                    yield number, row
        except BrokenProcessPool:
            for number in sorted([*left, *waiting.values()]):
                yield number, one_row(source, cases[number], options, texts)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
