#pragma once

#include <stdexcept>
#include <string>

#include "ort_ed/export.h"

namespace ort_ed {

enum class ErrorCode {
  kInvalidArgument = 1,  // the caller asked for something impossible
  kBadModel,             // the model file is damaged or breaks the energy model contract
  kBadData,              // the data is damaged, of the wrong shape or not binary
  kIo,                   // a file cannot be read or written
  kDevice,               // the device does not exist or cannot be used
  kRuntime,              // ONNX Runtime failed while executing
  kInterrupted,          // stopped by the user
};

// The one exception type of the project. The message is a whole sentence for the user: what was wrong, where
// (file, row, column, node), and what to do.
class ORT_ED_API Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace ort_ed
