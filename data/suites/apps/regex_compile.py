"""Compiles regular expressions anew, again and again: regex_compile.py ROUNDS."""

import re
import sys

PATTERNS = [
    r"(?i)\b[a-z0-9._%+-]+@[a-z0-9.-]+\.[a-z]{2,24}\b",
    r"^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$",
    r"(?P<scheme>https?|ftp)://(?P<host>[^/\s:?#]+)(?::(?P<port>\d+))?(?P<path>/[^\s?#]*)?(?:\?(?P<query>[^\s#]*))?",
    r"(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(Z|[+-]\d{2}:?\d{2})?",
    r"Perl|Python|Ruby|Rust|Rebol|Racket|R|Raku",
    r"(Perl|Python|Tcl)([0-9]+)?(?:\s+(?:and|or)\s+(Perl|Python|Tcl))*",
    r"<\s*(/?)([a-zA-Z][\w:-]*)((?:\s+[\w:-]+(?:\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s>]+))?)*)\s*(/?)>",
    r"(?:[^a-z]|^)(?:begin|end|if|then|else|while|do|return|function)(?:[^a-z]|$)",
    r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)([fFlL]?)",
    r"(?s)/\*.*?\*/|//[^\r\n]*|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'",
    r"^\s*(\w+)\s*[:=]\s*(?:\[(.*?)\]|\{(.*?)\}|(.+?))\s*(?:#.*)?$",
    r"(a|b|c|d|e){2,5}(?=f)(?!g)(?<=f)?[^h-zH-Z]*?",
    r"\A(?:[\x00-\x7f]|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xef][\x80-\xbf]{2})*\Z",
    r"(?x) \b (?: Mon | Tues | Wednes | Thurs | Fri | Satur | Sun ) day \b ,? \s+ (\d{1,2}) \s+ (\w+) \s+ (\d{4})",
    r"((?:[A-Za-z]:)?(?:[/\\][\w .-]+)*[/\\])?([\w .-]+?)(\.\w{1,5})?$",
    r"(\w+)\s+\1|([aeiou])([^aeiou])\2\3",
    r"#(?:[0-9a-fA-F]{3}){1,2}\b|rgba?\(\s*\d+\s*(?:,\s*[\d.]+\s*){2,3}\)",
    r"(?:^|[;&|])\s*(?:sudo\s+)?(apt|dnf|zypper|pacman)\s+(?:-\w+\s+)*(install|remove|update)\b(.*)$",
    r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*",
    r"\$\{([^{}]+)\}|\$\(([^()]+)\)|\$(\w+)|`([^`]*)`",
]


def main():
    groups = 0
    for _ in range(int(sys.argv[1])):
        for pattern in PATTERNS:
            re.purge()
            groups += re.compile(pattern).groups
    print(groups)
    if groups != 43 * int(sys.argv[1]):
        sys.exit("regex_compile.py: %d groups" % groups)


main()
