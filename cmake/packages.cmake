# cpack, in the build folder: the packages howard (the program and the Python module) and libhoward-dev
# (libraries, headers, CMake package) for Debian and Ubuntu. They need dpkg-dev and file, without which an
# archive of each is made.
find_program(dpkg_shlibdeps dpkg-shlibdeps)
find_program(file_command file)
mark_as_advanced(dpkg_shlibdeps file_command)
if(dpkg_shlibdeps AND file_command)
  set(CPACK_GENERATOR DEB)
else()
  set(CPACK_GENERATOR TGZ)
endif()
set(CPACK_PACKAGE_NAME howard)
set(CPACK_PACKAGE_VENDOR "The Howard authors")
set(CPACK_PACKAGE_CONTACT "The Howard authors <howard@howard.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "virtual Tenstorrent development box")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_COMPONENTS_ALL program development)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
# What the program and the module are linked to is looked up in them.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME howard)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION
  "Runs the experiments of a report on training with Wormhole chips on an emulated\n\
chip, in deterministic virtual time, and on the CPU. Says how long things take,\n\
what they are bound by, and reads the logs of tt-metal's profiler.")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS
  "gnuplot-nox | gnuplot-qt | gnuplot-x11, bash-completion, man-db")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS
  "python3-torch, libopenblas0-openmp, libhoward-dev")
if(TARGET howard_module AND Python_VERSION)
  # An extension is for one minor version.
  math(EXPR next_minor "${Python_VERSION_MINOR} + 1")
  set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS
    "python3 (>= ${Python_VERSION_MAJOR}.${Python_VERSION_MINOR}), python3 (<< ${Python_VERSION_MAJOR}.${next_minor}), python3-numpy")
endif()

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libhoward-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
  "The emulated chip, the CPU engine, autograd, models and the profiler of Howard as\n\
static libraries, with headers and a CMake package: find_package(Howard).")
# What the libraries are linked with, by HowardConfig.cmake.
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "libfmt-dev, nlohmann-json3-dev, libyaml-cpp-dev, libtbb-dev, libdnnl-dev, libnlopt-dev, ocl-icd-opencl-dev, libarchive-dev")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "howard, g++, cmake")

include(CPack)
