#include "ort_ed/metadata.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "ort_ed/error.h"
#include "runtime/support/text.h"

namespace ort_ed {
namespace {

using Entries = std::map<std::string, std::string>;

[[noreturn]] void Reject(const char* key, std::string_view value, const char* expected) {
  constexpr size_t kShown = 60;
  throw Error(ErrorCode::kBadModel, std::string("the metadata entry '") + key + "' is '" +
                                        std::string(value.substr(0, kShown)) +
                                        (value.size() > kShown ? "..." : "") + "', not " + expected);
}

int64_t ParseWhole(const char* key, const std::string& text) {
  const auto number = ParseInteger(text);
  if (!number) Reject(key, text, "a whole number");
  return *number;
}

const std::string* Find(const Entries& entries, const char* key) {
  const auto entry = entries.find(key);
  return entry == entries.end() ? nullptr : &entry->second;
}

void CheckVersion(const Entries& entries) {
  const std::string* text = Find(entries, metadata_key::kFormatVersion);
  if (text == nullptr) return;
  if (ParseWhole(metadata_key::kFormatVersion, *text) > kMetadataFormatVersion)
    throw Error(ErrorCode::kBadModel, "the model was written by a newer version of ort-ed (metadata format " +
                                          *text + ", this one reads up to " +
                                          std::to_string(kMetadataFormatVersion) + "); update ort-ed");
}

double ParseFinite(const char* key, const std::string& text) {
  const auto number = ParseNumber(text);
  if (!number) Reject(key, text, "a decimal number");
  if (!std::isfinite(*number)) Reject(key, text, "a finite number");
  return *number;
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
  const auto shape = ParseShape(text);
  if (!shape) Reject(metadata_key::kImageShape, text, "HEIGHTxWIDTH");
  return *shape;
}

std::vector<float> ParseBaseMean(const std::string& text) {
  std::vector<float> mean;
  for (const std::string& part : Split(text, ',')) {
    const auto p = ParseFloat(part);
    if (!p || !(*p >= 0 && *p <= 1))
      Reject(metadata_key::kBaseMean, text, "a list of probabilities with commas");
    mean.push_back(*p);
  }
  return mean;
}

std::vector<int64_t> ParseOrder(const std::string& text) {
  std::vector<int64_t> order;
  for (const std::string& variable : Split(text, ','))
    order.push_back(ParseWhole(metadata_key::kBaseOrder, variable));
  return order;
}

ViewDescription ParseView(const std::string& text) {
  constexpr int64_t kMostBlocks = 100;
  const std::vector<std::string> parts = Split(text, ',');
  const auto image = ParseShape(parts[0]), view = ParseShape(parts.size() == 3 ? parts[1] : "");
  const int64_t blocks = ParseInteger(parts.back()).value_or(-1);
  if (!image || !view || blocks < 0 || blocks > kMostBlocks)
    Reject(metadata_key::kBaseView, text, "IMAGE,WINDOW,BLOCKS, e.g. 28x28,7x15,3");
  return {(*image)[0], (*image)[1], (*view)[0], (*view)[1], blocks};
}

std::optional<AutoregressiveDescription> ParseBase(const Entries& entries) {
  constexpr int64_t kMostLayers = 100, kMostNetworks = 1000;
  constexpr std::string_view kMade = "made:";
  const std::string* text = Find(entries, metadata_key::kBase);
  if (text == nullptr) return std::nullopt;
  const std::vector<std::string> counts =
      Split(text->starts_with(kMade) ? text->substr(kMade.size()) : "", 'x');
  AutoregressiveDescription base;
  base.hidden_layers = ParseInteger(counts[0]).value_or(-1);
  const int64_t networks = counts.size() == 1 ? 1 : ParseInteger(counts[1]).value_or(0);
  if (counts.size() > 2 || base.hidden_layers < 0 || base.hidden_layers > kMostLayers || networks < 1 ||
      networks > kMostNetworks)
    Reject(metadata_key::kBase, *text,
           "a base distribution of this version (made:LAYERS or LAYERSxNETWORKS)");
  if (const std::string* orders = Find(entries, metadata_key::kBaseOrder)) {
    for (const std::string& order : Split(*orders, ';')) base.orders.push_back(ParseOrder(order));
    if (std::ssize(base.orders) != networks)
      Reject(metadata_key::kBaseOrder, *orders, "an order for each network of the base");
  } else {
    base.orders.resize(static_cast<size_t>(networks));
  }
  if (const std::string* view = Find(entries, metadata_key::kBaseView)) base.view = ParseView(*view);
  return base;
}

Variables ParseList(const std::string& text) {
  try {
    return ParseVariables(text);
  } catch (const Error& error) {
    Reject(metadata_key::kVariables, text, (std::string("a list of variables: ") + error.what()).c_str());
  }
}

std::optional<EnergySketch> ParseEnergySketch(const Entries& entries) {
  const std::string* text = Find(entries, metadata_key::kEnergyQuantiles);
  if (text == nullptr) return std::nullopt;
  EnergySketch sketch;
  for (const std::string& part : Split(*text, ','))  // as energies are: equal ones shall be found equal
    sketch.quantiles.push_back(static_cast<float>(ParseFinite(metadata_key::kEnergyQuantiles, part)));
  if (sketch.quantiles.size() < 2 || !std::is_sorted(sketch.quantiles.begin(), sketch.quantiles.end()))
    Reject(metadata_key::kEnergyQuantiles, *text, "two or more energies in ascending order");
  const std::string* rows = Find(entries, metadata_key::kEnergyRows);
  if (rows == nullptr) Reject(metadata_key::kEnergyRows, "", "the number of rows of the energy quantiles");
  sketch.rows = ParseWhole(metadata_key::kEnergyRows, *rows);
  if (sketch.rows < 1) Reject(metadata_key::kEnergyRows, *rows, "1 or more");
  return sketch;
}

}  // namespace

std::string BaseNetworkPrefix(int64_t network) {
  return network == 0 ? "" : std::to_string(network + 1) + "/";
}

double EnergySketch::Level(size_t k, size_t n) {
  const double above = 1 - static_cast<double>(k) / static_cast<double>(n - 1);
  return 1 - above * above;
}

double EnergySketch::FractionBelow(double energy) const {
  if (std::isnan(energy)) return energy;
  const size_t n = quantiles.size();
  const auto above = std::lower_bound(quantiles.begin(), quantiles.end(), energy);
  if (above == quantiles.end()) return 1;
  const auto k = static_cast<size_t>(above - quantiles.begin());
  if (k == 0) return 0;
  if (*above == energy) return Level(k, n);
  const double part = (energy - quantiles[k - 1]) / (quantiles[k] - quantiles[k - 1]);
  return Level(k - 1, n) + part * (Level(k, n) - Level(k - 1, n));
}

ModelMetadata ParseMetadata(const Entries& entries) {
  CheckVersion(entries);
  ModelMetadata metadata;
  if (const std::string* text = Find(entries, metadata_key::kDimension)) {
    metadata.dimension = ParseWhole(metadata_key::kDimension, *text);
    if (*metadata.dimension < 1) Reject(metadata_key::kDimension, *text, "1 or more");
  }
  if (const std::string* text = Find(entries, metadata_key::kDegree)) {
    const int64_t degree = ParseWhole(metadata_key::kDegree, *text);
    if (!std::in_range<int>(degree)) Reject(metadata_key::kDegree, *text, "the degree of a polynomial");
    metadata.degree = static_cast<int>(degree);
  }
  if (const std::string* text = Find(entries, metadata_key::kImageShape))
    metadata.image_shape = ParseImageShape(*text);
  if (const std::string* text = Find(entries, metadata_key::kArchitecture)) metadata.architecture = *text;
  if (const std::string* text = Find(entries, metadata_key::kBaseMean))
    metadata.base_mean = ParseBaseMean(*text);
  metadata.base = ParseBase(entries);
  if (const std::string* text = Find(entries, metadata_key::kVariables))
    metadata.variables = ParseList(*text);
  metadata.log_z = ParseLogZ(entries);
  metadata.training_energies = ParseEnergySketch(entries);
  for (const auto& [key, value] : entries)
    if (key.starts_with(metadata_key::kPrefix) && key != metadata_key::kGradientFragment)
      metadata.raw[key] = value;
  return metadata;
}

}  // namespace ort_ed
