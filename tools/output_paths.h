#pragma once

#include <initializer_list>
#include <string>

#include <argparse/argparse.hpp>

namespace ort_ed {

// Refuses (UsageError) outputs that would overwrite an input or one another, and more than one result on the
// standard output. The names are of arguments that hold paths; those that were not given do not count.
void CheckOutputPaths(const argparse::ArgumentParser& arguments, std::initializer_list<const char*> outputs,
                      std::initializer_list<const char*> inputs);

// The path of a picture, which must end in .png: one that does not is likely a file that shall stay.
std::string PicturePath(const std::string& path);

}  // namespace ort_ed
