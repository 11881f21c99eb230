# header_tests(TARGET ROOT FOLDER...): an object library with a source for every header below
# ROOT/FOLDER that has no source of its own, which includes nothing else: it fails to build when a
# header leans on what its users happen to include before it. Other headers come first in their
# sources (check_own_headers.sh), which show the same wherever they are compiled one by one, as in the
# preset dev. The headers are globbed, so that none can be left out.
function(header_tests target root)
  list(TRANSFORM ARGN PREPEND ${root}/ OUTPUT_VARIABLE patterns)
  list(TRANSFORM patterns APPEND /*.h)
  file(GLOB_RECURSE headers RELATIVE ${root} CONFIGURE_DEPENDS ${patterns})
  set(sources "")
  foreach(header IN LISTS headers)
    string(REGEX REPLACE "[.]h$" ".cpp" own_source ${root}/${header})
    if(EXISTS ${own_source})
      continue()
    endif()
    set(source ${CMAKE_CURRENT_BINARY_DIR}/${target}/${header}.cpp)
    # Twice: without #pragma once the second one redefines everything.
    file(CONFIGURE OUTPUT ${source} CONTENT "#include \"@header@\"\n#include \"@header@\"\n" @ONLY)
    list(APPEND sources ${source})
  endforeach()
  add_library(${target} OBJECT ${sources})
  target_include_directories(${target} PRIVATE ${root})
  target_compile_options(${target} PRIVATE -O0)
  set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
endfunction()
