// Layers of images that are made of others: sampling at points that a network computes, and normalisations.
#include <algorithm>
#include <array>
#include <optional>

#include "trainer/expand/expansions.h"

namespace ort_ed {
namespace {

using Values = std::vector<Value>;

Value Clip(const Value& x, float low, float high) {
  return Op("Clip", {x, x.graph->Scalar(low), x.graph->Scalar(high)});
}

// One spatial axis of the image that GridSample looks at, with what it does beyond its ends.
struct SampledAxis {
  int64_t extent;
  bool align_corners;
  std::string padding;

  float low() const { return align_corners ? 0 : -0.5f; }
  float high() const { return static_cast<float>(extent) - (align_corners ? 1 : 0.5f); }

  // From -1 ... 1 to positions, where 0 is the first pixel's centre.
  Value Position(const Value& x) const {
    const auto n = static_cast<float>(extent);
    return align_corners ? (x + 1) * ((n - 1) / 2) : ((x + 1) * n - 1) * 0.5f;
  }

  Value Reflected(const Value& x) const {
    const float range = high() - low();
    const Value from_low = x - low();
    const Value turn = from_low - Op("Floor", {from_low / (2 * range)}) * (2 * range);
    return high() - Op("Abs", {turn - range});
  }

  Value Inside(const Value& x) const {
    if (padding == "border") return Clip(x, 0, static_cast<float>(extent - 1));
    return padding == "reflection" ? Reflected(x) : x;
  }
};

// A pixel along one axis, for each point: its number, and how much it counts.
struct Tap {
  Value pixel;
  std::optional<Value> weight;  // none: 1
};

Value CubicWeight(const Value& distance, bool is_near) {
  constexpr float kA = -0.75f;
  if (is_near) return ((kA + 2) * distance - (kA + 3)) * distance * distance + 1;
  return ((kA * distance - 5 * kA) * distance + 8 * kA) * distance - 4 * kA;
}

Tap MakeTap(const GradContext& node, const SampledAxis& axis, const Value& position,
            std::optional<Value> weight) {
  const Value pixel = Clip(axis.Inside(position), 0, static_cast<float>(axis.extent - 1));
  if (axis.padding == "zeros") {
    const Value is_there = node.Mask(Op("Equal", {pixel, position}));
    weight = weight ? *weight * is_there : is_there;
  }
  return {Op("Cast", {pixel}, {{"to", int64_t{onnx::TensorProto::INT64}}}), weight};
}

std::vector<Tap> FindTaps(const GradContext& node, const SampledAxis& axis, const Value& x,
                          const std::string& mode) {
  const Value free = axis.Position(x);
  if (mode == "nearest") return {MakeTap(node, axis, axis.Inside(Op("Round", {free})), std::nullopt)};
  const bool cubic = mode == "cubic" || mode == "bicubic";
  const Value position = cubic ? free : axis.Inside(free), first = Op("Floor", {position}),
              t = position - first;
  if (!cubic) return {MakeTap(node, axis, first, 1 - t), MakeTap(node, axis, first + 1, t)};
  return {MakeTap(node, axis, first - 1, CubicWeight(t + 1, false)),
          MakeTap(node, axis, first, CubicWeight(t, true)),
          MakeTap(node, axis, first + 1, CubicWeight(1 - t, true)),
          MakeTap(node, axis, first + 2, CubicWeight(2 - t, false))};
}

// The sum over all combinations of the axes' taps of image [rows, channels, pixels], `taps` from the first
// axis on.
Value SumOfTaps(const Value& image, std::span<const std::vector<Tap>> taps, std::span<const SampledAxis> axes,
                int64_t channels, const std::optional<Tap>& outer) {
  GraphBuilder& graph = *image.graph;
  if (taps.empty()) {
    const Value pixels = Op("Expand", {outer->pixel, graph.Ints({{1, channels, 1}})});
    const Value seen = Op("GatherElements", {image, pixels}, {{"axis", int64_t{2}}});
    return outer->weight ? seen * *outer->weight : seen;
  }
  std::optional<Value> sum;
  for (const Tap& tap : taps.front()) {
    Tap inner = tap;
    if (outer) {
      inner.pixel = outer->pixel * graph.IntScalar(axes.front().extent) + tap.pixel;
      if (outer->weight) inner.weight = tap.weight ? *outer->weight * *tap.weight : *outer->weight;
    }
    const Value part = SumOfTaps(image, taps.subspan(1), axes.subspan(1), channels, inner);
    sum = sum ? *sum + part : part;
  }
  return *sum;
}

bool HasKnownImage(const TensorInfo& info) {
  return info.has_rank && info.rank() >= 3 &&
         std::all_of(info.shape.begin() + 1, info.shape.end(), [](const Extent& e) { return e.known(); });
}

Values GridSample(const GradContext& node) {
  const TensorInfo &image = node.InputInfo(0), &grid = node.InputInfo(1);
  if (!HasKnownImage(image) || !HasKnownImage(grid)) return {};
  const int64_t spatial = image.rank() - 2, channels = image.shape[1].value;
  std::vector<SampledAxis> axes;
  std::vector<std::vector<Tap>> taps;
  std::vector<int64_t> shape = {0, channels};
  for (int64_t i = 0; i < spatial; ++i) {
    axes.push_back(
        {image.shape[2 + i].value, node.Int("align_corners", 0) != 0, node.String("padding_mode", "zeros")});
    if (axes.back().padding == "reflection" && axes.back().high() == axes.back().low()) return {};
    const Value place = node.graph().IntScalar(spatial - 1 - i);
    const Value x = Op("Gather", {node.Input(1), place}, {{"axis", spatial + 1}});
    taps.push_back(FindTaps(node, axes.back(), Reshape(x, {{0, 1, -1}}), node.String("mode", "bilinear")));
    shape.push_back(grid.shape[1 + i].value);
  }
  const Value pixels = Reshape(node.Input(0), {{0, channels, -1}});
  return {Reshape(SumOfTaps(pixels, taps, axes, channels, std::nullopt), shape)};
}

// From -1 to 1: first and last pixel at the ends, or half a pixel inside.
std::vector<float> AxisPoints(int64_t extent, bool align_corners) {
  std::vector<float> points;
  for (int64_t i = 0; i < extent; ++i) {
    const auto n = static_cast<float>(extent), k = static_cast<float>(i);
    points.push_back(align_corners ? (extent > 1 ? 2 * k / (n - 1) - 1 : 0) : (2 * k + 1) / n - 1);
  }
  return points;
}

// Of an image whose extents are known; the last spatial axis comes first in a point.
Values AffineGrid(const GradContext& node) {
  const auto size = node.ConstantInts(1);
  if (!size || size->size() < 4) return {};
  const std::vector<int64_t> extents(size->begin() + 2, size->end());
  std::vector<std::vector<float>> points = {{1}};
  for (const int64_t extent : extents) {
    std::vector<std::vector<float>> longer;
    for (const auto& point : points)
      for (const float x : AxisPoints(extent, node.Int("align_corners", 0) != 0)) {
        longer.push_back(point);
        longer.back().insert(longer.back().begin(), x);
      }
    points = std::move(longer);
  }
  const auto dimensions = static_cast<int64_t>(extents.size());
  std::vector<float> flat;
  for (const auto& point : points) flat.insert(flat.end(), point.begin(), point.end());
  const Value base =
      node.graph().Constant(std::vector<int64_t>{static_cast<int64_t>(points.size()), dimensions + 1}, flat);
  std::vector<int64_t> shape = {-1};
  shape.insert(shape.end(), extents.begin(), extents.end());
  shape.push_back(dimensions);
  return {Reshape(MatMul(base, Transpose(node.Input(0), {{0, 2, 1}})), shape)};
}

Values LocalResponse(const GradContext& node) {
  const TensorInfo& info = node.InputInfo(0);
  if (!info.has_rank || info.rank() < 2 || !info.shape[1].known()) return {};
  const int64_t size = node.Int("size", 1), before = (size - 1) / 2, channels = info.shape[1].value;
  std::vector<int64_t> pads(2 * info.rank());
  pads[1] = before;
  pads[info.rank() + 1] = size - 1 - before;
  GraphBuilder& graph = node.graph();
  const Value x = node.Input(0), padded = Op("Pad", {x * x, graph.Ints(pads)});
  std::optional<Value> sum;
  for (int64_t i = 0; i < size; ++i) {
    const Value seen =
        Op("Slice", {padded, graph.Ints({{i}}), graph.Ints({{i + channels}}), graph.Ints({{1}})});
    sum = sum ? *sum + seen : seen;
  }
  const Value scale = node.Float("bias", 1) + *sum * (node.Float("alpha", 1e-4f) / static_cast<float>(size));
  return {x / Op("Pow", {scale, graph.Scalar(node.Float("beta", 0.75f))})};
}

// The smallest variance is no zero: of equal numbers the root has no slope.
Values MeanVariance(const GradContext& node) {
  std::vector<int64_t> axes = node.Ints("axes");
  if (axes.empty()) axes = {0, 2, 3};
  const Value centred = node.Input(0) - Reduce("ReduceMean", node.Input(0), axes, true);
  const Value variance = Reduce("ReduceMean", centred * centred, axes, true);
  return {centred / (Sqrt(Op("Max", {variance, node.graph().Scalar(1e-30f)})) + 1e-9f)};
}

// Scales of blocks are left out.
Values DequantizeLinear(const GradContext& node) {
  if (node.Int("block_size", 0) != 0 || !node.InputInfo(0).has_rank || !node.InputInfo(1).has_rank) return {};
  const int64_t rank = node.Rank(0), axis = node.PositiveAxis(node.Int("axis", 1), rank);
  std::vector<int64_t> behind;
  if (node.Rank(1) == 1)
    for (int64_t i = axis + 1; i < rank; ++i) behind.push_back(i - axis);
  const auto aligned = [&](const Value& value) { return behind.empty() ? value : Unsqueeze(value, behind); };
  const auto number = [&](int i) {
    return Op("Cast", {node.Input(i)}, {{"to", int64_t{node.graph().float_type()}}});
  };
  const Value steps = node.HasInput(2) ? number(0) - aligned(number(2)) : number(0);
  return {steps * aligned(node.Input(1))};
}

constexpr std::array kExpansions = {
    Expansion{"", "GridSample", GridSample},
    Expansion{"", "AffineGrid", AffineGrid},
    Expansion{"", "LRN", LocalResponse},
    Expansion{"", "MeanVarianceNormalization", MeanVariance},
    Expansion{"", "DequantizeLinear", DequantizeLinear},
};

}  // namespace

std::span<const Expansion> ImageExpansions() { return kExpansions; }

}  // namespace ort_ed
