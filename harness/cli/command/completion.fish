# Completion of PROGRAM for fish: PROGRAM completion fish | source
function __PROGRAM_words
    set -l words (commandline -opc)
    set -l found ($words[1] completion words $words[2..-1] (commandline -ct) 2>/dev/null)
    if test (count $found) -eq 0
        __fish_complete_path (commandline -ct)
    else
        printf '%s\n' $found
    end
end
complete -c PROGRAM -f -a '(__PROGRAM_words)'
