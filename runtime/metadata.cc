#include "ort_ed/metadata.h"

#include <charconv>
#include <cmath>
#include <string_view>

#include "ort_ed/error.h"

namespace ort_ed {
namespace {

using Entries = std::map<std::string, std::string>;

[[noreturn]] void Reject(const char* key, std::string_view value, const char* expected) {
  constexpr size_t kShown = 60;
  throw Error(ErrorCode::kBadModel, std::string("the metadata entry '") + key + "' is '" +
                                        std::string(value.substr(0, kShown)) +
                                        (value.size() > kShown ? "..." : "") + "', not " + expected);
}

template <typename Number>
std::optional<Number> ToNumber(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

template <typename Number>
Number Parse(const char* key, std::string_view text, const char* expected) {
  const auto number = ToNumber<Number>(text);
  if (!number) Reject(key, text, expected);
  return *number;
}

template <typename Number>
std::vector<Number> ParseList(const char* key, std::string_view text, char separator, const char* expected) {
  std::vector<Number> numbers;
  for (size_t start = 0; start <= text.size();) {
    const size_t end = std::min(text.find(separator, start), text.size());
    const auto number = ToNumber<Number>(text.substr(start, end - start));
    if (!number) Reject(key, text, expected);
    numbers.push_back(*number);
    start = end + 1;
  }
  return numbers;
}

const std::string* Find(const Entries& entries, const char* key) {
  const auto entry = entries.find(key);
  return entry == entries.end() ? nullptr : &entry->second;
}

void CheckVersion(const Entries& entries) {
  const std::string* text = Find(entries, metadata_key::kFormatVersion);
  if (text == nullptr) return;
  const int version = Parse<int>(metadata_key::kFormatVersion, *text, "a whole number");
  if (version > kMetadataFormatVersion)
    throw Error(ErrorCode::kBadModel, "the model was written by a newer version of ort-ed (metadata format " +
                                          *text + ", this one reads up to " +
                                          std::to_string(kMetadataFormatVersion) + "); update ort-ed");
}

double ParseFinite(const char* key, const std::string& text) {
  const auto number = Parse<double>(key, text, "a decimal number");
  if (!std::isfinite(number)) Reject(key, text, "a finite number");
  return number;
}

std::optional<LogZ> ParseLogZ(const Entries& entries) {
  const std::string* value = Find(entries, metadata_key::kLogZ);
  if (value == nullptr) return std::nullopt;
  LogZ log_z;
  log_z.value = ParseFinite(metadata_key::kLogZ, *value);
  if (const std::string* error = Find(entries, metadata_key::kLogZError)) {
    log_z.standard_error = ParseFinite(metadata_key::kLogZError, *error);
    if (log_z.standard_error < 0) Reject(metadata_key::kLogZError, *error, "a standard error (0 or more)");
  }
  if (const std::string* method = Find(entries, metadata_key::kLogZMethod)) log_z.method = *method;
  return log_z;
}

std::vector<int64_t> ParseImageShape(const std::string& text) {
  constexpr char kExpected[] = "HEIGHTxWIDTH";
  auto shape = ParseList<int64_t>(metadata_key::kImageShape, text, 'x', kExpected);
  constexpr int64_t kMaxExtent = 1 << 24;
  if (shape.size() != 2) Reject(metadata_key::kImageShape, text, kExpected);
  for (int64_t extent : shape)
    if (extent < 1 || extent > kMaxExtent) Reject(metadata_key::kImageShape, text, kExpected);
  return shape;
}

std::vector<float> ParseBaseMean(const std::string& text) {
  constexpr char kExpected[] = "a list of probabilities with commas";
  auto mean = ParseList<float>(metadata_key::kBaseMean, text, ',', kExpected);
  for (float p : mean)
    if (!(p >= 0 && p <= 1)) Reject(metadata_key::kBaseMean, text, kExpected);
  return mean;
}

}  // namespace

ModelMetadata ParseMetadata(const Entries& entries) {
  CheckVersion(entries);
  ModelMetadata metadata;
  if (const std::string* text = Find(entries, metadata_key::kDimension)) {
    metadata.dimension = Parse<int64_t>(metadata_key::kDimension, *text, "a whole number");
    if (*metadata.dimension < 1) Reject(metadata_key::kDimension, *text, "1 or more");
  }
  if (const std::string* text = Find(entries, metadata_key::kDegree))
    metadata.degree = Parse<int>(metadata_key::kDegree, *text, "a whole number");
  if (const std::string* text = Find(entries, metadata_key::kImageShape))
    metadata.image_shape = ParseImageShape(*text);
  if (const std::string* text = Find(entries, metadata_key::kArchitecture)) metadata.architecture = *text;
  if (const std::string* text = Find(entries, metadata_key::kBaseMean))
    metadata.base_mean = ParseBaseMean(*text);
  metadata.log_z = ParseLogZ(entries);
  for (const auto& [key, value] : entries)
    if (key.starts_with(metadata_key::kPrefix) && key != metadata_key::kGradientFragment)
      metadata.raw[key] = value;
  return metadata;
}

}  // namespace ort_ed
