#!/bin/sh
# Common git commands on a fresh copy of the repository in $1/pristine.
set -e
cd "$1"
rm -rf target
cp -a pristine target
cd target
export GIT_PAGER=cat GIT_CONFIG_GLOBAL=/dev/null
git config user.name "Somebody"
git config user.email somebody@example.com
git config core.fsync none
git log --since=2002-01-01 --until=2018-01-01 --oneline > ../log.txt
git diff --shortstat v1 v4 > ../diff.txt
git checkout -q -b new_branch
mv gsk gsk2
git add .
git commit -q -a -m "Another name of a folder"
git checkout -q master
git merge -q new_branch > ../merge.txt
git checkout -q v3
git blame "$(git ls-files | head -n 1)" > ../blame.txt
git diff --stat master > ../stat.txt
git log --grep x11 --author "Matthias Rowe" --shortstat > ../author.txt
git log --author Matt --shortstat >> ../author.txt
git --no-pager grep --color=never --extended-regexp --threads=1 '(static|const) (int|char) (size|value)' > ../grep.txt
test -s ../blame.txt -a -s ../author.txt -a -s ../grep.txt
