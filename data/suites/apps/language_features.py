"""Small loops over single features of the language, each as long as the others: language_features.py ROUNDS."""

import sys


class Base:
    def method(self, value):
        return value


class Derived(Base):
    shared = 3

    def __init__(self):
        self.own = 1

    def method(self, value):
        return super().method(value) + self.own


def plain(a, b, c=3, *rest, **named):
    return a + b + c + len(rest) + len(named)


def arithmetic(rounds):
    total, real = 0, 1.0
    for i in range(rounds):
        total += (i * 3 + 7) // 5 - (i & 255) ^ (i << 2)
        real = real * 1.0000001 + i / 3.0 - real * 0.5
    return total + int(real)


def big_numbers(rounds):
    value = 1 << 90
    for i in range(rounds):
        value = (value * 1234567 + i) % (1 << 127)
    return value


def comparisons(rounds):
    hits = 0
    for i in range(rounds):
        if i > 500 and i != 777 or 3 < i % 7 <= 5:
            hits += 1
        if "abc" < "abd" and (1, 2, i) < (1, 2, 500) and not hits == -1:
            hits += 1
    return hits


def calls(rounds):
    total, thing = 0, Derived()
    for i in range(rounds):
        total += plain(i, 1) + plain(1, 2, 3, 4, key=i) + thing.method(i)
    return total


def attributes(rounds):
    thing = Derived()
    for i in range(rounds):
        thing.own = i
        thing.other = thing.own + Derived.shared
        thing.shared = thing.other
    return thing.other


def lists(rounds):
    total, items = 0, list(range(100))
    for i in range(rounds):
        items.append(i)
        total += items[i % 50] + len(items[10:20]) + sum([x for x in (i, 2, 3)])
        items.pop(0)
    items.sort(key=lambda x: x % 17)
    return total + items[0]


def dictionaries(rounds):
    table = {}
    for i in range(rounds):
        table[i % 301] = i
        table["name%d" % (i % 20)] = i
        if 17 in table and table.get("absent") is None:
            table.pop(i % 29, None)
    return len(table)


def texts(rounds):
    total = 0
    for i in range(rounds):
        text = "one,two,%d,%s" % (i, "x" * (i % 10))
        total += len("+".join(text.split(",")).upper()) + text.find("two") + len(text[3:9])
    return total


def exceptions(rounds):
    caught = 0
    for i in range(rounds):
        try:
            if i % 2:
                raise ValueError(i)
        except ValueError:
            caught += 1
        finally:
            caught += 0
    return caught


def generators(rounds):
    def numbers(limit):
        for i in range(limit):
            yield i

    return sum(x * 2 for x in numbers(rounds)) + sum(map(lambda x: x + 1, filter(None, numbers(rounds))))


def tuples(rounds):
    total = 0
    for i in range(rounds):
        a, (b, c), d = i, (i + 1, 2), 3
        pair = (a, b, c, d)
        total += pair[1] + len(pair + (1,))
    return total


def closures(rounds):
    def adder(n):
        return lambda x: x + n

    add, total = adder(5), 0
    for i in range(rounds):
        total = add(total) % 1000 + adder(i)(1)
    return total


def main():
    rounds = int(sys.argv[1])
    features = [arithmetic, big_numbers, comparisons, calls, attributes, lists, dictionaries, texts, exceptions,
                generators, tuples, closures]
    if calls(10) != 220 or exceptions(10) != 5 or generators(10) != 144:
        sys.exit("language_features.py: wrong sums")
    checksum = 0
    for feature in features:
        checksum = (checksum * 31 + feature(rounds)) % (1 << 61)
    print(checksum)


main()
