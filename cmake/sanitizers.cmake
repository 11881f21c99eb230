# HOWARD_SANITIZE=address,undefined or thread: applied to everything that is compiled here.
if(HOWARD_SANITIZE)
  add_compile_options(-fsanitize=${HOWARD_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${HOWARD_SANITIZE})
endif()
