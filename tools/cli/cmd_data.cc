#include <spdlog/spdlog.h>

#include "runtime/support/named.h"
#include "tools/cli/command.h"
#include "tools/cli/data_family.h"
#include "tools/cli/foreign_options.h"
#include "tools/cli/output_paths.h"

namespace ort_ed {

extern const DataFamily kIsingData;
extern const DataFamily kPlanarData;

namespace {

const std::vector<const DataFamily*>& Families() {
  static const std::vector<const DataFamily*> families = {&kPlanarData, &kIsingData};
  return families;
}

struct NamedFamily {
  std::string name;  // of one member
  const DataFamily* family;
};

const DataFamily& FindFamily(const std::string& name) {
  std::vector<NamedFamily> table;
  for (const DataFamily* family : Families())
    for (const DataFamily::Member& member : family->members()) table.push_back({member.name, family});
  return *FindNamed(table, name, "data set").family;
}

std::vector<std::string> OptionsOfFamilies() {
  std::vector<std::string> options;
  for (const DataFamily* family : Families())
    options.insert(options.end(), family->options.begin(), family->options.end());
  return options;
}

void AddArguments(argparse::ArgumentParser& parser) {
  std::string names = "what to draw:";
  for (const DataFamily* family : Families())
    for (const DataFamily::Member& member : family->members())
      names += fmt::format("\n  {:<14}{}", member.name, member.summary);
  parser.add_argument("name").metavar("NAME").help(names);
  parser.add_argument("-n", "--rows")
      .default_value(int64_t{100000})
      .scan<'i', int64_t>()
      .metavar("N")
      .help("rows to draw");
  parser.add_argument("--seed")
      .default_value(uint64_t{1})
      .scan<'i', uint64_t>()
      .metavar("S")
      .help("row i of a seed is always the same, however many are drawn");
  parser.add_argument("-o", "--output")
      .required()
      .metavar("FILE")
      .help("rows of 0 and 1: .npy, .bits.npy (packed), .csv or .tsv; - is CSV on the standard output");
  for (const DataFamily* family : Families()) family->add_arguments(parser);
}

void Run(const argparse::ArgumentParser& arguments) {
  CheckOutputPaths(arguments, {"--output", "--planar", "--couplings"}, {});
  const DataRequest request{.name = arguments.get("name"),
                            .rows = arguments.get<int64_t>("--rows"),
                            .seed = arguments.get<uint64_t>("--seed"),
                            .output = arguments.get("--output")};
  if (request.rows < 1)
    throw UsageError(fmt::format("-n {} is not a number of rows; draw 1 or more", request.rows));
  const DataFamily& family = FindFamily(request.name);
  RefuseForeignOptions(arguments, OptionsOfFamilies(), family.options,
                       fmt::format("`ort-ed data {}`", request.name));
  family.write(request, arguments);
}

}  // namespace

extern const Command kDataCommand = {
    .name = "data",
    .summary = "draw synthetic data sets",
    .examples =
        "  ort-ed data pinwheel -n 100000 -o pinwheel.npy\n"
        "  ort-ed data moons -n 4000 --seed 2 --planar points.npy -o moons.bits.npy\n"
        "  ort-ed data checkerboard -n 10 -o -\n"
        "  ort-ed data ising --shape 10x10 --sigma 0.2 -n 2000 --steps 1000000 -o ising.npy",
    .add_arguments = AddArguments,
    .run = Run,
};

}  // namespace ort_ed
