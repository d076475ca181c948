#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ort_ed/options.h"

namespace onnx {
class ModelProto;
}

namespace ort_ed {

// What a base distribution may be fitted to.
struct BaseContext {
  std::span<const double> mean;               // of each column of the data
  const onnx::ModelProto* learned = nullptr;  // the network of a learned base
};

// A base distribution p0 under a network, U(x) = net(x) - log p0(x): normalised, easy to draw from, and part
// of the graph. Adding one: write models/base/<name>.cc with a `const BaseKind k<Name>Base` and add its row
// in base_kinds.cc.
struct BaseKind {
  const char* name;
  const char* summary;
  const Schema& (*schema)();
  // Adds -log p0 to the energy, and to the metadata what samplers need to draw from it. Throws OptionError
  // and kInvalidArgument.
  void (*attach)(onnx::ModelProto& model, const BaseContext& context, const OptionMap& options);
};

template <typename Options, void (*Attach)(onnx::ModelProto&, const BaseContext&, const Options&)>
constexpr BaseKind MakeBaseKind(const char* name, const char* summary) {
  return {name, summary, &SchemaOf<Options>,
          [](onnx::ModelProto& model, const BaseContext& context, const OptionMap& options) {
            Attach(model, context, MakeOptions<Options>(options));
          }};
}

std::span<const BaseKind* const> BaseKinds();
KindTable BaseTable();

// Throws OptionError of "base" where it does not fit the model.
void AttachBase(onnx::ModelProto& model, const Choice& base, const BaseContext& context);

}  // namespace ort_ed
