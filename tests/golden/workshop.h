#pragma once

#include <string>
#include <vector>

#include "tests/support/temp_dir.h"

namespace ort_ed {

inline constexpr int kGoldenVariables = 12;

// A folder with the data and models that the cases work on.
class Workshop {
 public:
  Workshop();

  std::string Path(const std::string& name) const { return dir_.File(name); }
  // "@name" is the file `name` of this folder.
  std::vector<std::string> WithPaths(const std::vector<std::string>& arguments) const;
  // The standard output of `ort-ed arguments...`; fails the test if the command fails.
  std::string Run(const std::vector<std::string>& arguments) const;

 private:
  void WriteData() const;
  void MakeModels() const;

  TempDir dir_;
};

}  // namespace ort_ed
