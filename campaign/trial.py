"""One run of a verb in a folder of its own: started, perhaps stopped, and what it left."""
import os
import shutil
import signal
import subprocess
import time

from verbs import environment


def fresh_folder(base, inputs, folder):
    """A new folder with copies of the inputs."""
    shutil.rmtree(folder, ignore_errors=True)
    for below in ("home", "tmp"):
        os.makedirs(os.path.join(folder, below))
    for name in inputs:
        source = os.path.join(base, name)
        if os.path.isdir(source):
            shutil.copytree(source, os.path.join(folder, name))
        else:
            shutil.copy(source, folder)


def start(command, perfcast, folder, **more):
    line = command.replace("{perfcast}", perfcast)
    if not any(word in line for word in ("||", ";", "&&")):
        line = "exec " + line  # the process that is killed is perfcast itself, not a shell around it
    return subprocess.Popen(["sh", "-c", line], cwd=folder, env=environment(folder, **more), stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)


def run(command, perfcast, folder, limit_s=300, **more):
    """Runs to its end: status and what it printed. A status of None: it took longer than the limit."""
    process = start(command, perfcast, folder, **more)
    try:
        printed, _ = process.communicate(timeout=limit_s)
        return process.returncode, printed
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return None, process.communicate()[0]


def processes_of(folder):
    """Processes that carry the folder of the trial in their environment."""
    mark = ("PERFCAST_CAMPAIGN=" + folder).encode()
    found = []
    for pid in os.listdir("/proc"):
        if not pid.isdigit():
            continue
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                if mark not in file.read().split(b"\0"):
                    continue
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                if file.read().rsplit(")", 1)[1].split()[0] == "Z":
                    continue
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                found.append((int(pid), file.read().replace(b"\0", b" ").decode(errors="replace").strip()))
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
    return found


def left_processes(folder, patience_s=5):
    """What still runs after the patience; it is killed then."""
    end = time.monotonic() + patience_s
    while (found := processes_of(folder)) and time.monotonic() < end:
        time.sleep(0.05)
    for pid, _ in found:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    return [f"left the process '{line[:120]}'" for _, line in found]


def left_files(folder):
    """Temporary files of perfcast: in the temporary folder, and unfinished ones beside results."""
    found = [os.path.join("tmp", name) for name in os.listdir(os.path.join(folder, "tmp"))]
    for where, _, names in os.walk(folder):
        found += [os.path.relpath(os.path.join(where, name), folder) for name in names if name.startswith(".perfcast-")]
    return [f"left the file {name}" for name in found]


def lost(folder, verb):
    """What a run that ended well has reported as done and is not there."""
    wrong = []
    for name in verb.results:
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            wrong.append(f"reported as done and lost: {name}")
        elif os.path.isfile(path) and os.path.getsize(path) == 0:
            wrong.append(f"reported as done and empty: {name}")
    return wrong or verb.whole(folder)


def differences(folder, other, verb, perfcast):
    """What of the verb's results is not as in the other folder, where nothing was stopped."""
    wrong = []
    if verb.show:
        ours, theirs = (run(verb.show, perfcast, where) for where in (folder, other))
        if ours != theirs:
            wrong.append(f"'{verb.show}' prints something else than after a run without a stop: {ours[1].strip()[-200:]}")
    for name in verb.same:
        ours, theirs = os.path.join(folder, name), os.path.join(other, name)
        if not os.path.exists(ours):
            wrong.append(f"{name} is missing after the second run")
        elif open(ours, "rb").read() != open(theirs, "rb").read():
            wrong.append(f"{name} differs from that of a run without a stop")
    return wrong
