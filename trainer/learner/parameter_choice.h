#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/inspect/buffers.h"

namespace ort_ed {

// What of a model is not trained, or not freely: constants and buffers that exporters store as initialisers.
struct ParameterRoles {
  std::vector<Buffer> buffers;      // no parameters
  std::vector<std::string> masked;  // parameters whose zeros stay zeros

  std::vector<std::string> BufferNames() const;
  // For people: what is not trained and why; one sentence each, none where all is.
  std::vector<std::string> Describe() const;
};

// `trainable`: patterns of initialisers that are parameters whatever they look like. Throws OptionError of
// `trainable` for a pattern that selects no initialiser.
ParameterRoles FindRoles(const onnx::ModelProto& model, const std::vector<std::string>& trainable);

// The same, after WidenParameters(): what is stored in less than float32 can be trained as well, and what is
// stored in more is named.
ParameterRoles WidenAndFindRoles(onnx::ModelProto& model, const std::vector<std::string>& trainable);

// The float initialisers that may be trained: not those that any pattern of `frozen` selects, and not
// `buffers`; without that list, not the statistics of BatchNormalization. Throws OptionError of `frozen` for
// a pattern that selects no initialiser.
std::vector<std::string> ParameterNames(const onnx::ModelProto& model, const std::vector<std::string>& frozen,
                                        const std::optional<std::vector<std::string>>& buffers);

}  // namespace ort_ed
