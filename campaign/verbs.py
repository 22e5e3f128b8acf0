"""The verbs that write, each with its inputs, its command and what must hold whenever it was stopped."""
import csv
import dataclasses
import glob
import io
import json
import math
import os
import shutil
import sqlite3
import subprocess
from typing import Callable, List, Optional

REPOSITORY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
PROFILES = len(glob.glob(os.path.join(REPOSITORY, "data", "profiles", "apps", "*.json")))


@dataclasses.dataclass
class Verb:
    """`command` runs in a folder that holds `inputs`; {perfcast} stands for the program.

    check: looks at what a stopped run left and returns what is wrong with it, a list of sentences.
    again: the command that goes on or starts anew; it must succeed after any stop. None: the same command.
    same: files that the second command must leave exactly as a run without a stop does.
    show: a command whose output must be that after a run without a stop; for files that hold the time of day.
    results: what a run that ended well has written; each file must be there, and not be empty, whatever happens then.
    whole: as check, of a run that ended well.
    """
    name: str
    results: List[str]
    command: str
    inputs: List[str]
    check: Callable = lambda folder: []
    again: Optional[str] = None
    same: List[str] = dataclasses.field(default_factory=list)
    show: Optional[str] = None
    whole: Callable = lambda folder: []
    fails_with_result: bool = False  # status 1 without an error, where the result says that the run is not valid


def where_there(name, judge):
    """The file is absent, or what judge(bytes) says of it: what is wrong, or nothing."""
    def check(folder):
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            return []
        with open(path, "rb") as file:
            wrong = judge(file.read())
        return [f"{name}: {wrong}"] if wrong else []
    return check


def whole_json(name):
    def judge(content):
        try:
            json.loads(content)
        except ValueError as problem:
            return f"half written: {problem}"
        return ""
    return where_there(name, judge)


def ends_with(name, end):
    return where_there(name, lambda content: "" if content.rstrip().endswith(end) else "half written")


def whole_csv(name):
    def judge(content):
        rows = list(csv.reader(io.StringIO(content.decode("utf-8"))))
        return "" if rows and content.endswith(b"\n") and len({len(row) for row in rows}) == 1 else "half written"
    return where_there(name, judge)


def whole_lines(name):
    """A log of JSON lines: all but the last are whole; the last may be torn, as the writer goes on behind it."""
    def judge(content):
        for number, line in enumerate(content.split(b"\n")[:-1], 1):
            try:
                json.loads(line)
            except ValueError:
                return f"line {number} is torn, and others follow"
        return ""
    return where_there(name, judge)


def opens(name, *allowed):
    """The bundle or the like is absent, or perfcast reads it: the command succeeds."""
    def check(folder):
        if not os.path.exists(os.path.join(folder, name)):
            return []
        ran = subprocess.run(allowed, cwd=folder, capture_output=True, text=True, env=environment(folder))
        return [] if ran.returncode == 0 else [f"{name} can't be read: {ran.stderr.strip()[:300]}"]
    return check


def corpus(name, programs, anywhere_between=False):
    """The corpus is absent or sound, with none or all of the programs (or any number of them)."""
    def check(folder):
        path = os.path.join(folder, name)
        if not os.path.exists(path) or os.path.getsize(path) == 0:
            return []
        try:
            opened = sqlite3.connect(path)
            sound = opened.execute("pragma integrity_check").fetchone()[0]
            tables = {row[0] for row in opened.execute("select name from sqlite_master where type = 'table'")}
            found = opened.execute("select count(*) from program").fetchone()[0] if "program" in tables else 0
            opened.close()
        except sqlite3.Error as problem:
            return [f"{name} can't be opened: {problem}"]
        wrong = [] if sound == "ok" else [f"{name} is not sound: {sound}"]
        valid = found <= max(programs) if anywhere_between else found in programs
        return wrong if valid else wrong + [f"{name} has {found} programs, expected {programs}"]
    return check


def all_of(*checks):
    return lambda folder: [problem for check in checks for problem in check(folder)]


