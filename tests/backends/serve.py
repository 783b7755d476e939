"""Run by tests as another user or under other circumstances: opens a local backend, and does what it is told by lines.

Only what the backends need is imported, so that any Python of the machine can run it.
"""

import dataclasses
import json
import os
import sys
import threading

from hermes_backends import BackendError, BackendUnavailable, open_backend


def answer(**said):
    print(json.dumps(said), flush=True)


def run(backend, command, **options):
    result = backend.run(command, timeout=60, **options)
    shown = {field.name: getattr(result, field.name) for field in dataclasses.fields(result)}
    return {name: value for name, value in shown.items() if isinstance(value, bool | int | str | None)} | {
        "stdout": result.stdout,
        "stderr": result.stderr,
    }


def job(backend, command, **options):
    started = backend.jobs.start(command, **options)
    return {"exit_code": started.wait(60), "stdout": started.log()}


def spawn(backend, argv, **options):
    process = backend.spawn(argv, stdin=False, **options)
    said = b""
    while (piece := process.read()) is None or piece.data:
        said += piece.data if piece else b""
    code = process.wait(60)
    process.close()
    return {"exit_code": code, "stdout": said.decode()}


def do(backend, what, argument, options):
    try:
        said = {"run": run, "job": job, "spawn": spawn}[what](backend, argument, **options)
    except BackendError as error:
        said = {"raised": repr(error)}
    answer(**said)


def main():
    options = json.loads(sys.argv[1])
    try:
        backend = open_backend("local", **options)
    except BackendUnavailable as error:
        answer(refused=str(error), fix=error.fix)
        return
    answer(pid=os.getpid())
    with backend:
        for line in sys.stdin:
            what, argument, given = json.loads(line)
            # Each in a thread that ends at once, as calls with a time limit are.
            thread = threading.Thread(target=do, args=(backend, what, argument, given))
            thread.start()
            thread.join()
    answer(closed=True)


main()
