"""Verbs without disk, memory, descriptors, /proc, a home and the like: a clear error or a whole result."""
import json
import os

import trial

# Environments in which everything must go on as usual, or end with an error that says what is missing. {c}: the command.
PLACES = {
    "no /proc": "unshare -m sh -c 'mount -t tmpfs none /proc && exec \"$0\" \"$@\"' {c}",
    "no /tmp": "env TMPDIR=/nowhere {c}",
    "a read-only home": "unshare -m sh -c 'mount -t tmpfs -o ro none \"$HOME\" && exec \"$0\" \"$@\"' {c}",
    "a home that does not exist": "env HOME=/nowhere/at/all {c}",
    "no home": "env -u HOME {c}",
    "one CPU": "taskset -c 0 {c}",
    "no ptrace, no perf_event": "{refuse} {c}",
    "1 GB of memory": "sh -c 'ulimit -v 1000000; exec \"$0\" \"$@\"' {c}",
    "standard streams closed": "sh -c 'exec \"$0\" \"$@\" <&- >&- 2>&-' {c}",
}
CALLS = ["enospc", "enomem", "emfile"]


def calls_of(verb, kind, perfcast, base, folder, library):
    """How many calls that the kind concerns a whole run makes."""
    trial.fresh_folder(base, verb.inputs, folder)
    counted = os.path.join(folder, "home", "count")
    trial.run(verb.command, perfcast, folder, LD_PRELOAD=library, FAULT_IN="perfcast", FAULT=kind, FAULT_COUNT=counted)
    with open(counted, "rb") as file:
        return int.from_bytes(file.read(8), "little")


def is_invalid(path):
    """Whether the result says so itself."""
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file).get("valid") is False
    except (OSError, ValueError):
        return False


def verdict(verb, status, printed, folder):
    """What is wrong with how a run ended."""
    wrong = []
    if status is None:
        wrong.append("it did not end within five minutes")
    elif status < 0 or status >= 126:
        wrong.append(f"it ends with {status}: {printed.strip()[-300:]}")
    elif status not in (0, 1, 2, 3):
        wrong.append(f"it ends with {status}, which no page names")
    elif status == 1 and verb.fails_with_result and is_invalid(os.path.join(folder, "out.json")):
        pass
    elif status != 0 and "perfcast: " not in printed and '"perfcast.error/1"' not in printed:
        wrong.append(f"it fails without a word: {printed.strip()[-300:]}")
    elif status == 0:
        wrong += trial.lost(folder, verb)
    return wrong + trial.left_processes(folder) + verb.check(folder) + trial.left_files(folder)


def failing_call(verb, kind, number, perfcast, base, reference, folder, library):
    """The number-th call fails. The verb ends with an error of its own, or goes on without what it may do without."""
    trial.fresh_folder(base, verb.inputs, folder)
    status, printed = trial.run(verb.command, perfcast, folder, LD_PRELOAD=library, FAULT_IN="perfcast", FAULT=f"{kind}:{number}")
    wrong = verdict(verb, status, printed, folder)
    if status == 0:
        wrong += trial.differences(folder, reference["folder"], verb, perfcast)
    return {"call": number, "status": status, "wrong": wrong}


def odd_system(verb, fault, perfcast, base, reference, folder, library):
    """Interrupted, short or slow calls, or a clock that jumps: the same result as ever."""
    trial.fresh_folder(base, verb.inputs, folder)
    status, printed = trial.run(verb.command, perfcast, folder, LD_PRELOAD=library, FAULT_IN="perfcast", FAULT=fault)
    wrong = verdict(verb, status, printed, folder)
    if status != 0 and not (verb.fails_with_result and is_invalid(os.path.join(folder, "out.json"))):
        wrong.append(f"it fails: {printed.strip()[-300:]}")
    else:
        wrong += trial.differences(folder, reference["folder"], verb, perfcast)
    return {"status": status, "wrong": wrong}


def odd_place(verb, place, perfcast, base, folder, refuse):
    trial.fresh_folder(base, verb.inputs, folder)
    line = verb.command.replace("{perfcast}", perfcast)
    # In quotes, whatever the line has; sh -c takes it as one word.
    command = PLACES[place].replace("{refuse}", refuse).replace("{c}", "sh -c " + json.dumps(line).replace("$", "\\$"))
    status, printed = trial.run(command, perfcast, folder)
    wrong = verdict(verb, status, printed, folder)
    if place == "standard streams closed":
        wrong = [problem for problem in wrong if "without a word" not in problem]
    return {"status": status, "printed": printed.strip()[-200:] if status else "", "wrong": wrong}
