# HOWARD_SANITIZE=address,undefined or thread: applied to everything that is compiled here.
if(HOWARD_SANITIZE)
  add_compile_options(-fsanitize=${HOWARD_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${HOWARD_SANITIZE})
endif()

# HOWARD_FUZZ: everything tells the fuzzer which ways it took, and stops at what is undefined.
if(HOWARD_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
    message(FATAL_ERROR "HOWARD_FUZZ needs clang: -DCMAKE_CXX_COMPILER=clang++")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all)
  add_link_options(-fsanitize=address,undefined)
endif()
