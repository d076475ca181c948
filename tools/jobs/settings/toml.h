#pragma once

#include <string>

#include "ort_ed/options.h"

namespace ort_ed {

// Options of a schema as a TOML file: a table for each section, the options of a chosen kind behind the
// choice or in the table that it names.

// Adds what the file gives to `given`, with file and line as origin. Throws kIo; kInvalidArgument with file
// and line for bad syntax, an unknown section or key (listing those there are) and a value of a wrong type.
void ReadToml(const std::string& path, const Schema& schema, GivenOptions& given);

// A file that ReadToml() reads back to the same values, with the explanations of the options. What has no
// effect is left out.
std::string WriteToml(const Schema& schema, const void* object);
template <typename Options>
std::string WriteToml(const Options& options) {
  return WriteToml(SchemaOf<Options>(), &options);
}

}  // namespace ort_ed
