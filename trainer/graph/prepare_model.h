#pragma once

#include <cstdint>
#include <string>

#include <onnx/onnx_pb.h>

#include "models/inspect/model_summary.h"

namespace ort_ed {

// An energy model in the form that can be differentiated: newest opset, no functions, initialisers that are
// no inputs and stand for one parameter each, nodes in order, what is constant as
// numbers. It computes what it did before.
struct PreparedModel {
  onnx::ModelProto model;
  EnergyContract contract;
};

// `name` stands for the model in messages. Throws kBadModel.
PreparedModel Prepare(onnx::ModelProto model, const std::string& name = "the model");

// The same in place, for what need not be an energy model.
void PrepareForDifferentiation(onnx::ModelProto& model);

// How often a model was prepared so far, for tests that keep the number down.
int64_t PreparationCount();

}  // namespace ort_ed
