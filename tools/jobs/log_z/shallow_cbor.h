#pragma once

#include <cstddef>
#include <string_view>

namespace ort_ed {

// Whether `bytes` are CBOR whose values lie at most `deepest` within one another, each with its length in
// front. The parser takes stack for each level, that of strings in pieces included, and has no limit itself.
bool IsShallowCbor(std::string_view bytes, size_t deepest);

}  // namespace ort_ed
