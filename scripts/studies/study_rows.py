"""Computes the rows of a study, one per run, in worker processes or on a cluster."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from kinetree.models.engine.status import EvaluationError
from kinetree.models.language.errors import ModelError
from kinetree.models.run.keyboard_interrupt import raise_if_interrupted
from kinetree.models.specialised.engine_choice import Choice
from kinetree.scripts.measures.run_measures import AtRest, columns_of, measured
from kinetree.scripts.measures.run_parts import RunParts, speak_of_parts
from kinetree.scripts.studies.portable_description import alone
from kinetree.scripts.studies.worker_processes import shared
from kinetree.scripts.terminal.error_messages import BadInput

AHEAD = 4  # tasks per thread of a cluster that wait
TOGETHER = 16  # cases of a task, at most
IN_LANES = 64  # the same where they run in vector lanes
TASKS = (
    8  # of a worker, at least, as far as there are cases: the last ones end at about the same time
)
TRIES = 5  # workers that may die over one task
KILLED = "KilledWorker"  # dask's word for a task on which too many have died
WORTH = 4  # cases per parameter from which it pays to find out whether they differ in numbers only

Rows = Iterator[tuple[int, list[float]]]
Cases = Sequence[dict[str, float]]


def loaded(source: str) -> Any:
    """Return the mechanism of a source, which may be the text of a JSON description."""
    from kinetree.models import load

    return load(json.loads(source)) if source.startswith("{") else load(source)


mechanism_of = lru_cache(maxsize=2)(loaded)  # once per process


@lru_cache(maxsize=2)
def base_of(source: str, token: int) -> Any:
    """Return the compiled system of a study; it is compiled once per process and token."""
    return loaded(source).compile()


def told_by_numbers(source: str, cases: Cases) -> int:
    """Return a token for `base_of` if the cases differ in numeric parameters only, else 0; few
    cases are not examined.
    """
    from kinetree.models.run.ensemble_cases import Cases as Many

    names = list(cases[0]) if cases else []
    if len(cases) <= WORTH * len(names):
        return 0
    token = time.time_ns()
    base = base_of(source, token)
    if base.description.chain is not None or not all(
        name in base.description.parameters for name in names
    ):
        return 0
    return (
        token
        if Many(base, {name: [case[name] for case in cases] for name in names}, None).quick
        else 0
    )


def system_of(source: str, case: dict[str, float], token: int) -> Any:
    """Return the compiled system of a case."""
    from kinetree.models.run.reparameterize import reparameterized_structures

    if not token:
        return mechanism_of(source).compile(**case)
    base = base_of(source, token)
    return reparameterized_structures(
        base, case, base.preparation if base.description.run.prepare else None
    )


def one_row(
    source: str, case: dict[str, float], options: dict[str, Any], texts: Sequence[str], token: int
) -> list[float]:
    """Return parameters and measures of one case; measures are NaN if it fails."""
    try:
        return row_of(system_of(source, case, token), case, options, texts)
    except (EvaluationError, ModelError):
        return without_numbers(case, texts)


def without_numbers(case: Mapping[str, float], texts: Sequence[str]) -> list[float]:
    """Return the row of a failed case, with NaN for all measures."""
    return [*case.values(), *[math.nan] * len(texts)]


def failed(rows: Sequence[Sequence[float]], inputs: int) -> list[int]:
    """Return the indices of rows whose measures are all NaN."""
    return [
        k for k, row in enumerate(rows) if len(row) > inputs and all(map(math.isnan, row[inputs:]))
    ]


def failure_of(
    source: str, case: dict[str, float], options: dict[str, Any], texts: Sequence[str]
) -> EvaluationError | ModelError | None:
    """Run a case once more and return the error with which it fails; None if it succeeds."""
    try:
        row_of(system_of(source, case, 0), case, options, texts)
    except (EvaluationError, ModelError) as error:
        return error
    return None


def row_of(
    system: Any, case: Mapping[str, float], options: Mapping[str, Any], texts: Sequence[str]
) -> list[float]:
    """Return the row of a compiled system. The option `specialised` sets straight-line code always
    or never; by default it is used where a single run is long enough, so that rows do not depend
    on the worker that computes them.
    """
    moving = any("(" in text and not text.startswith("rest(") for text in texts)
    result = raise_if_interrupted(moved(system, **options)) if moving else None
    columns: Mapping[str, Any] = result if result is not None else {}
    time: Any = result.time if result is not None else None
    rest: list[AtRest] = []

    def at_rest() -> AtRest:
        if not rest:
            rest.append(AtRest(system, options.get("inputs")))
        return rest[0]

    inside = None
    if result is not None and speak_of_parts(texts):
        numbers = result["stage"] if "stage" in result else np.zeros(result.time.size)
        inside = RunParts.of(system).inside(numbers)
    return [*case.values(), *(measured(text, time, columns, at_rest, inside) for text in texts)]


def moved(system: Any, specialised: bool | None = None, **options: Any) -> Any:
    """Return the result of a run by the engine, by straight-line code, or by the cheaper of both."""
    if specialised is None:
        return system.simulate(choice=Choice().consider, **options)
    return (system.specialise() if specialised else system).simulate(**options)


def rows_of(
    source: str,
    cases: Cases,
    options: dict[str, Any],
    texts: Sequence[str],
    workers: int,
    told: Callable[[float], None],
    cluster: str = "",
) -> Rows:
    """Yield index and row of every case as it finishes."""
    token = told_by_numbers(source, cases)
    if cluster:
        yield from on_cluster(source, cases, options, texts, cluster, told, token)
    elif workers > 1:
        yield from on_workers(source, cases, options, texts, workers, told, token)
    else:
        for part in parts_of_cases(len(cases), 1, together(options, texts, token)):
            told(part.start)
            yield from zip(
                part,
                some_rows(source, [cases[k] for k in part], options, texts, token),
                strict=True,
            )


def together(options: Mapping[str, Any], texts: Sequence[str], token: int) -> int:
    """Return the largest number of cases per task: many where they run in SIMD lanes, which needs a
    fixed-step method and measures of runs only.
    """
    runs = all("(" in text and not text.startswith("rest(") for text in texts)
    lanes = options.get("integrator") == "rk4" and not options.get("specialised")
    return IN_LANES if token and runs and lanes else TOGETHER


def parts_of_cases(count: int, workers: int, most: int = TOGETHER) -> list[range]:
    """Return ranges of cases that are sent to a worker together, since a message costs as much as
    several rows.
    """
    size = max(1, min(most, count // (TASKS * workers)))
    return [range(first, min(first + size, count)) for first in range(0, count, size)]


def some_rows(
    source: str, cases: Cases, options: dict[str, Any], texts: Sequence[str], token: int
) -> list[list[float]]:
    """Return the rows of a task, computed in SIMD lanes where the method and the measures allow it."""
    if together(options, texts, token) == IN_LANES and len(cases) > 1:
        found = rows_in_lanes(base_of(source, token), cases, options, texts)
        return [
            row or one_row(source, case, options, texts, token)
            for case, row in zip(cases, found, strict=True)
        ]
    return [one_row(source, case, options, texts, token) for case in cases]


def rows_in_lanes(
    system: Any, cases: Cases, options: Mapping[str, Any], texts: Sequence[str]
) -> list[list[float]]:
    """Return the rows of one ensemble in SIMD lanes; an empty row for a run that ended early."""
    given = {name: [case[name] for case in cases] for name in cases[0]}
    set_up = {key: value for key, value in options.items() if key != "specialised"}
    try:
        runs = system.simulate_many(given, outputs=columns_of(texts), threads=1, **set_up)
    except (
        EvaluationError,
        ModelError,
        KeyError,
        ValueError,
    ):  # cases say one by one what is wrong
        return [[] for _ in cases]
    found = []
    parts = RunParts.of(system) if speak_of_parts(texts) else None
    for k, case in enumerate(cases):
        columns = {name: runs[name][k] for name in runs.names}
        inside = parts.inside(runs.stages[k]) if parts is not None else None
        numbers = (measured(text, runs.time, columns, no_rest, inside) for text in texts)
        found.append([] if k in runs.failures else [*case.values(), *numbers])
    return found


def no_rest() -> AtRest:
    raise ValueError("a measure of a run asked for a state of rest")


def on_workers(
    source: str,
    cases: Cases,
    options: dict,
    texts: Sequence[str],
    workers: int,
    told: Callable[[float], None],
    token: int,
) -> Rows:
    """Yield rows from worker processes; cases of dead workers are repeated here."""
    most = together(options, texts, token)
    work = Work(source, options, texts, token)
    tasks = parts_of_cases(len(cases), workers, most)
    for done, (number, row) in enumerate(shared(work, cases, tasks, workers, most == IN_LANES), 1):
        told(done)
        yield number, without_numbers(cases[number], texts) if row is None else row


class Work(NamedTuple):
    """The computation of rows that is sent once to every worker."""

    source: str
    options: dict[str, Any]
    texts: Sequence[str]
    token: int

    def __call__(self, cases: Cases) -> list[list[float]]:
        return some_rows(self.source, cases, self.options, self.texts, self.token)


def on_cluster(
    source: str,
    cases: Cases,
    options: dict,
    texts: Sequence[str],
    address: str,
    told: Callable[[float], None],
    token: int,
) -> Rows:
    """Yield rows from a Dask cluster; lost cases are repeated."""
    try:
        from dask.distributed import Client, as_completed
    except ImportError:
        raise BadInput("--cluster needs dask: pip install 'kinetree[cluster]'") from None
    sent = source if source.startswith("lib:") else json.dumps(alone(source))
    try:
        client = Client(address, timeout=20, set_as_default=False)
    except (OSError, ValueError) as error:
        raise BadInput(f"--cluster {address}: no scheduler answers ({str(error)[:200]})") from None
    with client:
        workers: Any = (
            client.nthreads()
        )  # dask's own word for it may be a coroutine in another mode of the client
        threads = max(1, sum(workers.values()))
        left, places, done = (
            parts_of_cases(len(cases), threads, together(options, texts, token))[::-1],
            {},
            0,
        )
        flow = as_completed(loop=client.loop)

        def send() -> None:
            part = left.pop()
            future = client.submit(
                some_rows,
                sent,
                [cases[k] for k in part],
                options,
                list(texts),
                token,
                retries=TRIES,
                pure=False,
            )
            places[future.key] = part
            flow.add(future)

        for _ in range(min(len(left), AHEAD * threads)):
            send()
        for future in flow:
            part = places.pop(future.key)
            try:
                rows: Any = future.result()
            except Exception as error:
                if type(error).__name__ != KILLED:
                    raise
                if len(part) > 1:  # one of its cases ends workers: each by itself
                    left += [range(k, k + 1) for k in part]
                    send()
                    continue
                rows = [without_numbers(cases[k], texts) for k in part]
            done += len(part)
            told(done)
            yield from zip(part, rows, strict=True)
            future.release()
            if left:
                send()
