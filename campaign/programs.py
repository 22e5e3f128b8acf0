"""Programs that fight the profiler, under `profile` and `diagnose`."""
import json
import os
import subprocess

import trial

NAMES = ["forks", "threads", "first-thread-ends", "signals", "self-modifying", "self-ptrace", "mappings", "recursion", "closed-streams",
         "setuid", "cleared-environment", "output", "left-child", "kills-group", "stack-overflow"]

KILLED = {"kills-group": 15, "stack-overflow": 11}  # by these signals


def fought(name, perfcast, folder, here):
    """Profile and diagnose end within two minutes with a result or an error, say how the program ended, and leave nothing."""
    program = os.path.join(folder, "hostile")
    if not os.path.exists(program):
        subprocess.run(["gcc", "-O1", "-w", "-pthread", "-o", program, os.path.join(os.path.dirname(__file__), "hostile.c")], check=True)
    wrong, ended = [], {}
    for verb in ("profile --quick", "diagnose --proofs none"):
        trial.fresh_folder(folder, [], here)
        os.chmod(here, 0o755)
        status, _ = trial.run(f"{{perfcast}} {verb} --json -o out.json -- {program} {name} > printed 2> said", perfcast, here, 120)
        with open(os.path.join(here, "said"), encoding="utf-8", errors="replace") as file:
            said = file.read()
        with open(os.path.join(here, "printed"), encoding="utf-8", errors="replace") as file:
            printed_text = file.read()
        ended[verb] = status
        path = os.path.join(here, "out.json")
        if status is None:
            wrong.append(f"{verb}: it did not end within two minutes")
        elif name in KILLED and status in (1, 128 + KILLED[name]):
            pass  # profile ends as the program does; diagnose wants one that succeeds
        elif status < 0 or status >= 126:
            wrong.append(f"{verb}: it ends with {status}: {said.strip()[-300:]}")
        elif status != 0 and "perfcast: " not in said + printed_text and "perfcast.error/1" not in printed_text:
            wrong.append(f"{verb}: it fails without a word")
        elif status != 0:
            wrong.append(f"{verb}: it ends with {status}: {(said + printed_text).strip()[-300:]}")
        else:
            try:
                with open(path, encoding="utf-8") as file:
                    json.load(file)
            except (OSError, ValueError) as problem:
                wrong.append(f"{verb}: no whole result: {problem}")
        # What the program itself leaves is its own affair; what perfcast started to measure it is not.
        wrong += [f"{verb}: {problem}" for problem in trial.left_processes(here) if "hostile" not in problem or "qemu" in problem]
        wrong += [f"{verb}: {problem}" for problem in trial.left_files(here)]
    return {"ended": ended, "wrong": wrong}
