"""Rows of a study: every case run and measured, in one process, on several, or on a cluster, numbered by their cases."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from functools import lru_cache
from typing import Any

from kinetree.scripts.studies.measures import AtRest, measured
from kinetree.scripts.terminal.failure import BadInput

AHEAD = 4  # tasks per worker that wait
ON_CLUSTER = 16  # cases of a task on a cluster
TRIES = 5  # workers that may die over one task

Rows = Iterator[tuple[int, list[float]]]
Cases = Sequence[dict[str, float]]


@lru_cache(maxsize=2)
def mechanism_of(source: str) -> Any:
    """Loaded once per process; a description may be given as the text of its JSON."""
    from kinetree.models import load

    return load(json.loads(source)) if source.startswith("{") else load(source)


def one_row(source: str, case: dict[str, float], options: dict[str, Any], texts: Sequence[str]) -> list[float]:
    """Parameters and measures of one case."""
    return row_of(mechanism_of(source), case, options, texts)


def row_of(mechanism: Any, case: Mapping[str, float], options: Mapping[str, Any], texts: Sequence[str]) -> list[float]:
    """The same of a mechanism that is loaded."""
    system = mechanism.compile(**case)
    moving = any("(" in text and not text.startswith("rest(") for text in texts)
    result = system.simulate(**options) if moving else None
    columns: Mapping[str, Any] = result if result is not None else {}
    time: Any = result.time if result is not None else None
    rest: list[AtRest] = []

    def at_rest() -> AtRest:
        if not rest:
            rest.append(AtRest(system, options.get("inputs")))
        return rest[0]

    return [*case.values(), *(measured(text, time, columns, at_rest) for text in texts)]


def rows_of(
    source: str,
    cases: Cases,
    options: dict[str, Any],
    texts: Sequence[str],
    workers: int,
    told: Callable[[float], None],
    cluster: str = "",
) -> Rows:
    """Number and row of every case as it is done."""
    if cluster:
        yield from on_cluster(source, cases, options, texts, cluster, told)
    elif workers > 1:
        yield from on_workers(source, cases, options, texts, workers, told)
    else:
        for number, case in enumerate(cases):
            told(number)
            yield number, one_row(source, case, options, texts)


def on_workers(
    source: str, cases: Sequence[dict[str, float]], options: dict, texts: Sequence[str], workers: int, told: Callable[[float], None]
) -> Rows:
    """Processes of this machine; a worker that dies takes its case along, which is then run here."""
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


def some_rows(source: str, cases: Cases, options: dict[str, Any], texts: Sequence[str]) -> list[list[float]]:
    """Rows of a task."""
    return [one_row(source, case, options, texts) for case in cases]


def on_cluster(
    source: str, cases: Sequence[dict[str, float]], options: dict, texts: Sequence[str], address: str, told: Callable[[float], None]
) -> Rows:
    """A Dask cluster whose workers have kinetree; the description travels, and what a worker takes along when it dies runs on another one."""
    try:
        from dask.distributed import Client, as_completed
    except ImportError:
        raise BadInput("--cluster needs dask: pip install 'kinetree[cluster]'") from None
    from kinetree.models.description.source import read

    sent = source if source.startswith("lib:") else json.dumps(read(source)[0])
    try:
        client = Client(address, timeout=20, set_as_default=False)
    except (OSError, ValueError) as error:
        raise BadInput(f"--cluster {address}: no scheduler answers ({str(error)[:200]})") from None
    with client:
        parts = [range(first, min(first + ON_CLUSTER, len(cases))) for first in range(0, len(cases), ON_CLUSTER)]
        left, places, done = list(reversed(parts)), {}, 0
        flow = as_completed(loop=client.loop)

        def send() -> None:
            part = left.pop()
            future = client.submit(some_rows, sent, [cases[k] for k in part], options, list(texts), retries=TRIES, pure=False)
            places[future.key] = part
            flow.add(future)

        threads = max(1, sum(client.nthreads().values()))
        for _ in range(min(len(left), AHEAD * threads)):
            send()
        for future in flow:
            rows: Any = future.result()
            for number, row in zip(places.pop(future.key), rows, strict=True):
                done += 1
                told(done)
                yield number, row
            future.release()
            if left:
                send()
