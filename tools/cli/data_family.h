#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <argparse/argparse.hpp>

namespace ort_ed {

struct DataRequest {
  std::string name;
  int64_t rows = 0;
  uint64_t seed = 0;
  std::string output;
};

// Synthetic data sets of one kind for `ort-ed data`. Adding a kind: write data_<kind>.cc with a
// `const DataFamily k<Kind>Data` and add its row in cmd_data.cc.
struct DataFamily {
  struct Member {
    std::string name;
    std::string summary;
  };
  std::vector<Member> (*members)();
  void (*add_arguments)(argparse::ArgumentParser& parser);  // options of this kind only
  std::vector<std::string> options;                         // their names
  void (*write)(const DataRequest& request, const argparse::ArgumentParser& arguments);
};

}  // namespace ort_ed
