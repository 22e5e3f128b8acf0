"""Verbs that write, killed at random moments, and machines that lose their power then."""
import math
import os
import random
import signal
import subprocess
import time

import trial


def durable_state(folder, synced, inputs, names_are_kept):
    """Makes of the folder what a power loss leaves: files have what was synced last, and nothing where nothing was.

    names_are_kept: the file system wrote the names at once (as with a journal of metadata); else only those of folders that were
    synced, where a folder ever was. inputs: names of files that were there before.
    """
    for where, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in ("home", "tmp")]
        listed = os.path.join(synced, f"folder-{os.stat(where).st_ino}")
        durable = None
        if not names_are_kept and os.path.exists(listed):
            durable = dict(line.split(" ", 1)[::-1] for line in open(listed, encoding="utf-8").read().splitlines() if " " in line)
        for name in names:
            path = os.path.join(where, name)
            inode = os.lstat(path).st_ino
            kept = os.path.join(synced, str(inode))
            if os.path.exists(kept):
                with open(kept, "rb") as file, open(path, "wb") as to:
                    to.write(file.read())
            elif name not in inputs:
                open(path, "wb").close()
            if durable is not None and name not in durable and name not in inputs:
                os.unlink(path)


def kill_perfcast(pid):
    """Kills the process, or where it is a shell, what it runs and then the shell: perfcast's own children are its affair."""
    with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
        is_shell = file.read().strip() in ("sh", "dash", "bash")
    if is_shell:
        os.kill(pid, signal.SIGSTOP)  # it starts nothing else
        with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
            for child in file.read().split():
                os.kill(int(child), signal.SIGKILL)
    os.kill(pid, signal.SIGKILL)


def stopped(verb, number, seed, perfcast, base, reference, folder, library=None):
    """One trial: the verb is killed at a random moment of its run; with a library, the power is lost then. What was wrong."""
    chance = random.Random(f"{seed}/{verb.name}/{number}/{bool(library)}")
    trial.fresh_folder(base, verb.inputs, folder)
    more = {}
    if library:
        synced = os.path.join(folder, "home", "synced")
        os.makedirs(synced)
        more = {"LD_PRELOAD": library, "SYNCED": synced, "SYNCED_BELOW": folder}
    after_s = chance.uniform(0, 1.05 * reference["wall_s"])
    if library and number % 2 == 1:
        after_s = math.inf  # the power is lost right behind the end: what was reported as done must be there
    began = time.monotonic()
    process = trial.start(verb.command, perfcast, folder, **more)
    try:
        process.wait(max(0.0, after_s - (time.monotonic() - began)) if after_s < math.inf else 300)
    except subprocess.TimeoutExpired:
        pass
    if process.poll() is None:
        if library:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            try:
                kill_perfcast(process.pid)
            except (FileNotFoundError, ProcessLookupError):
                pass  # it ended meanwhile
    wrong = []
    if library:  # all processes stop at once
        for pid, _ in trial.processes_of(folder):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
    else:
        wrong += trial.left_processes(folder)
    printed = process.communicate()[0]
    ended = process.returncode >= 0
    if ended and process.returncode != 0:
        wrong.append(f"the run failed by itself: {printed.strip()[-300:]}")
    if library:
        inputs = {os.path.basename(name) for name in verb.inputs}
        for name in verb.inputs:
            inputs.update(below for _, _, names in os.walk(os.path.join(base, name)) for below in names)
        durable_state(folder, synced, inputs, chance.random() < 0.5)
    wrong += verb.check(folder)
    if ended and process.returncode == 0:
        wrong += trial.lost(folder, verb)
    status, again = trial.run(verb.again or verb.command, perfcast, folder)
    if status != 0:
        wrong.append(f"the command afterwards ends with {status}: {again.strip()[-300:]}")
    else:
        wrong += verb.check(folder) + trial.differences(folder, reference["folder"], verb, perfcast)
    if not library:
        wrong += trial.left_files(folder)
    return {"after_s": round(after_s, 4) if after_s < math.inf else None, "ended": ended, "wrong": wrong}