def environment(folder, **more):
    """What every command of the campaign sees: a home and a temporary folder of its own."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TERM") if name in os.environ}
    return {**kept, "HOME": os.path.join(folder, "home"), "TMPDIR": os.path.join(folder, "tmp"),
            "PERFCAST_CAMPAIGN": folder, "COLUMNS": "100", **more}


SUITE = {
    "schema": "perfcast.suite/1", "name": "mine", "groups": [{"id": "application", "text": "ours"}],
    "programs": [{"id": f"mine.{n}", "family": f"f{n}", "group": "application", "work_unit": "run",
                  "run": {"tool": "command", "command": ["sh", "-c", f"i=0; while [ $i -lt {3000 + 500 * n} ]; do i=$((i+1)); done"]}}
                 for n in range(4)]}


def prepare(perfcast, folder):
    """The inputs of all verbs, made once."""
    os.makedirs(folder, exist_ok=True)
    for below in ("home", "tmp"):
        os.makedirs(os.path.join(folder, below), exist_ok=True)

    def run(*words, **more):
        ran = subprocess.run(words, cwd=folder, env=environment(folder), capture_output=True, text=True, **more)
        if ran.returncode != 0:
            raise RuntimeError(f"{' '.join(words)}: {ran.stderr}")

    synthetic = os.path.join(os.path.dirname(perfcast), "bin", "perfcast_write_synthetic")
    run(synthetic, ".")
    run(perfcast, "train", "--corpus", "tiny.db", "--model", "mean", "--no-scores", "-o", "tiny.pcb", "--quiet")
    dwn = {"schema": "perfcast.dwn/2", "training": "boosted", "networks": 1, "boosted": {"tables": 60}}
    with open(os.path.join(folder, "dwn.json"), "w", encoding="utf-8") as file:
        json.dump(dwn, file)
    run(perfcast, "train", "--corpus", "tiny.db", "--model", "dwn", "--config", "dwn.json", "--no-scores", "-o", "dwn.pcb", "--quiet")
    with open(os.path.join(folder, "suite.json"), "w", encoding="utf-8") as file:
        json.dump(SUITE, file)
    with open(os.path.join(folder, "rows.csv"), "w", encoding="utf-8") as file:
        file.write("time,load,wait\n")
        state = 7
        for n in range(30000):
            state = state * 1103515245 % 2**31 + 12345
            file.write(f"{1700000000 + 60 * n},{state % 1000 / 10},{state % 77 + (500 if n % 4000 > 3900 else 0)}\n")
    with open(os.path.join(folder, "new.json"), "w", encoding="utf-8") as file:
        json.dump({"name": "Example 800", "facts": {"max_hz": 3e9}}, file)
    with open(os.path.join(folder, "vae.json"), "w", encoding="utf-8") as file:
        json.dump({"schema": "perfcast.vae-config/1", "hidden": [32], "latent": 4, "head_hidden": [32], "pretrain_epochs": 20,
                   "vae_epochs": 20, "head_epochs": 30}, file)
    with open(os.path.join(folder, "samples.csv"), "w", encoding="utf-8") as file:
        file.write("time_s,workload,watts,cycles,misses\n")
        for work in range(6):
            for second in range(60):
                use = 0.5 + 0.45 * math.sin(0.3 * second + work)
                file.write(f"{1767323045 + 1000 * work + second},program {work},{60 + 120 * use + 2 * (1 + work % 3) * use:.2f},"
                           f"{4e10 * use:.6g},{2e6 * (1 + work % 3) * use:.6g}\n")
    profiles = os.path.join(folder, "profiles")
    shutil.copytree(os.path.join(REPOSITORY, "data", "profiles", "apps"), profiles, dirs_exist_ok=True)


def writers(perfcast):
    """All verbs that write, quick ones first."""
    info = (perfcast, "corpus", "info", "--corpus")
    loop = "sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done'"
    return [
        Verb("predict -o", ["out.json"], "{perfcast} predict --bundle tiny.pcb --profile tiny.json --json -o out.json",
             ["tiny.pcb", "tiny.json"], whole_json("out.json"), same=["out.json"]),
        Verb("import", ["c.db"], "{perfcast} import profiles profiles --corpus c.db --quiet", ["profiles"],
             all_of(corpus("c.db", (0, PROFILES)), opens("c.db", *info, "c.db")), whole=corpus("c.db", (PROFILES,))),
        Verb("corpus merge", ["c.db"], "{perfcast} corpus merge tiny.db --corpus c.db", ["tiny.db"], corpus("c.db", (0, 24)), whole=corpus("c.db", (24,))),
        Verb("corpus export", ["out"], "{perfcast} corpus export out --corpus tiny.db", ["tiny.db"],
             again="rm -rf out; {perfcast} corpus export out --corpus tiny.db"),
        Verb("train", ["m.pcb"], "{perfcast} train --corpus tiny.db --model dwn --config dwn.json --no-scores -o m.pcb --quiet",
             ["tiny.db", "dwn.json", "tiny.json"], opens("m.pcb", perfcast, "predict", "--bundle", "m.pcb", "--profile", "tiny.json"),
             show="{perfcast} predict --bundle m.pcb --profile tiny.json --json"),
        Verb("train --checkpoint", ["m.pcb"],
             "{perfcast} train --corpus tiny.db --model vae-dnn --config vae.json --checkpoint c.point --no-scores -o m.pcb --quiet",
             ["tiny.db", "vae.json", "tiny.json"],
             opens("m.pcb", perfcast, "predict", "--bundle", "m.pcb", "--profile", "tiny.json"),
             show="{perfcast} predict --bundle m.pcb --profile tiny.json --json"),
        Verb("adapt", ["new.pcb"], "{perfcast} adapt --bundle tiny.pcb --facts new.json -o new.pcb --quiet", ["tiny.pcb", "new.json", "tiny.json"],
             opens("new.pcb", perfcast, "predict", "--bundle", "new.pcb", "--profile", "tiny.json"),
             show="{perfcast} predict --bundle new.pcb --profile tiny.json --json"),
        Verb("export", ["best.c"], "{perfcast} export --bundle dwn.pcb --name best -o best.c --report report.txt", ["dwn.pcb"],
             ends_with("best.c", b"}"), same=["best.c"]),
        Verb("profile", ["p.json"], "{perfcast} profile --quick -o p.json --quiet -- " + loop, [], whole_json("p.json")),
        Verb("predict --save-profile", ["p.json", "out.json"],
             "{perfcast} predict --bundle tiny.pcb --quick --save-profile p.json --json -o out.json --quiet -- " + loop,
             ["tiny.pcb"], all_of(whole_json("p.json"), whole_json("out.json"))),
        Verb("diagnose", ["out.json"], "{perfcast} diagnose --proofs none --json -o out.json --quiet -- " + loop, [], whole_json("out.json")),
        Verb("collect --here", ["c.db"],
             "{perfcast} collect --here --suite suite.json --corpus c.db --profiles kept --repeats 1", ["suite.json"],
             corpus("c.db", (4,), anywhere_between=True), whole=corpus("c.db", (4,))),
        Verb("tune", ["l.jsonl", "out.json"], "{perfcast} tune --log l.jsonl --trials 6 --repeats 1 --time-limit 20s --knob n=1..9 --quiet --json -o out.json"
             " -- sh -c 'sleep 0.0{n}'", [], all_of(whole_lines("l.jsonl"), whole_json("out.json")),
             again="if [ -s l.jsonl ]; then {perfcast} tune --log l.jsonl --resume --trials 6 --repeats 1 --time-limit 20s --knob n=1..9"
             " --quiet --json -o out.json -- sh -c 'sleep 0.0{n}'; else rm -f l.jsonl; {perfcast} tune --log l.jsonl --trials 6 --repeats 1"
             " --time-limit 20s --knob n=1..9 --quiet --json -o out.json -- sh -c 'sleep 0.0{n}'; fi"),
        Verb("compare", ["l.jsonl", "out.json"], "rm -f l.jsonl; {perfcast} compare 'sleep 0.01' 'sleep 0.02' --time-limit 3s --log l.jsonl --quiet --json"
             " -o out.json || [ $? = 3 ]", [], all_of(whole_lines("l.jsonl"), whole_json("out.json"))),
        Verb("bench run", ["log", "out.json"], "{perfcast} bench run --system null-endpoint:4,2ms --rate 50 --duration 1s --log log --no-energy --quiet"
             " --json -o out.json", [], whole_json("out.json"), fails_with_result=True),
        Verb("watch --state", ["s.state", "alerts.jsonl"], "{perfcast} watch rows.csv --state s.state --warm-up 2000 --quiet -o alerts.jsonl", ["rows.csv"],
             whole_lines("alerts.jsonl")),
        Verb("watch --report", ["page.html", "alerts.jsonl"], "{perfcast} watch rows.csv --report page.html --warm-up 2000 --quiet -o alerts.jsonl", ["rows.csv"],
             all_of(whole_lines("alerts.jsonl"), ends_with("page.html", b"</html>"))),
        Verb("schedule simulate", ["out.json", "jobs.csv", "page.html"], "{perfcast} schedule simulate --synthetic --jobs 2000 --policies fcfs,easy,oracle --seeds 2"
             " --jobs-csv jobs.csv --report page.html --quiet --json -o out.json", [],
             all_of(whole_json("out.json"), whole_csv("jobs.csv"), ends_with("page.html", b"</html>")), same=["jobs.csv"]),
        Verb("llm serve-sim", ["out.json", "page.html"], "{perfcast} llm serve-sim llama3-8b --on H100 --rate 2 --requests 2000 --json -o out.json"
             " --report page.html --quiet", [], all_of(whole_json("out.json"), ends_with("page.html", b"</html>"))),
        Verb("power fit", ["model.json"], "{perfcast} power fit --samples samples.csv -o model.json --quiet", ["samples.csv"], whole_json("model.json"),
             same=["model.json"]),
    ]
