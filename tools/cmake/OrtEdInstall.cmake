# Installs the shipped libraries with their headers, for find_package(ort_ed) and for pkg-config, and the command.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ort_ed)
set(generated_dir ${PROJECT_BINARY_DIR}/generated/package)

install(TARGETS ort_ed_runtime ort_ed_sampler EXPORT ort_edTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY runtime/include/ort_ed sampler/include/ort_ed DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

install(EXPORT ort_edTargets NAMESPACE ort_ed:: DESTINATION ${package_dir})
configure_package_config_file(tools/cmake/ort_edConfig.cmake.in ${generated_dir}/ort_edConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${generated_dir}/ort_edConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${generated_dir}/ort_edConfig.cmake ${generated_dir}/ort_edConfigVersion.cmake
  DESTINATION ${package_dir})

# The .pc files find the prefix from where they lie, so that an installed tree can be moved.
file(RELATIVE_PATH ORT_ED_PREFIX_FROM_PC "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
foreach(library IN ITEMS runtime sampler)
  configure_file(tools/cmake/ort_ed_${library}.pc.in ${generated_dir}/ort_ed_${library}.pc @ONLY)
  install(FILES ${generated_dir}/ort_ed_${library}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

if(ORT_ED_BUILD_TOOLKIT)
  file(RELATIVE_PATH libraries_from_command "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBDIR}")
  set_target_properties(ort-ed PROPERTIES INSTALL_RPATH "$ORIGIN/${libraries_from_command}" INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS ort-ed RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
