"""Anomalies in series of numbers by the contexts that came before, in plain Python: anomalies.py SERIES LENGTH."""

import math
import random
import sys


class Detector:
    """Numbers become sets of bits; sets that follow each other are facts, pairs of them contexts. What no known
    context foretold is an anomaly."""

    def __init__(self, low, high, bits=32, most_left=7):
        self.low, self.step = low, (high - low) / (bits - 1) or 1.0
        self.most_left = most_left
        self.contexts = {}  # left facts -> {right facts: [uses, last use]}
        self.facts_of = {}  # fact -> left halves that hold it
        self.left, self.time = frozenset(), 0
        self.expected = []
        self.history = []

    def encoded(self, value):
        level = int((value - self.low) / self.step)
        return frozenset((i, (level >> i) & 1) for i in range(6)) | {("near", level // 3), ("level", level)}

    def learn(self, left, right):
        rights = self.contexts.get(left)
        if rights is None:
            rights = self.contexts[left] = {}
            for fact in left:
                self.facts_of.setdefault(fact, set()).add(left)
        entry = rights.setdefault(right, [0, 0])
        entry[0] += 1
        entry[1] = self.time

    def candidates(self, facts):
        counts = {}
        for fact in sorted(facts, key=str):
            for left in self.facts_of.get(fact, ()):
                counts[left] = counts.get(left, 0) + 1
        close = [(count / len(left), left) for left, count in counts.items() if count >= 0.7 * len(left)]
        close.sort(key=lambda pair: (-pair[0], sorted(map(str, pair[1]))))
        return close[: self.most_left]

    def step_on(self, value):
        self.time += 1
        facts = self.encoded(value)
        foretold = [len(facts & right) / len(facts) for right in self.expected]
        surprise = 1.0 - max(foretold, default=0.0)
        self.learn(self.left, facts)
        self.expected = []
        for share, left in self.candidates(facts):
            for right, (uses, last) in self.contexts[left].items():
                if share * uses / (1 + math.log(1 + self.time - last)) > 0.2:
                    self.expected.append(right)
        self.left = facts
        self.history.append(surprise)
        recent = self.history[-10:]
        return sum(recent) / len(recent) if len(self.history) > 20 else 0.0


def series(seed, length):
    choose = random.Random(seed)
    period, level = choose.randint(20, 60), choose.uniform(20, 80)
    break_at = length * 3 // 4
    for i in range(length):
        value = level + 15 * math.sin(2 * math.pi * i / period) + choose.gauss(0, 1.5)
        if break_at <= i < break_at + 30:
            value += 40 if i % 2 else -10
        yield value


def main():
    count, length = int(sys.argv[1]), int(sys.argv[2])
    found = 0
    for seed in range(count):
        values = list(series(seed, length))
        detector = Detector(min(values), max(values))
        scores = [detector.step_on(value) for value in values]
        break_at = length * 3 // 4
        usual = sorted(scores[length // 2 : break_at])[int(0.95 * (break_at - length // 2))]
        found += max(scores[break_at : break_at + 30]) > usual
    print("%d of %d found" % (found, count))
    if found < 0.8 * count:
        sys.exit("anomalies.py: only %d of %d found" % (found, count))


main()
