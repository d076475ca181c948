#include "models/graph/model_edits.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "ort_ed/metadata.h"

namespace ort_ed {
namespace {

TEST(Metadata, IsSetOnceAndRemovedByNothing) {
  onnx::ModelProto model;
  SetMetadata(model, "key", "old");
  SetMetadata(model, "key", "new");
  ASSERT_EQ(model.metadata_props_size(), 1);
  EXPECT_EQ(GetMetadata(model, "key"), "new");
  SetMetadata(model, "key", "");
  EXPECT_EQ(model.metadata_props_size(), 0);
  EXPECT_EQ(GetMetadata(model, "key"), "");
}

TEST(Metadata, WhatIsStaleGoesAndTheRestStays) {
  onnx::ModelProto model;
  SetMetadata(model, metadata_key::kLogZ, "1");
  SetMetadata(model, metadata_key::kGradientFragment, "abc");
  SetMetadata(model, metadata_key::kDimension, "3");
  RemoveStaleMetadata(model);
  ASSERT_EQ(model.metadata_props_size(), 1);
  EXPECT_EQ(GetMetadata(model, metadata_key::kDimension), "3");
}

TEST(Initialisers, AreFoundCountedAndEmptied) {
  onnx::ModelProto model;
  onnx::TensorProto& tensor = *model.mutable_graph()->add_initializer();
  tensor.set_name("w");
  tensor.add_dims(2);
  tensor.add_dims(3);
  tensor.set_raw_data(std::string(24, 'x'));
  EXPECT_EQ(FindInitialiser(model, "v"), nullptr);
  ASSERT_EQ(FindInitialiser(model, "w"), &tensor);
  EXPECT_EQ(ElementCount(tensor), 6);
  FreeValues(tensor);
  EXPECT_FALSE(tensor.has_raw_data());
}

}  // namespace
}  // namespace ort_ed
