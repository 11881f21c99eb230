# embed_text(TARGET NAMESPACE SYMBOL FILE): compiles FILE into TARGET as
#   namespace NAMESPACE { extern const std::string_view SYMBOL; }
# so that the binary works without its source tree and cannot differ from it.
function(embed_text target namespace symbol file)
  set(source ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  set(output ${CMAKE_CURRENT_BINARY_DIR}/embedded_${symbol}.cpp)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
  file(READ ${source} text)
  string(LENGTH "${text}" length)
  # A raw string literal of standard length at most: compilers accept 64 KiB a piece.
  set(pieces "")
  set(begin 0)
  while(begin LESS length)
    string(SUBSTRING "${text}" ${begin} 8000 piece)
    string(APPEND pieces "R\"howard(${piece})howard\"\n")
    math(EXPR begin "${begin} + 8000")
  endwhile()
  file(CONFIGURE OUTPUT ${output} @ONLY CONTENT
"#include <string_view>
namespace @namespace@ {
extern const std::string_view @symbol@;
const std::string_view @symbol@ = @pieces@;
}
")
  target_sources(${target} PRIVATE ${output})
endfunction()

# embed_digest(TARGET NAMESPACE SYMBOL FILE): the same for the SHA-256 of FILE, in hexadecimal digits.
function(embed_digest target namespace symbol file)
  set(source ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  set(output ${CMAKE_CURRENT_BINARY_DIR}/embedded_${symbol}.cpp)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
  file(SHA256 ${source} digest)
  file(CONFIGURE OUTPUT ${output} @ONLY CONTENT
"#include <string_view>
namespace @namespace@ {
extern const std::string_view @symbol@;
const std::string_view @symbol@ = \"@digest@\";
}
")
  target_sources(${target} PRIVATE ${output})
endfunction()
