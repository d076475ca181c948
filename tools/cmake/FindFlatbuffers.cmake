# Finds the headers and the compiler of FlatBuffers: the system's packages. Defines Flatbuffers_INCLUDE_DIR and Flatbuffers_COMPILER.
find_path(Flatbuffers_INCLUDE_DIR flatbuffers/flatbuffers.h)
find_program(Flatbuffers_COMPILER flatc)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Flatbuffers REQUIRED_VARS Flatbuffers_INCLUDE_DIR Flatbuffers_COMPILER
  REASON_FAILURE_MESSAGE "run tools/setup.sh")
