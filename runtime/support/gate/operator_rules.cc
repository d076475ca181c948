#include "runtime/support/gate/operator_rules.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <span>
#include <vector>

namespace ort_ed {
namespace {

constexpr int64_t kMany = std::numeric_limits<int32_t>::max();
constexpr int64_t kMostAxes = 64;
// Of what one attribute or constant makes by itself, without an array of that size anywhere.
constexpr int64_t kMostElements = int64_t{1} << 28;
constexpr int64_t kMostExtent = int64_t{1} << 24;

struct Range {
  std::string_view attribute;
  int64_t low, high;
};

// They divide by these, index with them or multiply them.
constexpr Range kRanges[] = {
    {"axes", -kMostAxes, kMostAxes},
    {"axis", -kMostAxes, kMostAxes},
    {"batch_dims", 0, kMostAxes},
    {"blocksize", 1, 1 << 15},
    {"dilations", 1, kMany},
    {"group", 1, kMany},
    {"hidden_size", 1, kMany},
    {"kernel_shape", 1, kMany},
    {"kv_num_heads", 1, kMany},
    {"ngram_counts", 0, kMostExtent},
    {"ngram_indexes", 0, kMostExtent},
    {"num_groups", 1, kMany},
    {"num_heads", 0, kMany},
    {"num_outputs", 1, kMany},
    {"output_height", 1, kMostExtent},
    {"output_padding", 0, kMostExtent},
    {"output_shape", 0, kMostExtent},
    {"output_width", 1, kMostExtent},
    {"pads", -kMostExtent, kMostExtent},
    {"perm", 0, kMostAxes},
    {"pooled_shape", 1, kMostExtent},
    {"q_num_heads", 1, kMany},
    {"rotary_embedding_dim", 0, kMany},
    {"sample_size", 1, kMostExtent},
    {"size", 1, kMany},
    {"strides", 1, kMany},
};

// The lists of inputs or outputs of these have no places to leave out.
constexpr std::string_view kAnyInputs[] = {"Concat", "Einsum", "Max", "Mean", "Min", "SequenceConstruct",
                                           "Sum"};
constexpr std::string_view kAnyOutputs[] = {"Split"};
// What exporters and ONNX Runtime's own optimiser write for energies, the standard operator whose rules it
// has, and how many inputs it has to have.
struct AddedOperator {
  std::string_view op, like;
  size_t inputs;
};

constexpr AddedOperator kMicrosoft[] = {
    {"Attention", "", 1},
    {"BiasGelu", "", 2},
    {"FastGelu", "", 1},
    {"FusedConv", "Conv", 2},
    {"FusedGemm", "Gemm", 2},
    {"FusedMatMul", "MatMul", 2},
    {"Gelu", "", 1},
    {"MultiHeadAttention", "", 1},
    {"QuickGelu", "", 1},
    {"RotaryEmbedding", "", 4},
    {"SkipLayerNormalization", "", 3},
    {"SkipSimplifiedLayerNormalization", "", 3},
};

// ONNX Runtime reads lengths that come with the rows without looking.
constexpr std::string_view kUnsafe[] = {"STFT"};

struct RankRule {
  std::string_view op;
  size_t input;
  int64_t least, most;
};

constexpr RankRule kRanks[] = {
    {"AveragePool", 0, 3, kMostAxes},
    {"BatchNormalization", 1, 1, 1},
    {"BatchNormalization", 2, 1, 1},
    {"BatchNormalization", 3, 1, 1},
    {"BatchNormalization", 4, 1, 1},
    {"Conv", 0, 3, kMostAxes},
    {"Conv", 1, 3, kMostAxes},
    {"Conv", 2, 1, 1},
    {"ConvInteger", 0, 3, kMostAxes},
    {"ConvInteger", 1, 3, kMostAxes},
    {"ConvTranspose", 0, 3, kMostAxes},
    {"ConvTranspose", 1, 3, kMostAxes},
    {"ConvTranspose", 2, 1, 1},
    {"DepthToSpace", 0, 4, 4},
    {"GRU", 0, 3, 3},
    {"GRU", 1, 3, 3},
    {"GRU", 2, 3, 3},
    {"GatherND", 0, 1, kMostAxes},
    {"GatherND", 1, 1, kMostAxes},
    {"Gemm", 0, 2, 2},
    {"Gemm", 1, 2, 2},
    {"Gemm", 2, 0, 2},
    {"GlobalAveragePool", 0, 3, kMostAxes},
    {"GlobalMaxPool", 0, 3, kMostAxes},
    {"InstanceNormalization", 0, 3, kMostAxes},
    {"InstanceNormalization", 1, 1, 1},
    {"InstanceNormalization", 2, 1, 1},
    {"LRN", 0, 3, kMostAxes},
    {"LSTM", 0, 3, 3},
    {"LSTM", 1, 3, 3},
    {"LSTM", 2, 3, 3},
    {"LpPool", 0, 3, kMostAxes},
    {"MatMul", 0, 1, kMostAxes},
    {"MatMul", 1, 1, kMostAxes},
    {"MaxPool", 0, 3, kMostAxes},
    {"RNN", 0, 3, 3},
    {"RNN", 1, 3, 3},
    {"RNN", 2, 3, 3},
    {"ScatterND", 0, 1, kMostAxes},
    {"ScatterND", 1, 1, kMostAxes},
    {"SpaceToDepth", 0, 4, 4},
};

enum class Content { kSome, kOne, kOnePositive };

struct ContentRule {
  std::string_view op;
  size_t input;
  Content content;
};

constexpr ContentRule kContents[] = {
    {"AveragePool", 0, Content::kSome},
    {"BlackmanWindow", 0, Content::kOnePositive},
    {"Conv", 0, Content::kSome},
    {"Conv", 1, Content::kSome},
    {"ConvTranspose", 0, Content::kSome},
    {"ConvTranspose", 1, Content::kSome},
    {"DFT", 0, Content::kSome},
    {"DFT", 1, Content::kOnePositive},
    {"HammingWindow", 0, Content::kOnePositive},
    {"HannWindow", 0, Content::kOnePositive},
    {"Loop", 0, Content::kOne},
    {"Loop", 1, Content::kOne},
    {"MelWeightMatrix", 0, Content::kOnePositive},
    {"MelWeightMatrix", 1, Content::kOnePositive},
    {"OneHot", 1, Content::kOnePositive},
    {"SplitToSequence", 0, Content::kSome},
    {"SplitToSequence", 1, Content::kSome},
    {"TopK", 0, Content::kSome},
    {"Unique", 0, Content::kSome},
};

// Constants that are the shape of what the operator makes, or say how often it repeats what there is.
struct SizeRule {
  std::string_view op;
  size_t input;
};

constexpr SizeRule kSizes[] = {
    {"AffineGrid", 1}, {"CenterCropPad", 1}, {"Col2Im", 1}, {"ConstantOfShape", 0},
    {"Expand", 1},     {"MaxUnpool", 2},     {"Pad", 1},    {"Resize", 3},
    {"Tile", 1},
};

// The rules of an operator, in a table by its name.
template <typename Rule, size_t kCount>
std::span<const Rule> RulesOf(const Rule (&table)[kCount], std::string_view op) {
  const auto* first = std::ranges::lower_bound(table, op, {}, &Rule::op);
  const auto* last = std::find_if(first, std::end(table), [&](const Rule& rule) { return rule.op != op; });
  return {first, last};
}

static_assert(std::ranges::is_sorted(kRanges, {}, &Range::attribute));
static_assert(std::ranges::is_sorted(kRanks, {}, &RankRule::op));
static_assert(std::ranges::is_sorted(kContents, {}, &ContentRule::op));
static_assert(std::ranges::is_sorted(kSizes, {}, &SizeRule::op));
static_assert(std::ranges::is_sorted(kMicrosoft, {}, &AddedOperator::op));

// Beside those of the tables.
constexpr std::string_view kOthersWithRules[] = {
    "LayerNormalization", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Range"};

constexpr size_t kMarks = 1024;

constexpr size_t MarkOf(std::string_view op) {
  if (op.empty()) return 0;
  return (31 * static_cast<unsigned char>(op.front()) + 7 * static_cast<unsigned char>(op.back()) +
          op.size()) %
         kMarks;
}

// Marks the operators that some rule is for, and few others: most nodes need no look at the tables.
constexpr std::array<bool, kMarks> MarkOperators() {
  std::array<bool, kMarks> marks{};
  const auto mark_names = [&](const auto& names) {
    for (const std::string_view name : names) marks[MarkOf(name)] = true;
  };
  const auto mark_rules = [&](const auto& rules) {
    for (const auto& rule : rules) marks[MarkOf(rule.op)] = true;
  };
  mark_names(kAnyInputs);
  mark_names(kAnyOutputs);
  mark_names(kUnsafe);
  mark_names(kOthersWithRules);
  mark_rules(kRanks);
  mark_rules(kContents);
  mark_rules(kSizes);
  return marks;
}

constexpr std::array<bool, kMarks> kMarked = MarkOperators();

const AddedOperator* FindAdded(const GateNode& node) {
  const auto* found = std::ranges::lower_bound(kMicrosoft, node.op, {}, &AddedOperator::op);
  return node.domain == "com.microsoft" && found != std::end(kMicrosoft) && found->op == node.op ? found
                                                                                                 : nullptr;
}

bool Contains(const auto& names, std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// Counted as people do.
std::string Place(const char* what, size_t index) {
  return std::string(what) + " " + std::to_string(index + 1);
}

// Of operators that are not standard ones.
std::string AddedProblem(const GateNode& node) {
  const AddedOperator* added = FindAdded(node);
  if (added == nullptr)
    return "is no standard operator; export the model with operators of ONNX itself (the domain ai.onnx)";
  for (size_t i = 0; i < added->inputs; ++i)
    if (i >= node.inputs.size() || node.inputs[i].empty())
      return "leaves out its " + Place("input", i) + ", which is not optional";
  return "";
}

std::string GapProblem(const GateNode& node) {
  const auto gap = [](const std::vector<std::string_view>& names) {
    return static_cast<size_t>(std::find(names.begin(), names.end(), "") - names.begin());
  };
  if (const size_t at = gap(node.inputs); NeedsAllInputs(node) && at < node.inputs.size())
    return "leaves out its " + Place("input", at) + ", which is not optional";
  if (const size_t at = gap(node.outputs); Contains(kAnyOutputs, node.op) && at < node.outputs.size())
    return "leaves out its " + Place("output", at) + ", which is not optional";
  // Optional, but ONNX Runtime reads it where it is named at all.
  if (node.op == "LayerNormalization" && node.inputs.size() > 2 && node.inputs[2].empty())
    return "names an empty third input; end its inputs before";
  return "";
}

std::string RankProblem(const GateNode& node, const GateScope& scope) {
  for (const RankRule& rule : RulesOf(kRanks, node.op)) {
    if (rule.input >= node.inputs.size()) continue;
    const auto rank = scope.Find(node.inputs[rule.input]).rank;
    if (!rank || (*rank >= rule.least && *rank <= rule.most)) continue;
    return "cannot take an array of rank " + std::to_string(*rank) + " as its " + Place("input", rule.input);
  }
  return "";
}

std::string ContentProblem(const GateNode& node, const GateScope& scope) {
  for (const ContentRule& rule : RulesOf(kContents, node.op)) {
    if (rule.input >= node.inputs.size()) continue;
    const GateTensor tensor = scope.Find(node.inputs[rule.input]);
    const std::string what = "its " + Place("input", rule.input);
    if (tensor.elements == 0) return "cannot take an empty array as " + what;
    if (rule.content != Content::kSome && tensor.elements.value_or(1) != 1)
      return "needs a single value as " + what + ", not " + std::to_string(*tensor.elements);
    if (rule.content == Content::kOnePositive && (tensor.value.value_or(1) < 1 || tensor.value > kMostExtent))
      return "needs a number from 1 to " + std::to_string(kMostExtent) + " as " + what + ", not " +
             std::to_string(*tensor.value);
  }
  // A length for all pieces, or one for each.
  if (node.op == "SplitToSequence" && node.inputs.size() > 1 &&
      scope.Find(node.inputs[1]).value.value_or(1) < 1)
    return "needs pieces of 1 or more";
  return "";
}

// Of pads, which are added, each by itself; of all else their product.
int64_t ElementsOf(const std::vector<int64_t>& extents, bool are_added) {
  int64_t elements = 1;
  for (const int64_t extent : extents) {
    if (are_added) {
      elements = std::max(elements, extent);
    } else if (extent > 0 && __builtin_mul_overflow(elements, extent, &elements)) {
      return std::numeric_limits<int64_t>::max();
    }
  }
  return elements;
}

std::string TooManyElements() {
  return "makes an array of more than " + std::to_string(kMostElements) + " elements";
}

std::string SizeProblem(const GateNode& node, const GateScope& scope) {
  for (const SizeRule& rule : RulesOf(kSizes, node.op)) {
    if (rule.input >= node.inputs.size()) continue;
    const auto extents = ReadIntegers(scope.Find(node.inputs[rule.input]).bytes, 2 * kMostAxes);
    if (extents && ElementsOf(*extents, node.op == "Pad") > kMostElements) return TooManyElements();
  }
  if (const GateAttribute* shape = node.Find("shape");
      shape != nullptr && node.op.starts_with("Random") && ElementsOf(shape->integers, false) > kMostElements)
    return TooManyElements();
  if (node.op != "Range" || node.inputs.size() != 3) return "";
  const auto start = scope.Find(node.inputs[0]).value, limit = scope.Find(node.inputs[1]).value,
             delta = scope.Find(node.inputs[2]).value;
  if (!start || !limit || !delta || *delta == 0) return "";
  const double elements =
      (static_cast<double>(*limit) - static_cast<double>(*start)) / static_cast<double>(*delta);
  return elements > static_cast<double>(kMostElements) ? TooManyElements() : "";
}

// One that goes on as long as a condition holds may do so for ever.
std::string LoopProblem(const GateNode& node, const GateScope& scope) {
  if (node.op != "Loop") return "";
  if (!node.inputs.empty() && scope.Find(node.inputs[0]).value) return "";
  return "has no constant number of trips; export the model with one, without a loop, or with a Scan";
}

size_t Length(const GateNode& node, std::string_view attribute) {
  const GateAttribute* found = node.Find(attribute);
  return found == nullptr ? 0 : found->integers.size();
}

// As many strides as axes: those of the weights, or else of the window.
std::string WindowProblem(const GateNode& node, const GateScope& scope) {
  const bool convolves = node.op == "Conv" || node.op == "ConvTranspose" || node.op == "ConvInteger";
  const bool pools = node.op == "AveragePool" || node.op == "MaxPool" || node.op == "LpPool";
  if (!convolves && !pools) return "";
  size_t axes = Length(node, "kernel_shape");
  if (convolves && node.inputs.size() > 1)
    if (const auto rank = scope.Find(node.inputs[1]).rank) axes = static_cast<size_t>(*rank - 2);
  if (axes == 0) return "";
  for (const std::string_view attribute :
       {"kernel_shape", "strides", "dilations", "output_padding", "pads"}) {
    const size_t length = Length(node, attribute), expected = attribute == "pads" ? 2 * axes : axes;
    if (length != 0 && length != expected)
      return "has " + std::to_string(length) + " values in its attribute '" + std::string(attribute) +
             "' where it needs " + std::to_string(expected);
  }
  return "";
}

// The libraries check these with assertions of their own.
std::string RandomProblem(const GateNode& node) {
  const auto number = [&](std::string_view attribute, float otherwise) {
    const GateAttribute* found = node.Find(attribute);
    return found == nullptr ? otherwise : found->number.value_or(otherwise);
  };
  if (node.op.starts_with("RandomNormal") && !(number("scale", 1) > 0 && std::isfinite(number("scale", 1))))
    return "needs a scale above 0";
  if (!node.op.starts_with("RandomUniform")) return "";
  const float low = number("low", 0), high = number("high", 1);
  return low <= high && std::isfinite(high - low) ? "" : "needs low below high";
}

}  // namespace

bool NeedsAllInputs(const GateNode& node) { return node.IsStandard() && Contains(kAnyInputs, node.op); }

std::string AmbiguityProblem(const std::vector<GateAttribute>& attributes) {
  constexpr size_t kMostAttributes = 64;
  if (attributes.size() > kMostAttributes)
    return "has " + std::to_string(attributes.size()) + " attributes, more than any operator";
  for (size_t i = 0; i < attributes.size(); ++i) {
    const GateAttribute& each = attributes[i];
    for (size_t j = 0; j < i; ++j)
      if (each.name == attributes[j].name) return "has its attribute '" + std::string(each.name) + "' twice";
    if (!each.reference.empty() && (each.nested || each.number || !each.integers.empty()))
      return "has a value in its attribute '" + std::string(each.name) +
             "', which stands for the one of the call";
  }
  return "";
}

std::string AttributeProblem(const GateAttribute& attribute, std::string_view as) {
  const auto* range = std::ranges::lower_bound(kRanges, as, {}, &Range::attribute);
  if (range == std::end(kRanges) || range->attribute != as) return "";
  for (const int64_t value : attribute.integers) {
    if (value >= range->low && value <= range->high) continue;
    return "has " + std::to_string(value) + " in its attribute '" + std::string(attribute.name) +
           "', which must be from " + std::to_string(range->low) + " to " + std::to_string(range->high);
  }
  return "";
}

bool IsLibraryDomain(std::string_view domain) {
  constexpr std::string_view kFamilies[] = {"ai.onnx", "com.microsoft", "com.ms"};
  if (domain.empty() || domain == kOwnDomain) return true;
  return std::ranges::any_of(kFamilies, [&](std::string_view family) {
    return domain.starts_with(family) && (domain.size() == family.size() || domain[family.size()] == '.');
  });
}

std::string StandardProblem(const GateNode& node, const GateScope& scope) {
  std::string problem;
  for (const GateAttribute& attribute : node.attributes)
    if (problem.empty()) problem = AttributeProblem(attribute, attribute.name);
  if (!kMarked[MarkOf(node.op)]) return problem;
  if (Contains(kUnsafe, node.op)) return "is an operator that ONNX Runtime does not run safely";
  if (problem.empty()) problem = GapProblem(node);
  if (problem.empty()) problem = RankProblem(node, scope);
  if (problem.empty()) problem = ContentProblem(node, scope);
  if (problem.empty()) problem = WindowProblem(node, scope);
  if (problem.empty()) problem = RandomProblem(node);
  if (problem.empty()) problem = SizeProblem(node, scope);
  if (problem.empty()) problem = LoopProblem(node, scope);
  return problem;
}

std::string NodeProblem(const GateNode& node, const GateScope& scope) {
  if (node.IsStandard()) return StandardProblem(node, scope);
  if (const std::string problem = AddedProblem(node); !problem.empty()) return problem;
  GateNode like = node;
  if (const std::string_view op = FindAdded(node)->like; !op.empty()) like.op = op;
  return StandardProblem(like, scope);
}

}  // namespace ort_ed
