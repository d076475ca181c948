#include <spdlog/spdlog.h>

#include "tools/cli/command.h"
#include "tools/cli/option_values.h"

namespace ort_ed {

void AddDeviceArguments(argparse::ArgumentParser& parser) {
  parser.add_argument("--device")
      .default_value(std::string("cpu"))
      .metavar("DEVICE")
      .help("cpu, cuda, cuda:1, auto, or another execution provider; `ort-ed devices` lists them");
  parser.add_argument("--threads")
      .default_value(0)
      .scan<'i', int>()
      .metavar("N")
      .help("threads; 0: all cores");
}

LoadOptions ChosenLoadOptions(const argparse::ArgumentParser& arguments) {
  const auto device = arguments.get<std::string>("--device");
  LoadOptions options;
  options.device = ParseDevice(device);
  options.threads = NumberFrom(arguments, "--threads", 0);
  if (device == "auto") spdlog::info("--device auto: running on {}", ToString(options.device));
  return options;
}

}  // namespace ort_ed
