# What the program says of itself, written by it: the manual page and the completions of three shells.
set(manuals ${CMAKE_CURRENT_BINARY_DIR}/manuals)
set(howard ${manuals}/howard)  # It calls itself as it was called.
set(manual_files "")

# manual(FILE DESTINATION WORD...): FILE is what `howard WORD...` prints.
function(manual file destination)
  list(JOIN ARGN " " words)
  add_custom_command(OUTPUT ${manuals}/${file}
    COMMAND sh -c "'${howard}' ${words} > '${manuals}/${file}'"
    DEPENDS run_experiment ${howard}
    VERBATIM)
  install(FILES ${manuals}/${file} DESTINATION ${destination} COMPONENT program)
  set(manual_files ${manual_files} ${manuals}/${file} PARENT_SCOPE)
endfunction()

add_custom_command(OUTPUT ${howard}
  COMMAND ${CMAKE_COMMAND} -E create_symlink $<TARGET_FILE:run_experiment> ${howard}
  VERBATIM)
manual(howard.1 ${CMAKE_INSTALL_MANDIR}/man1 man)
manual(howard.bash ${CMAKE_INSTALL_DATADIR}/bash-completion/completions completion bash)
manual(_howard ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions completion zsh)
manual(howard.fish ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d completion fish)
add_custom_target(howard_manuals ALL DEPENDS ${manual_files})
