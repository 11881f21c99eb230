#compdef PROGRAM
# Completion of PROGRAM for zsh: a file _PROGRAM in a folder of $fpath, or
# source <(PROGRAM completion zsh) after compinit.
_PROGRAM() {
  local line word
  local -a whole open
  while IFS= read -r line; do
    word=${${line%%$'\t'*}//:/\\:}
    [[ $line == *$'\t'* ]] && word+=":${line#*$'\t'}"
    # After an equals sign more may follow: a value, another value.
    if [[ ${line%%$'\t'*} == *=* ]]; then open+=("$word"); else whole+=("$word"); fi
  done < <("${words[1]}" completion words "${(@Q)words[2,CURRENT]}" 2>/dev/null)
  if (( $#whole + $#open == 0 )); then
    _files
  else
    (( $#whole == 0 )) || _describe PROGRAM whole
    (( $#open == 0 )) || _describe PROGRAM open -S ''
  fi
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _PROGRAM "$@"; else compdef _PROGRAM PROGRAM; fi
