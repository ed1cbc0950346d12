"""Worker processes that share the cases of a study.

A worker that dies is replaced; the case on which it died runs once more, alone, and a case that
ends two workers is lost. A worker receives a task of some cases by its pipe and sends each row as
soon as it is computed, so that the case which ended a process is known. Workers ignore SIGINT,
which their parent process handles.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any

from kinetree.scripts.terminal.child_process import fault_of

DEATHS = 2  # workers that a case may end
LOOK = 2.0  # s between two looks of a waiting worker at whether the process that started it lives
PATIENCE = 5.0  # s for a process to end

Some = Callable[[Sequence[Any]], list[Any]]
Task = list[int]


class Worker:
    """A worker process with its pipe, and the cases whose rows it has not sent yet."""

    def __init__(self, work: Some, together: bool):
        self.ours, theirs = multiprocessing.Pipe()
        self.process = multiprocessing.Process(
            target=serve, args=(theirs, work, together), daemon=True
        )
        self.process.start()
        theirs.close()  # its end is the worker's alone: a worker that dies closes the pipe
        self.owed: deque[int] = deque()
        self.ready = False

    def give(self, task: Task, cases: Sequence[Any]) -> None:
        self.owed = deque(task)
        try:
            self.ours.send([cases[k] for k in task])
        except OSError:  # it has died: the pipe says so when it is read
            pass

    def taken(self) -> Any:
        """Receive the next message of a worker; None if it has died."""
        try:
            return self.ours.recv()
        except (EOFError, OSError):
            return None

    def fault(self) -> str:
        """Return as text what ended a process."""
        self.process.join(PATIENCE)
        code = self.process.exitcode
        return fault_of(code or 0) or f"exit code {code}"

    def end(self) -> None:
        if self.process.is_alive():
            self.process.terminate()
            self.process.join(PATIENCE)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        self.ours.close()


def serve(pipe: Connection, work: Some, together: bool) -> None:
    """Run tasks in a worker until the pipe closes; errors are sent in place of rows."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    pipe.send("ready")
    while True:
        while not pipe.poll(LOOK):
            if parent is not None and not parent.is_alive():
                return
        try:
            cases = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            for part in [cases] if together else [[case] for case in cases]:
                pipe.send(work(part))
        except Exception as error:
            pipe.send(error)


def shared(
    work: Some, cases: Sequence[Any], tasks: Sequence[Sequence[int]], count: int, together: bool
) -> Iterator[tuple[int, Any]]:
    """Yield index and row of every case; the row is None if the case has ended its workers.

    `together`: the cases of a task are computed at once; if their worker dies, each of them runs
    alone.
    """
    left, deaths = deque(list(task) for task in tasks), Counter[int]()
    crew = [Worker(work, together) for _ in range(min(count, len(left)))]
    try:
        while left or any(worker.owed for worker in crew):
            for worker in crew:
                if left and not worker.owed:
                    worker.give(left.popleft(), cases)
            busy = {worker.ours: worker for worker in crew if worker.owed}
            for pipe in wait(list(busy)):
                worker = busy[pipe]  # pyright: ignore[reportArgumentType]
                sent = worker.taken()
                if sent == "ready":
                    worker.ready = True
                elif isinstance(sent, Exception):
                    raise sent
                elif sent is not None:
                    for row in sent:
                        yield worker.owed.popleft(), row
                else:
                    if not worker.ready:
                        raise ChildProcessError(f"a worker ended as it began, by {worker.fault()}")
                    crew[crew.index(worker)] = Worker(work, together)
                    yield from over(worker, left, deaths, together)
                    worker.end()
    finally:
        for worker in crew:
            worker.end()


def over(
    worker: Worker, left: deque[Task], deaths: Counter[int], together: bool
) -> Iterator[tuple[int, Any]]:
    """Queue the cases of a dead worker again; yield those that have ended workers too often, with
    None.
    """
    owed = list(worker.owed)
    if together and len(owed) > 1:
        left.extendleft([each] for each in reversed(owed))
        return
    first, *rest = owed
    deaths[first] += 1
    if rest:
        left.appendleft(rest)
    if deaths[first] >= DEATHS:
        yield first, None
    else:
        left.append([first])


def aside(work: Callable[..., Any], *given: Any) -> Any:
    """Call a function in a process of its own and return its result; raise ChildProcessError if the
    process dies.
    """
    worker = Worker(Aside(work), True)
    try:
        worker.give([0], [given])
        while (sent := worker.taken()) == "ready":
            pass
        if sent is None:
            raise ChildProcessError(f"it ends its process by {worker.fault()}")
        if isinstance(sent, Exception):
            raise sent
        return sent[0]
    finally:
        worker.end()


class Aside:
    """A function in the form of a worker's task, with its arguments as cases."""

    def __init__(self, work: Callable[..., Any]):
        self.work = work

    def __call__(self, cases: Sequence[Any]) -> list[Any]:
        return [self.work(*each) for each in cases]
