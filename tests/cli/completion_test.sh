#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# completion_test.sh PROGRAM SHELL: fails unless SHELL, with the script that PROGRAM prints for it, completes commands,
# experiments, options, axes, constants and their values. Ends with status 77 where there is no such shell.
set -euo pipefail
program=$(readlink -f -- "$1") shell=$2
command -v "$shell" >/dev/null || { echo "skipped: $shell is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
ln -s "$program" "$work/howard"
export PATH="$work:$PATH" HOME="$work"
cd "$work"
howard completion "$shell" >script
touch file_beside

bash_words() {
  bash --norc -c '
    compopt() { :; }
    source ./script
    COMP_LINE=$1 COMP_POINT=${#1}
    _howard_words howard
    printf "%s\n" "${COMPREPLY[@]}"' - "$1"
}

# A zsh behind a terminal of its own presses Tab; compadd tells what would be offered.
zsh_words() {
  zsh -f -c '
    zmodload zsh/zpty
    zpty z zsh -f -i
    zpty -w z "PS1= PROMPT_EOL_MARK=; unsetopt zle_bracketed_paste 2>/dev/null; source ./setup.zsh; print READY"
    zpty -r z start "*READY*READY*"
    zpty -n -w z "$1"$'\''\t'\''
    zpty -r z shown "*<END>*"
    print -r -- "$shown"' - "$1" | tr -d '\r' | sed -n 's/.*<WORD>\(.*\)<WORD>.*/\1/p'
}
cat >setup.zsh <<'SETUP'
autoload -Uz compinit && compinit -u -D
source ./script
compadd() {
  local -a found
  builtin compadd -O found "$@" 2>/dev/null
  local word
  for word in "${found[@]}"; do print -r -- "<WORD>$word<WORD>"; done
  builtin compadd "$@"
}
ended() { print -r -- "<END>" }
compprefuncs=() comppostfuncs=(ended)
bindkey "^I" complete-word
SETUP

fish_words() { fish --no-config -c 'source ./script; complete -C $argv[1]' -- "$1" | cut -f 1; }

failures=0
twice=$(howard completion words '' | cut -f 1 | sort | uniq -d)
[[ -z $twice ]] || { echo "offered twice: $twice" >&2; failures=1; }
# offers LINE WORD...: the shell offers each of the words for the unfinished line.
offers() {
  local line=$1 word
  shift
  "${shell}_words" "$line" >offered 2>errors || true
  for word in "$@"; do
    grep -qxF -- "$word" offered && continue
    echo "$shell, '$line': '$word' is not offered, but: $(head -n 20 offered | tr '\n' ' ') $(head -c 300 errors)" >&2
    failures=$((failures + 1))
  done
}

offers 'howard mat' matmul_sweep
offers 'howard ' all list explain matmul_sweep
offers 'howard matmul_sweep --pi' --pictures --picture-size
offers 'howard train --pre' --preset
offers 'howard train --preset ' nano_gpt
offers 'howard report results --format la' latex
offers 'howard matmul_sweep -a di' dispatch=
offers 'howard explain ml' mlp mlp_engines
offers 'howard tune -a ' m= k= n=
offers 'howard matmul_sweep --chip worm' wormhole_b0_n150
offers 'howard matmul_sweep --set host.fin' host.finish=
if [[ $shell == bash ]]; then
  offers 'howard matmul_sweep -a dispatch=e' eth
else
  offers 'howard matmul_sweep -a dispatch=e' dispatch=eth
fi
[[ $shell != fish ]] || offers 'howard compare file_' file_beside
exit $((failures > 0))
