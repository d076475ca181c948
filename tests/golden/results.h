#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "tests/golden/workshop.h"

namespace ort_ed {

// What a case gives.
struct GoldenResult {
  nlohmann::json bits;    // the same only where the fingerprint is
  nlohmann::json values;  // the same everywhere, numbers up to the tolerance of the case
};

// Each takes the name of the case, by which the command's output is called, and what the command printed.

// A run folder.
GoldenResult TrainedRun(const Workshop& workshop, const std::string& name, const std::string& printed);
// A model, NAME.onnx.
GoldenResult Model(const Workshop& workshop, const std::string& name, const std::string& printed);
// Rows, NAME.npy, and JSON about them, if any was printed.
GoldenResult DrawnRows(const Workshop& workshop, const std::string& name, const std::string& printed);
// JSON alone.
GoldenResult Printed(const Workshop& workshop, const std::string& name, const std::string& printed);

}  // namespace ort_ed
