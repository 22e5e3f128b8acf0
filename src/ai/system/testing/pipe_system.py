#!/usr/bin/env python3
"""A system behind a pipe, well or badly by its argument, for tests.

good      answers each sample, its data "answer INDEX"
tokens    three tokens, then the answer
claims    three tokens, then an answer that says thirty
batch     answers when it is told that no more comes, in turn from the last
die       ends with status 3 in the place of its eleventh answer, having said so on stderr
kill      ends itself by a signal there
hang      answers ten samples, then reads on and answers no more
twice     answers each sample twice
unknown   answers an id that was never asked
nonsense  writes a line that is no JSON now and then
error     has no answer to odd samples
unready   never says that it is ready
"""
import json, os, signal, sys

mode = sys.argv[1]
put_aside = []
answered = 0


def say(**members):
    print(json.dumps(members), flush=True)


def answer(sample):
    global answered
    if answered == 10 and mode == 'die':
        print('loading\nno memory left', file=sys.stderr, flush=True)
        sys.exit(3)
    if answered == 10 and mode == 'kill':
        os.kill(os.getpid(), signal.SIGKILL)
    if answered == 10 and mode == 'hang':
        return
    answered += 1
    if mode in ('tokens', 'claims'):
        for _ in range(3):
            say(id=sample['id'], token=1)
    if mode == 'nonsense' and answered % 5 == 0:
        print('progress 5%', flush=True)
    if mode == 'unknown' and answered == 5:
        say(id=10 ** 12)
    if mode == 'error' and sample['index'] % 2 == 1:
        say(id=sample['id'], error='an odd one')
        return
    say(id=sample['id'], data='answer %d' % sample['index'], **({'tokens': 30} if mode == 'claims' else {}))
    if mode == 'twice':
        say(id=sample['id'])


for line in sys.stdin:
    message = json.loads(line)
    if 'start' in message:
        if mode != 'unready':
            say(ready=True)
    for sample in message.get('samples', []):
        if mode == 'batch':
            put_aside.append(sample)
        else:
            answer(sample)
    if 'flush' in message:
        while put_aside:
            answer(put_aside.pop())
