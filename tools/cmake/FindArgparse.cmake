# Finds the header-only argparse: the cache of tools/setup.sh, else the system's package. Defines Argparse::Argparse.
file(GLOB _argparse_cached LIST_DIRECTORIES true
  "$ENV{ORT_ED_CACHE}/argparse-*" "$ENV{XDG_CACHE_HOME}/ort-ed/argparse-*" "$ENV{HOME}/.cache/ort-ed/argparse-*")
find_path(Argparse_INCLUDE_DIR argparse/argparse.hpp HINTS ${_argparse_cached} PATH_SUFFIXES include)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Argparse REQUIRED_VARS Argparse_INCLUDE_DIR REASON_FAILURE_MESSAGE "run tools/setup.sh")

if(Argparse_FOUND AND NOT TARGET Argparse::Argparse)
  add_library(Argparse::Argparse INTERFACE IMPORTED)
  set_target_properties(Argparse::Argparse PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${Argparse_INCLUDE_DIR}")
endif()
