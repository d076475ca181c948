# Finds ONNX Runtime: -Donnxruntime_ROOT=... (a build of your own), then the system's package, then the cache of
# tools/setup.sh. Defines OnnxRuntime::OnnxRuntime, OnnxRuntime_LIBRARY and OnnxRuntime_VERSION (of the library).

set(_ort_cache "$ENV{ORT_ED_CACHE}")
if(NOT _ort_cache)
  if(DEFINED ENV{XDG_CACHE_HOME})
    set(_ort_cache "$ENV{XDG_CACHE_HOME}/ort-ed")
  else()
    set(_ort_cache "$ENV{HOME}/.cache/ort-ed")
  endif()
endif()
file(GLOB _ort_cached LIST_DIRECTORIES true "${_ort_cache}/onnxruntime-*")
list(SORT _ort_cached COMPARE NATURAL ORDER DESCENDING)

# Another root than last time: what was found then does not count.
if(NOT "${onnxruntime_ROOT}" STREQUAL "${OnnxRuntime_ROOT_USED}")
  unset(OnnxRuntime_INCLUDE_DIR CACHE)
  unset(OnnxRuntime_LIBRARY CACHE)
  unset(OnnxRuntime_VERSION CACHE)
  set(OnnxRuntime_ROOT_USED "${onnxruntime_ROOT}" CACHE INTERNAL "the onnxruntime_ROOT of the last configuration")
endif()

function(_ort_find_in how)
  find_path(OnnxRuntime_INCLUDE_DIR onnxruntime_cxx_api.h PATHS ${ARGN} NO_DEFAULT_PATH
    PATH_SUFFIXES include include/onnxruntime include/onnxruntime/core/session)
  find_library(OnnxRuntime_LIBRARY NAMES onnxruntime PATHS ${ARGN} NO_DEFAULT_PATH PATH_SUFFIXES lib lib64)
  if(OnnxRuntime_INCLUDE_DIR AND OnnxRuntime_LIBRARY)
    set(OnnxRuntime_SOURCE ${how} CACHE INTERNAL "where ONNX Runtime was found")
  endif()
endfunction()

if(onnxruntime_ROOT)
  _ort_find_in("onnxruntime_ROOT" ${onnxruntime_ROOT})
  if(NOT OnnxRuntime_LIBRARY OR NOT OnnxRuntime_INCLUDE_DIR)
    message(FATAL_ERROR "onnxruntime_ROOT=${onnxruntime_ROOT} holds no include/onnxruntime_cxx_api.h with lib/libonnxruntime.so")
  endif()
elseif(NOT OnnxRuntime_LIBRARY)
  # Debian 13's 1.21 shares libonnx with this program, registers every operator twice (a thousand lines on stderr) and crashes
  # on custom operators with optional inputs.
  find_package(onnxruntime 1.22 CONFIG QUIET)
  if(TARGET onnxruntime::onnxruntime)
    get_target_property(OnnxRuntime_INCLUDE_DIR onnxruntime::onnxruntime INTERFACE_INCLUDE_DIRECTORIES)
    foreach(_config "" _RELEASE _RELWITHDEBINFO _NONE)
      get_target_property(_location onnxruntime::onnxruntime IMPORTED_LOCATION${_config})
      if(_location)
        set(OnnxRuntime_LIBRARY ${_location})
      endif()
    endforeach()
    set(OnnxRuntime_SOURCE "find_package(onnxruntime)" CACHE INTERNAL "where ONNX Runtime was found")
  elseif(_ort_cached)
    _ort_find_in("the cache of tools/setup.sh" ${_ort_cached})
  endif()
endif()

# Headers and library may differ in version, so the library itself is asked: it carries "VERS_1.30.0".
if(OnnxRuntime_LIBRARY AND NOT OnnxRuntime_VERSION)
  file(STRINGS "${OnnxRuntime_LIBRARY}" _ort_version REGEX "^VERS_[0-9.]+$" LIMIT_COUNT 1)
  string(REPLACE "VERS_" "" _ort_version "${_ort_version}")
  set(OnnxRuntime_VERSION "${_ort_version}" CACHE INTERNAL "version of the ONNX Runtime library")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OnnxRuntime
  REQUIRED_VARS OnnxRuntime_LIBRARY OnnxRuntime_INCLUDE_DIR VERSION_VAR OnnxRuntime_VERSION
  REASON_FAILURE_MESSAGE "run tools/setup.sh, or configure with -Donnxruntime_ROOT=/path/to/onnxruntime")

if(OnnxRuntime_FOUND AND NOT TARGET OnnxRuntime::OnnxRuntime)
  add_library(OnnxRuntime::OnnxRuntime SHARED IMPORTED)
  set_target_properties(OnnxRuntime::OnnxRuntime PROPERTIES
    IMPORTED_LOCATION "${OnnxRuntime_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${OnnxRuntime_INCLUDE_DIR}")
  message(STATUS "ONNX Runtime ${OnnxRuntime_VERSION} from ${OnnxRuntime_SOURCE}: ${OnnxRuntime_LIBRARY}")
endif()
