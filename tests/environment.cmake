# SPDX-License-Identifier: Apache-2.0
# ctest reads this before it runs a test: a test has an environment of its own, not the user's. Only
# what finds programs and places for files is kept, the settings of sanitizers, and those two without which older
# builds of OpenBLAS compute wrong numbers on some processors. The folder `home` is empty.
set(kept PATH LD_LIBRARY_PATH TMPDIR ASAN_OPTIONS LSAN_OPTIONS TSAN_OPTIONS UBSAN_OPTIONS OPENBLAS_CORETYPE
  OPENBLAS_L2_SIZE)
execute_process(COMMAND env OUTPUT_VARIABLE variables)
string(REGEX MATCHALL "(^|\n)[A-Za-z_][A-Za-z_0-9]*=" names "${variables}")
foreach(name IN LISTS names)
  string(REGEX REPLACE "[\n=]" "" name "${name}")
  list(FIND kept "${name}" place)
  if(place EQUAL -1)
    unset(ENV{${name}})
  endif()
endforeach()
if(DEFINED ENV{TMPDIR})
  set(ENV{TEST_TMPDIR} "$ENV{TMPDIR}")  # GoogleTest's name of it
endif()
file(MAKE_DIRECTORY "${CMAKE_CURRENT_LIST_DIR}/home")
set(ENV{HOME} "${CMAKE_CURRENT_LIST_DIR}/home")
set(ENV{LC_ALL} C.UTF-8)
