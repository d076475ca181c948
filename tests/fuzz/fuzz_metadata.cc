// The metadata of a model: the first byte chooses the entry that the rest is the value of.
#include <array>
#include <cstdint>
#include <iterator>

#include "ort_ed/error.h"
#include "ort_ed/metadata.h"
#include "runtime/support/encoding/base64.h"
#include "runtime/support/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace ort_ed;
  constexpr std::array kKeys = {metadata_key::kVariables,
                                metadata_key::kBase,
                                metadata_key::kBaseOrder,
                                metadata_key::kBaseMean,
                                metadata_key::kEnergyQuantiles,
                                metadata_key::kImageShape,
                                metadata_key::kLogZ,
                                metadata_key::kDegree,
                                metadata_key::kFormatVersion,
                                metadata_key::kDimension};
  if (size == 0) return 0;
  const std::string value(bytes + 1, bytes + size);
  try {
    ParseMetadata({{kKeys[bytes[0] % kKeys.size()], value},
                   {metadata_key::kBase, "made:2"},
                   {metadata_key::kEnergyRows, "10"}});
  } catch (const Error&) {
  }
  Base64Decode(value);
  IsUtf8(JsonString(value));
  return 0;
}
