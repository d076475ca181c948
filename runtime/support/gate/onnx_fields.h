#pragma once

#include <cstdint>

// Field numbers of onnx.proto, as far as the gate reads it.
namespace ort_ed::onnx_field {

inline constexpr uint32_t kModelGraph = 7, kModelMetadata = 14, kModelTraining = 20, kModelFunctions = 25;
inline constexpr uint32_t kTrainingInitialization = 1, kTrainingAlgorithm = 2;
inline constexpr uint32_t kGraphNode = 1, kGraphInitializer = 5, kGraphInput = 11, kGraphOutput = 12,
                          kGraphSparseInitializer = 15;
inline constexpr uint32_t kFunctionName = 1, kFunctionInput = 4, kFunctionOutput = 5, kFunctionNode = 7,
                          kFunctionDomain = 10, kFunctionAttribute = 11, kFunctionOverload = 13;
inline constexpr uint32_t kNodeInput = 1, kNodeOutput = 2, kNodeName = 3, kNodeOperator = 4,
                          kNodeAttribute = 5, kNodeDomain = 7, kNodeOverload = 8;
inline constexpr uint32_t kAttributeName = 1, kAttributeFloat = 2, kAttributeInt = 3, kAttributeTensor = 5,
                          kAttributeGraph = 6, kAttributeInts = 8, kAttributeTensors = 10,
                          kAttributeGraphs = 11, kAttributeReference = 21, kAttributeSparseTensor = 22,
                          kAttributeSparseTensors = 23;
inline constexpr uint32_t kTensorDims = 1, kTensorType = 2, kTensorInt32Data = 5, kTensorInt64Data = 7,
                          kTensorName = 8, kTensorRawData = 9, kTensorUint64Data = 11,
                          kTensorExternalData = 13;
inline constexpr uint32_t kSparseValues = 1, kSparseIndices = 2;
inline constexpr uint32_t kEntryKey = 1, kEntryValue = 2;
inline constexpr uint32_t kValueName = 1, kValueType = 2, kTypeTensor = 1, kTensorTypeElement = 1,
                          kTensorTypeShape = 2, kShapeDimension = 1;

// Types of elements.
inline constexpr int64_t kTypeFloat = 1, kTypeUint8 = 2, kTypeInt8 = 3, kTypeUint16 = 4, kTypeInt16 = 5,
                         kTypeInt32 = 6, kTypeInt64 = 7, kTypeString = 8, kTypeDouble = 11, kTypeUint32 = 12,
                         kTypeUint64 = 13, kTypeComplex64 = 14, kTypeLastFloat8 = 20;

}  // namespace ort_ed::onnx_field
