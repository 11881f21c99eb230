# What keeps the first build short. Half of a file's time goes into the headers of the libraries, so
# several files of a folder are compiled as one (HOWARD_UNITY; off in the preset for daily work, where
# a change should compile one small file, and a name that two files use should not hide a mistake).
if(HOWARD_UNITY)
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 12)
endif()

# GCC collects its garbage whenever its heap has grown past a limit that suits small files. These are
# large: with 400 MB, two of them took 10 to 20 % less time (GCC 12, user time), and 0.76 GB in place of
# 0.59, and 0.66 in place of 0.5.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(--param=ggc-min-heapsize=400000)
endif()

# runs_rarely(TARGET): nothing in it is hot, so it is optimised a little only, which takes a quarter
# less time to compile, and twice as many files are compiled as one. The latter takes a twelfth less time
# (reports on a quiet Zen 4: 39.6 s of user time in place of 43.1) and 1.13 GB at most in place of 0.95.
function(runs_rarely target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE 24)
endfunction()

# reads_headers_once(TARGET FIRST [HEADER...]): the headers that nearly every file begins with are read once, for
# FIRST, which names what it wants besides the standard library's, and not once a unit: 3.8 s in place of 4.6 for a
# unit of engines/chip and 5.0 in place of 6.9 for tests/workload (GCC 12, user time). Everything is compiled as FIRST
# is. A compiler cache keeps nothing that is compiled so, and clang wants the same -O.
function(reads_headers_once target first)
  if(NOT HOWARD_UNITY OR CMAKE_CXX_COMPILER_LAUNCHER OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    return()
  endif()
  # GCC forgets that these headers are the system's, and warns of some copies of texts that it inlines from them,
  # falsely where we looked. CI sees to it that there are none with its compiler; a user's build leaves them out.
  if(NOT HOWARD_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE
      -Wno-array-bounds -Wno-free-nonheap-object -Wno-stringop-overflow -Wno-stringop-overread)
  endif()
  if(target STREQUAL first)
    target_precompile_headers(${target} PRIVATE <algorithm> <array> <chrono> <cmath> <cstdint> <filesystem>
      <functional> <map> <memory> <optional> <set> <span> <string> <string_view> <utility> <variant> <vector> ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM ${first})
  endif()
endfunction()
