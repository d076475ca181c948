# How every target of the project is compiled, and the two kinds of library there are.

add_library(ort_ed_flags INTERFACE)
target_include_directories(ort_ed_flags INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(ort_ed_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow $<$<BOOL:${ORT_ED_WERROR}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(ort_ed_flags INTERFACE -Wno-restrict) # false alarms on "literal" + std::string (GCC PR105651)
endif()
if(ORT_ED_SANITIZE)
  target_compile_options(ort_ed_flags INTERFACE -fsanitize=${ORT_ED_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  target_link_options(ort_ed_flags INTERFACE -fsanitize=${ORT_ED_SANITIZE})
endif()

# How what runs seldom is compiled where size counts.
set(ORT_ED_SMALL $<$<CONFIG:Release>:-Os>)

# A library of the toolkit: static, never installed.
#   ort_ed_library(NAME SOURCES a.cc b.cc USES lib ...)
function(ort_ed_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;USES")
  add_library(${name} STATIC ${arg_SOURCES})
  target_link_libraries(${name} PUBLIC ort_ed_flags ${arg_USES})
endfunction()

# Programs built against a version load the libraries of any other with this number. Before 1.0 a minor version may change
# the public structures.
set(ORT_ED_SOVERSION ${PROJECT_VERSION_MAJOR})
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(ORT_ED_SOVERSION 0.${PROJECT_VERSION_MINOR})
endif()

# A shipped library: objects compiled once with hidden symbols, a shared library that exports only what its headers
# and exports.map name, and NAME_core, the same objects as a static library for the toolkit and white-box tests.
# HOT are the sources where time is spent; the others are compiled to be small.
#   ort_ed_shipped_library(NAME EXPORT_NAME n HOT a.cc SOURCES b.cc USES lib PUBLIC_USES lib)
function(ort_ed_shipped_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "EXPORT_NAME" "HOT;SOURCES;USES;PUBLIC_USES")
  set(include_dirs $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

  set(core_uses ${arg_USES})
  foreach(use IN LISTS arg_PUBLIC_USES)
    list(APPEND core_uses ${use}_core)
  endforeach()
  add_library(${name}_core STATIC ${arg_HOT} ${arg_SOURCES})
  set_source_files_properties(${arg_SOURCES} PROPERTIES COMPILE_OPTIONS "${ORT_ED_SMALL}")
  set_target_properties(${name}_core PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_include_directories(${name}_core PUBLIC ${include_dirs})
  target_link_libraries(${name}_core PUBLIC ort_ed_flags ort_ed_support ${core_uses})

  add_library(${name} SHARED $<TARGET_OBJECTS:${name}_core>)
  set_target_properties(${name} PROPERTIES EXPORT_NAME ${arg_EXPORT_NAME}
    VERSION ${PROJECT_VERSION} SOVERSION ${ORT_ED_SOVERSION}
    LINK_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/exports.map
    INSTALL_RPATH "$ORIGIN" INSTALL_RPATH_USE_LINK_PATH ON)
  target_include_directories(${name} INTERFACE ${include_dirs})
  target_compile_features(${name} INTERFACE cxx_std_20)
  target_link_libraries(${name} PUBLIC ${arg_PUBLIC_USES} PRIVATE $<BUILD_INTERFACE:ort_ed_flags> $<BUILD_INTERFACE:ort_ed_support>
    $<BUILD_INTERFACE:${arg_USES}>)
  target_link_options(${name} PRIVATE LINKER:--version-script=${CMAKE_CURRENT_SOURCE_DIR}/exports.map
    LINKER:--as-needed)
  if(NOT ORT_ED_SANITIZE)
    target_link_options(${name} PRIVATE LINKER:--no-undefined)
  endif()
  add_library(ort_ed::${arg_EXPORT_NAME} ALIAS ${name})
endfunction()

# A GoogleTest program registered with ctest.
#   ort_ed_test(NAME LABEL unit SOURCES a_test.cc USES lib ... [TIMEOUT s])
function(ort_ed_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LABEL;TIMEOUT" "SOURCES;USES")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 900)
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ort_ed_flags ${arg_USES} GTest::gtest_main GTest::gmock)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS ${arg_LABEL} TIMEOUT ${arg_TIMEOUT}
    WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
endfunction()
