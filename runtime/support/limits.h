#pragma once

#include <cstddef>
#include <cstdint>

// What is read has an end: a small file must not take all memory or stack. docs/limits.md says the same to
// users.
namespace ort_ed {

// Values of a row, and variables of a model.
inline constexpr int64_t kMaxColumns = int64_t{1} << 20;
// A line of a text file, or a row of a table with all its lines.
inline constexpr size_t kMaxLineBytes = size_t{1} << 25;
// A model, which protobuf limits to that.
inline constexpr size_t kMaxModelBytes = (size_t{1} << 31) - 1;
// A file of settings, and how many tables may lie within one another there.
inline constexpr size_t kMaxSettingsBytes = size_t{1} << 24;
inline constexpr int kMaxSettingsDepth = 32;

}  // namespace ort_ed
