# Warnings as an interface target: every library of ours links it, no consumer inherits it.
add_library(howard_warnings INTERFACE)
target_compile_options(howard_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
  -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-qual -Wformat=2 -Wdouble-promotion
  -Wimplicit-fallthrough -Wundef
  $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond -Wduplicated-branches -Wlogical-op>
  # GCC 12 sees overlapping copies in "text" + std::string (its bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  # GCC 11 takes the rest of a text, up to npos, for a copy of that many bytes.
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,12>>:-Wno-stringop-overread>
  # GCC 13 and 14 take a function that looks up by a text for one that returns a part of that text.
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_GREATER_EQUAL:$<CXX_COMPILER_VERSION>,13>>:-Wno-dangling-reference>
  # clang says of each loop that may become vectors whether it did, warns of double{x} too, which says what it does,
  # and of embedded texts that another compiler may find too long.
  $<$<CXX_COMPILER_ID:Clang>:-Wno-pass-failed -Wno-double-promotion -Wno-overlength-strings>
  # GCC 12 wants every member named in a designated initialiser; leaving out defaults is the point.
  -Wno-missing-field-initializers)
if(HOWARD_WARNINGS_AS_ERRORS)
  target_compile_options(howard_warnings INTERFACE -Werror
    # What GCC's optimizer says of bounds depends on what it inlined, so that it differs between builds with and
    # without precompiled headers; of std::string it is often wrong (its bugs 105329 and 105651). It is printed, and
    # fails no build.
    $<$<CXX_COMPILER_ID:GNU>:-Wno-error=array-bounds -Wno-error=maybe-uninitialized
      -Wno-error=stringop-overflow -Wno-error=stringop-overread>)
endif()
