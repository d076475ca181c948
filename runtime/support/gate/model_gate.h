#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace ort_ed {

// Who made a model. The graphs that ort-ed trains with have operators of its own, and many nodes.
enum class Maker { kAnyone, kUs };

// The gate by which every model enters, whatever it comes from: a file is somebody's, and the libraries that
// read it take much for granted. One walk over the bytes, weights left aside, that throws kBadModel with the
// name of the node for
//   - data kept outside the model's folder (`path` is its file; empty: a model in memory, which has none);
//   - functions that call themselves, or more than FunctionCalls::kDeepest deep; more than
//     FunctionCalls::kMostNodes nodes with those of its functions, or kMostSteps with the trips of its loops;
//   - names with a NUL inside;
//   - attributes, ranks, sizes and omitted inputs that an operator cannot have (see operator_rules.h);
//   - whole numbers that are divided by what may be 0 or -1 (see whole_division.h);
//   - loops without a constant number of trips;
//   - operators that are neither standard ones, nor functions of the model, nor a few of ONNX Runtime's.
// What shows only when the model runs is not seen here.
//
// False where the bytes are damaged, so that it cannot be told.
bool AdmitModel(std::span<const std::byte> model, const std::string& path, const std::string& name,
                Maker maker = Maker::kAnyone);

}  // namespace ort_ed
