# Completion of PROGRAM for bash; to be read by it: source <(PROGRAM completion bash)
_PROGRAM_words() {
  local begun=${COMP_LINE:0:COMP_POINT} words line
  read -r -a words <<<"$begun"
  [[ $begun != *[[:space:]] ]] || words+=('')
  COMPREPLY=()
  while IFS= read -r line; do
    line=${line%%$'\t'*}
    # After an equals sign more may follow: a value, another value.
    [[ $line != *=* ]] || compopt -o nospace
    COMPREPLY+=("$line")
  done < <("$1" completion words "${words[@]:1}" 2>/dev/null)
  # Readline replaces what follows the last sign that it divides words at.
  local last=${words[-1]} divided
  if [[ $last == *=* && $COMP_WORDBREAKS == *=* ]]; then
    divided=${last%"${last##*=}"}
    COMPREPLY=("${COMPREPLY[@]#"$divided"}")
  fi
}
complete -o default -F _PROGRAM_words PROGRAM
