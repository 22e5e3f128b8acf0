"""The same results at 1, 2 and 8 threads, and time and memory against size."""
import json
import math
import os
import random
import subprocess

import trial
from verbs import environment

# Commands with {threads}; what they write into out must not depend on it. A bundle holds the time of day: its forecasts are compared.
SAME = {
    "train forest": "{perfcast} train --corpus tiny.db --model forest --no-scores --threads {threads} -o b.pcb --quiet"
                    " && {perfcast} predict --bundle b.pcb --profile tiny.json --json -o out",
    "train dwn": "{perfcast} train --corpus tiny.db --model dwn --config dwn.json --no-scores --threads {threads} -o b.pcb --quiet"
                    " && {perfcast} predict --bundle b.pcb --profile tiny.json --json -o out",
    "train vae-dnn": "{perfcast} train --corpus tiny.db --model vae-dnn --config vae.json --no-scores --threads {threads} -o b.pcb --quiet"
                    " && {perfcast} predict --bundle b.pcb --profile tiny.json --json -o out",
    "evaluate": "{perfcast} evaluate --corpus tiny.db --models mean,knn,forest --json --threads {threads} -o out --quiet",
    "schedule simulate": "{perfcast} schedule simulate --synthetic --jobs 500 --json --threads {threads} -o out --quiet",
    "capacity": "{perfcast} capacity --synthetic --jobs 200 --objective mean-wait=100h --json --threads {threads} -o out --quiet",
    "capacity --llm": "{perfcast} capacity --llm llama3-8b --rate 5 --objective ttft=2s,tpot=100ms --json --threads {threads} -o out --quiet",
    "corpus map": "{perfcast} corpus map --corpus tiny.db --json --threads {threads} -o out --quiet",
}


def without_time(text):
    """JSON without what depends on the clock."""
    try:
        value = json.loads(text)
    except ValueError:
        return text

    def strip(one):
        if isinstance(one, dict):
            return {name: strip(below) for name, below in one.items()
                    if name not in ("threads", "created", "date", "wall_s", "seconds", "elapsed_s", "took_s", "train_s", "predict_s")}
        return [strip(below) for below in one] if isinstance(one, list) else one
    return strip(value)


def same_results(name, perfcast, base, here):
    wrong, first = [], None
    for threads in (1, 2, 8):
        trial.fresh_folder(base, ["tiny.db", "tiny.json", "dwn.json", "vae.json"], here)
        status, printed = trial.run(SAME[name].replace("{threads}", str(threads)), perfcast, here)
        if status != 0:
            wrong.append(f"with {threads} threads it ends with {status}: {printed.strip()[-300:]}")
            continue
        with open(os.path.join(here, "out"), "rb") as file:
            result = file.read()
        result = without_time(result.decode("utf-8")) if result[:1] in b"{[" else result
        if first is None:
            first = result
        elif result != first:
            wrong.append(f"the result with {threads} threads differs from that with one")
    return {"wrong": wrong}


def rows(path, count):
    chance = random.Random(1)
    with open(path, "w", encoding="utf-8") as file:
        file.write("time,load,wait\n")
        for n in range(count):
            file.write(f"{1700000000 + 60 * n},{50 + 40 * math.sin(n / 229):.1f},{chance.random():.3f}\n")


def jobs(path, count):
    """A trace in the Standard Workload Format: jobs of one to eight CPUs, at 70% of a cluster of 100."""
    chance = random.Random(1)
    with open(path, "w", encoding="utf-8") as file:
        file.write("; MaxProcs: 100\n")
        at = 0.0
        for n in range(count):
            at += chance.expovariate(1 / 23.0)
            run = max(1, int(chance.expovariate(1 / 360.0)))
            cpus = chance.choice([1, 2, 4, 8])
            file.write(f"{n + 1} {int(at)} -1 {run} {cpus} -1 -1 {cpus} {2 * run} -1 1 {n % 50} 1 -1 1 1 -1 -1\n")


def profiles(folder, base, count):
    """So many profiles of programs, by name different and by counts alike."""
    with open(os.path.join(base, "tiny.json"), encoding="utf-8") as file:
        profile = json.load(file)
    os.makedirs(folder)
    for n in range(count):
        profile["program"] = {**profile.get("program", {}), "id": f"many.p{n}"} if isinstance(profile.get("program"), dict) else f"many.p{n}"
        with open(os.path.join(folder, f"many.p{n}.json"), "w", encoding="utf-8") as file:
            json.dump(profile, file)


# What grows: sizes of the short and of the long form, how the input is made, the command.
GROWTH = {
    "watch, rows": ((20000, 80000), (20000, 1000000, 10000000), lambda here, base, n: rows(os.path.join(here, "rows.csv"), n),
                    "{perfcast} watch rows.csv --quiet -o out"),
    "schedule simulate, jobs": ((10000, 40000), (10000, 100000, 1000000), lambda here, base, n: jobs(os.path.join(here, "t.swf"), n),
                                "{perfcast} schedule simulate --swf t.swf --policies fcfs,easy,sjf --quiet --json -o out"),
    "llm serve-sim, requests": ((10000, 40000), (10000, 100000, 1000000), lambda here, base, n: None,
                                "{perfcast} llm serve-sim llama3-8b --on H100 --rate 5 --requests {size} --quiet --json -o out"),
    "import, profiles": ((200, 800), (1000, 10000, 50000), lambda here, base, n: profiles(os.path.join(here, "many"), base, n),
                         "{perfcast} import profiles many --corpus c.db --quiet"),
}


def growth(name, perfcast, base, here, is_long):
    """Median of three times at each size, and the exponent between the smallest and the largest."""
    short_sizes, long_sizes, make, command = GROWTH[name]
    wrong, points = [], []
    for size in long_sizes if is_long else short_sizes:
        trial.fresh_folder(base, [], here)
        make(here, base, size)
        times, peak = [], 0
        for _ in range(1 if size >= 1000000 else 3):
            subprocess.run("rm -rf out c.db*", shell=True, cwd=here, check=True)
            line = "exec " + command.replace("{perfcast}", perfcast).replace("{size}", str(size))
            ran = subprocess.Popen(["sh", "-c", line], cwd=here, env=environment(here), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            said = ran.stderr.read().decode(errors="replace")
            _, status, used = os.wait4(ran.pid, 0)
            ran.returncode = status
            if status != 0:
                wrong.append(f"with {size} it ends with {os.waitstatus_to_exitcode(status)}: {said.strip()[-300:]}")
                break
            times.append(used.ru_utime + used.ru_stime)
            peak = max(peak, used.ru_maxrss)
        if times:
            points.append({"size": size, "cpu_s": round(sorted(times)[len(times) // 2], 3), "peak_mib": round(peak / 1024, 1)})
    exponent = None
    if len(points) > 1:
        first, last = points[0], points[-1]
        exponent = round(math.log(last["cpu_s"] / max(first["cpu_s"], 0.001)) / math.log(last["size"] / first["size"]), 3)
        # n log n looks like a somewhat larger power over a few decades.
        if exponent > 1.1:
            wrong.append(f"time grows with size to the power {exponent}: {points}")
    return {"points": points, "exponent": exponent, "wrong": wrong}
