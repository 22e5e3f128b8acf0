"""Tasks for Jython, in the Python 2.7 that it speaks: jython_tasks.py ROUNDS."""

import sys


class Node(object):
    def __init__(self, key, left=None, right=None):
        self.key, self.left, self.right = key, left, right

    def insert(self, key):
        if key < self.key:
            if self.left is None:
                self.left = Node(key)
            else:
                self.left.insert(key)
        elif self.right is None:
            self.right = Node(key)
        else:
            self.right.insert(key)

    def keys(self):
        found = self.left.keys() if self.left else []
        found.append(self.key)
        return found + (self.right.keys() if self.right else [])


def main():
    checksum = 0
    for turn in range(int(sys.argv[1])):
        state, numbers = turn + 1, []
        for i in range(1000):
            state = (state * 1103515245 + 12345) % 2147483648
            numbers.append(state % 10007)
        tree = Node(numbers[0])
        for number in numbers[1:]:
            tree.insert(number)
        if tree.keys() != sorted(numbers):
            sys.exit("jython_tasks.py: the tree is out of order")
        words = {}
        for number in numbers:
            word = "w%d" % (number % 97)
            words[word] = words.get(word, 0) + len(word.upper().replace("W", "ww"))
        squares = [x * x - 1.5 * x for x in numbers if x % 3]
        checksum += sum(words.values()) + int(sum(squares)) % 1000
    print(checksum)


main()
