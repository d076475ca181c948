#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ort_ed/export.h"
#include "ort_ed/variables.h"

namespace ort_ed {

// Keys of the ONNX metadata that the toolkit writes and reads. All values are text.
namespace metadata_key {
inline constexpr char kPrefix[] = "ort_ed.";
inline constexpr char kFormatVersion[] = "ort_ed.format_version";              // "1"
inline constexpr char kDimension[] = "ort_ed.dimension";                       // D
inline constexpr char kImageShape[] = "ort_ed.image_shape";                    // "28x28", where D is an image
inline constexpr char kArchitecture[] = "ort_ed.architecture";                 // "mlp", ...
inline constexpr char kArchitectureOptions[] = "ort_ed.architecture_options";  // JSON object
inline constexpr char kBaseMean[] =
    "ort_ed.base_mean";  // D decimals with commas: P(x_i = 1) of the base distribution
// A learned base distribution: "made:L" for a masked autoencoder with L hidden layers, "made:LxK" for the
// mixture of K of them. Their tensors are initialisers of the graph with names that begin with
// kBaseTensorPrefix and BaseNetworkPrefix().
inline constexpr char kBase[] = "ort_ed.base";
// Variables with commas, as drawn; none: ascending. Of a mixture one list for each network, with semicolons.
inline constexpr char kBaseOrder[] = "ort_ed.base_order";
// Where the base has a part that looks at the pixels around each one: "28x28,7x15,3" for an image, the view
// and the number of residual blocks behind it.
inline constexpr char kBaseView[] = "ort_ed.base_view";
// "1" or "2", where the graph shows that the energy is a polynomial of that degree in x.
inline constexpr char kDegree[] = "ort_ed.degree";
// The list of variables over the D bits (variables.h); without it there are D binary ones.
inline constexpr char kVariables[] = "ort_ed.variables";
inline constexpr char kTraining[] = "ort_ed.training";        // JSON object: how it was trained
inline constexpr char kLogZ[] = "ort_ed.log_z";               // decimal
inline constexpr char kLogZError[] = "ort_ed.log_z_error";    // standard error, decimal
inline constexpr char kLogZMethod[] = "ort_ed.log_z_method";  // "exact", "ais ...", ...
// Of the energies of training rows: how many rows, and quantiles as decimals with commas, ascending. See
// EnergySketch.
inline constexpr char kEnergyRows[] = "ort_ed.energy_rows";
inline constexpr char kEnergyQuantiles[] = "ort_ed.energy_quantiles";
// The input gradient dU/dx: base64 of a ModelProto fragment that holds only the additional nodes,
// initialisers and the output `energy_gradient` [batch, D]. Protobuf merges concatenated messages, so model
// bytes + fragment bytes is the model with gradient; plain scoring never loads it.
inline constexpr char kGradientFragment[] = "ort_ed.gradient";
}  // namespace metadata_key

inline constexpr char kBaseTensorPrefix[] = "base/";

inline constexpr int kMetadataFormatVersion = 1;
inline constexpr char kInputName[] = "x";
inline constexpr char kEnergyOutputName[] = "energy";
inline constexpr char kGradientOutputName[] = "energy_gradient";

struct LogZ {
  double value = 0;
  double standard_error = 0;
  std::string method;
};

// The part of an autoregressive network that sees, of an image, a view above each pixel and to its left.
struct ViewDescription {
  int64_t height = 0, width = 0;  // of the image
  int64_t view_height = 0, view_width = 0;
  int64_t blocks = 0;
};
// What a residual block of it sees: of the row above and its own as many columns, none to the right of its
// own.
inline constexpr int64_t kViewBlockHeight = 2, kViewBlockWidth = 3;

// A base distribution that is an autoregressive network, or a mixture of several with equal weights.
struct AutoregressiveDescription {
  int64_t hidden_layers = 0;
  std::vector<std::vector<int64_t>> orders;  // of each network; an empty one: ascending
  std::optional<ViewDescription> view;       // of the only one
};
// What the names of the tensors of network 0, 1, ... begin with, behind kBaseTensorPrefix.
ORT_ED_API std::string BaseNetworkPrefix(int64_t network);
// The last position in the order that a hidden unit of such a network sees.
constexpr int64_t UnitDegree(int64_t unit, int64_t units, int64_t dimension) {
  return unit * (dimension - 1) / units;
}

// The energies of training rows in short, so that the energy of another row can be placed among them.
struct EnergySketch {
  int64_t rows = 0;  // that it was made of
  // Ascending, 2 or more. Of n, the k-th (from 0) is the energy that the fraction 1 - (1 - k / (n - 1))^2 of
  // the rows lies below: close together where energies are high, since that is where thresholds are set.
  std::vector<double> quantiles;

  // That fraction.
  ORT_ED_API static double Level(size_t k, size_t n);

  // The fraction of the rows with a lower energy, which are less odd. NaN for NaN.
  ORT_ED_API double FractionBelow(double energy) const;
};

// What the toolkit knows of a model beyond its graph. Everything is optional: any ONNX energy model may come
// without.
struct ModelMetadata {
  std::optional<int64_t> dimension;
  std::optional<std::vector<int64_t>> image_shape;  // height, width
  std::string architecture;                         // empty if unknown
  std::optional<int> degree;                        // of a polynomial in x
  std::vector<float> base_mean;                     // empty without such a base distribution
  std::optional<AutoregressiveDescription> base;    // or this one
  std::optional<Variables> variables;               // over the bits; else all are binary
  std::optional<LogZ> log_z;
  std::optional<EnergySketch> training_energies;
  std::map<std::string, std::string> raw;  // every ort_ed.* entry as it stands, without the gradient fragment
};

// Throws kBadModel, naming the key, where an entry of a known key does not parse.
ORT_ED_API ModelMetadata ParseMetadata(const std::map<std::string, std::string>& entries);

}  // namespace ort_ed
