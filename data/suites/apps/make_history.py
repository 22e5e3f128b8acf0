"""A git repository with a history, as a stream for git fast-import: make_history.py COMMITS FILES."""

import random
import sys

AUTHORS = ["Ada Lane", "Bo Quist", "Matt Field", "Matthias Rowe", "Cleo Marsh"]
WORDS = ("static int void struct return widget window const char size if else for context surface event "
         "list buffer pointer device display region layer width height flags signal value object").split()


def line(choose):
    words = [choose.choice(WORDS) for _ in range(choose.randint(2, 9))]
    return "  " * choose.randint(0, 3) + " ".join(words) + choose.choice([";", " {", "}", ",", ""])


def main():
    commits, files = int(sys.argv[1]), int(sys.argv[2])
    choose = random.Random(5)
    write = sys.stdout.write
    tree = {}
    for number in range(files):
        path = "%s/%s%03d.c" % (choose.choice(["gtk", "gdk", "gsk", "tests", "docs"]), choose.choice(WORDS), number)
        tree[path] = [line(choose) for _ in range(choose.randint(50, 600))]
    paths = sorted(tree)
    tags = {commits // 4: "v1", commits // 2: "v2", commits * 3 // 4: "v3", commits - 1: "v4"}
    for number in range(commits):
        changed = paths if number == 0 else choose.sample(paths, choose.randint(1, 6))
        for path in changed if number else []:
            lines = tree[path]
            at = choose.randint(0, len(lines))
            lines[at : at + choose.randint(0, 8)] = [line(choose) for _ in range(choose.randint(0, 12))]
        author = choose.choice(AUTHORS)
        stamp = 1000000000 + number * 86400 * 6000 // commits
        message = "%s: %s\n\n%s\n" % (choose.choice(["x11", "wayland", "tests", "widget"]), line(choose).strip(),
                                      "\n".join(line(choose).strip() for _ in range(choose.randint(0, 5))))
        write("commit refs/heads/master\ncommitter %s <someone@example.com> %d +0000\n" % (author, stamp))
        write("data %d\n%s" % (len(message), message))
        for path in changed:
            text = "\n".join(tree[path]) + "\n"
            write("M 100644 inline %s\ndata %d\n%s" % (path, len(text), text))
        if number in tags:
            write("reset refs/tags/%s\nfrom refs/heads/master\n\n" % tags[number])


main()
