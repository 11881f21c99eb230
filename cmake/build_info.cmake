# Writes OUTPUT, a source file with what the build knows about itself. Run as a script:
#   cmake -DOUTPUT=... -DSOURCE_DIR=... -DVERSION=... -DCOMPILER=... -DBUILD_TYPE=...
#         -DSANITIZERS=... -P cmake/build_info.cmake
cmake_minimum_required(VERSION 3.22)
find_program(git git)
set(commit unknown)
if(git)
  execute_process(COMMAND ${git} -C ${SOURCE_DIR} describe --always --abbrev=12 --exclude=* --dirty
    OUTPUT_VARIABLE described RESULT_VARIABLE failed ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(failed EQUAL 0)
    set(commit ${described})
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT
"#include <string_view>
namespace howard::harness {
extern const std::string_view kVersion, kGitCommit, kCompiler, kBuildType, kSanitizers;
const std::string_view kVersion = \"@VERSION@\";
const std::string_view kGitCommit = \"@commit@\";
const std::string_view kCompiler = \"@COMPILER@\";
const std::string_view kBuildType = \"@BUILD_TYPE@\";
const std::string_view kSanitizers = \"@SANITIZERS@\";
}
")
