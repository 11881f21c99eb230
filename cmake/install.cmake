# cmake --install DIR --prefix P: the program with its profiles, data and documents (component
# `program`), and the engine and profiler libraries for C++ projects (component `development`). The
# tree may be moved afterwards: everything in it is found from where the program or the CMake package
# lies. cmake/packages.cmake makes Debian packages of the two.
include(CMakePackageConfigHelpers)

# -- program -------------------------------------------------------------------------------------

# Two names: the short one is for daily use, the long one is that of a build tree.
install(PROGRAMS $<TARGET_FILE:run_experiment> DESTINATION ${CMAKE_INSTALL_BINDIR} RENAME howard
  COMPONENT program)
file(CREATE_LINK howard ${CMAKE_CURRENT_BINARY_DIR}/run_experiment_link SYMBOLIC)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/run_experiment_link RENAME run_experiment
  DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
install(DIRECTORY engines/chip/profiles DESTINATION ${CMAKE_INSTALL_DATADIR}/howard
  COMPONENT program FILES_MATCHING PATTERN *.json)
install(DIRECTORY data DESTINATION ${CMAKE_INSTALL_DATADIR}/howard COMPONENT program)
install(FILES reports/formats/result.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/howard
  COMPONENT program)
install(FILES README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright COMPONENT program)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)

include(cmake/manuals.cmake)

# -- Python --------------------------------------------------------------------------------------

install(DIRECTORY ${CMAKE_BINARY_DIR}/python/howard DESTINATION ${HOWARD_INSTALL_PYTHONDIR}
  COMPONENT program FILES_MATCHING PATTERN *.py PATTERN *.pyi PATTERN py.typed
  PATTERN __pycache__ EXCLUDE)
if(TARGET howard_module)
  install(TARGETS howard_module DESTINATION ${HOWARD_INSTALL_PYTHONDIR}/howard COMPONENT program)
endif()

# -- development ---------------------------------------------------------------------------------

set(HOWARD_CMAKEDIR ${CMAKE_INSTALL_LIBDIR}/cmake/Howard)
foreach(name base program device mesh ops chip calibration host reference autograd models language training
    workload query profiler profiler_formats profiler_silicon)
  set(library howard_${name})
  set_target_properties(${library} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(${library} INTERFACE cxx_std_20)
  target_include_directories(${library} INTERFACE
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/howard>)
  # How strictly our own sources are looked at does not concern who links them.
  get_target_property(needs ${library} INTERFACE_LINK_LIBRARIES)
  if(needs)
    list(REMOVE_ITEM needs "$<LINK_ONLY:howard_warnings>")
    set_target_properties(${library} PROPERTIES INTERFACE_LINK_LIBRARIES "${needs}")
  endif()
  install(TARGETS ${library} EXPORT HowardTargets DESTINATION ${CMAKE_INSTALL_LIBDIR}
    COMPONENT development)
endforeach()
# What compilers ask: <howard/op.h> for C++ and <howard/op_c.h> for C.
set_target_properties(howard_op PROPERTIES EXPORT_NAME op)
foreach(library howard_query howard_op)
  target_include_directories(${library} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endforeach()
install(TARGETS howard_op EXPORT HowardTargets DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(FILES engines/query/op.h engines/query/op_c.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/howard
  COMPONENT development)
foreach(folder base profiler engines/program engines/device engines/ops engines/chip engines/host
    engines/reference engines/autograd engines/mesh engines/models engines/language
    engines/training)
  get_filename_component(parent ${folder} DIRECTORY)
  install(DIRECTORY ${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/howard/${parent}
    COMPONENT development
    FILES_MATCHING PATTERN *.h PATTERN benchmarks EXCLUDE PATTERN calibration EXCLUDE)
endforeach()

install(EXPORT HowardTargets NAMESPACE Howard:: DESTINATION ${HOWARD_CMAKEDIR}
  COMPONENT development)
configure_package_config_file(cmake/HowardConfig.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/HowardConfig.cmake INSTALL_DESTINATION ${HOWARD_CMAKEDIR})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/HowardConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/HowardConfig.cmake
    ${CMAKE_CURRENT_BINARY_DIR}/HowardConfigVersion.cmake
  DESTINATION ${HOWARD_CMAKEDIR} COMPONENT development)
