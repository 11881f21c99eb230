#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Fails unless docs/tutorials/add_an_op.md names every file that knows the op of its second part, and
# no other: the list of places is complete.
cd -- "$1" || exit 2
named=$(sed -n '/^## An op with shapes/,$p' docs/tutorials/add_an_op.md |
  grep -oE '`(engines|experiments|harness|profiler|tests)/[A-Za-z0-9_/]+\.(h|cpp|txt)`' | tr -d '`' | sort -u)
known=$(grep -rlE 'CumsumAttributes|rows/cumsum|Value cumsum|\{"cumsum[ ":]' \
  engines experiments harness profiler tests --include='*.h' --include='*.cpp' --include=CMakeLists.txt | sort -u)
diff <(echo "$named") <(echo "$known") && exit
echo 'docs/tutorials/add_an_op.md: < is named but does not know the op, > knows the op but is not named' >&2
exit 1
