#include "sampler/base/view_network.h"

#include <algorithm>
#include <cmath>

#include "ort_ed/error.h"
#include "ort_ed/metadata.h"
#include "sampler/base/check_values.h"

namespace ort_ed {
namespace {

void Require(bool holds, const std::string& what) {
  if (!holds) throw Error(ErrorCode::kInvalidArgument, what);
}

void Add(const std::vector<Lanes>& terms, std::vector<Lanes>& sums) {
  for (size_t k = 0; k < sums.size(); ++k)
    for (int64_t lane = 0; lane < kLanes; ++lane) sums[k].lane[lane] += terms[k].lane[lane];
}

}  // namespace

ViewNetwork::Layer ViewNetwork::MakeLayer(const ViewTensors::Layer& tensors, const std::string& name,
                                          int64_t inputs, int64_t height, int64_t width, bool own) {
  Layer layer{inputs, std::ssize(tensors.bias), {}, {}, tensors.bias};
  CheckValues(tensors.bias, static_cast<size_t>(layer.outputs), name + ".bias");
  CheckValues(tensors.weight, static_cast<size_t>(layer.outputs * inputs * height * width), name + ".weight");
  const auto weight = [&](int64_t output, int64_t input, int64_t row, int64_t column) {
    return tensors.weight[((output * inputs + input) * height + row) * width + column];
  };
  std::vector<std::pair<int64_t, int64_t>> cells;
  for (int64_t row = 0; row < height; ++row) {
    for (int64_t column = 0; column < width; ++column) {
      if (row < height - 1 || column < width / 2 + (own ? 1 : 0)) {
        cells.emplace_back(row, column);
        layer.taps.push_back({row - (height - 1), column - width / 2});
        continue;
      }
      for (int64_t output = 0; output < layer.outputs; ++output)
        for (int64_t input = 0; input < inputs; ++input)
          Require(weight(output, input, row, column) == 0,
                  "'" + name + ".weight' connects a pixel with later ones: such a network is not normalised");
    }
  }
  for (int64_t output = 0; output < layer.outputs; ++output)
    for (const auto& [row, column] : cells)
      for (int64_t input = 0; input < inputs; ++input)
        layer.weight.push_back(weight(output, input, row, column));
  return layer;
}

ViewNetwork::ViewNetwork(const ViewTensors& tensors)
    : height_(tensors.height), width_(tensors.width), maps_(std::ssize(tensors.view.bias)) {
  Require(height_ > 0 && width_ > 0 && maps_ > 0 && tensors.view_height > 0 && tensors.view_width > 0 &&
              tensors.view_width % 2 == 1,
          "the view of the base must have a size, and an odd width");
  view_ = MakeLayer(tensors.view, "view", 1, tensors.view_height, tensors.view_width, false);
  CheckValues(tensors.places, static_cast<size_t>(maps_ * pixels()), "view_place");
  for (int64_t pixel = 0; pixel < pixels(); ++pixel)
    for (int64_t map = 0; map < maps_; ++map) places_.push_back(tensors.places[map * pixels() + pixel]);
  for (size_t k = 0; k < tensors.blocks.size(); ++k) {
    const std::string name = "view_block" + std::to_string(k + 1);
    const auto& [conv, mix] = tensors.blocks[k];
    blocks_.push_back({MakeLayer(conv, name, maps_, kViewBlockHeight, kViewBlockWidth, true),
                       MakeLayer(mix, name + "_mix", maps_, 1, 1, true)});
    Require(blocks_[k].conv.outputs == maps_ && blocks_[k].mix.outputs == maps_,
            "'" + name + "' must have " + std::to_string(maps_) + " features");
  }
  output_ = MakeLayer(tensors.output, "view_output", maps_, 1, 1, true);
  Require(output_.outputs == 1, "'view_output' must have one output");
}

ViewNetwork::Block::Block(const ViewNetwork& network)
    : features_(network.maps_), inner_(network.maps_), active_(network.maps_) {
  for (size_t k = 0; k < network.blocks_.size(); ++k) seen_.emplace_back(network.pixels() * network.maps_);
}

int64_t ViewNetwork::FirstNeeded(int64_t position) const {
  const int64_t rows = std::ssize(blocks_) * (kViewBlockHeight - 1);
  return blocks_.empty() ? position : std::max<int64_t>(0, position / width_ - rows) * width_;
}

template <typename Visit>
void ViewNetwork::VisitSources(const Layer& layer, int64_t position, const Visit& visit) const {
  const int64_t row = position / width_, column = position % width_;
  for (size_t tap = 0; tap < layer.taps.size(); ++tap) {
    const int64_t y = row + layer.taps[tap].rows, x = column + layer.taps[tap].columns;
    if (y >= 0 && x >= 0 && x < width_) visit(static_cast<int64_t>(tap), y * width_ + x);
  }
}

void ViewNetwork::Gather(const Layer& layer, const Lanes* from, int64_t position,
                         std::vector<Lanes>& gathered) const {
  gathered.assign(layer.depth(), Lanes{});
  VisitSources(layer, position, [&](int64_t tap, int64_t pixel) {
    std::copy_n(from + pixel * layer.inputs, layer.inputs, gathered.begin() + tap * layer.inputs);
  });
}

void ViewNetwork::Apply(const Layer& layer, const Lanes* gathered, Lanes* results) const {
  const int64_t depth = layer.depth();
  for (int64_t output = 0; output < layer.outputs; ++output)
    std::ranges::fill(results[output].lane, layer.bias[output]);
  int64_t output = 0;
  for (; output + kDots <= layer.outputs; output += kDots)
    kernels_.dots(layer.weight.data() + output * depth, depth, gathered, depth, results + output);
  for (; output < layer.outputs; ++output)
    kernels_.dot(layer.weight.data() + output * depth, gathered, depth, results[output]);
}

void ViewNetwork::Swish(const Lanes* x, int64_t count, Lanes* results) const {
  for (int64_t k = 0; k < count; ++k) {
    Lanes sigmoid;
    kernels_.sigmoid(x[k], sigmoid);
    for (int64_t lane = 0; lane < kLanes; ++lane)
      results[k].lane[lane] = x[k].lane[lane] * sigmoid.lane[lane];
  }
}

void ViewNetwork::Compute(const Lanes* x, int64_t position, Block& block, Trace* trace) const {
  const auto keep = [&](const std::vector<Lanes>& values, std::vector<Lanes>& all) {
    std::ranges::copy(values, all.begin() + position * maps_);
  };
  Gather(view_, x, position, block.gathered_);
  Apply(view_, block.gathered_.data(), block.features_.data());
  for (int64_t map = 0; map < maps_; ++map)
    for (float& value : block.features_[map].lane) value += places_[position * maps_ + map];
  for (size_t k = 0; k < blocks_.size(); ++k) {
    if (trace != nullptr) keep(block.features_, trace->features[k]);
    Swish(block.features_.data(), maps_, block.seen_[k].data() + position * maps_);
    Gather(blocks_[k].conv, block.seen_[k].data(), position, block.gathered_);
    Apply(blocks_[k].conv, block.gathered_.data(), block.inner_.data());
    if (trace != nullptr) keep(block.inner_, trace->inner[k]);
    Swish(block.inner_.data(), maps_, block.active_.data());
    Apply(blocks_[k].mix, block.active_.data(), block.inner_.data());
    Add(block.inner_, block.features_);
  }
  if (trace != nullptr) keep(block.features_, trace->features.back());
}

void ViewNetwork::ComputeFeatures(const Lanes* x, int64_t position, Block& block) const {
  Compute(x, position, block, nullptr);
}

void ViewNetwork::AddLogOdds(Block& block, Lanes& log_odds) const {
  Swish(block.features_.data(), maps_, block.active_.data());
  for (float& value : log_odds.lane) value += output_.bias[0];
  kernels_.dot(output_.weight.data(), block.active_.data(), maps_, log_odds);
}

void ViewNetwork::PullThroughSwish(const std::vector<Lanes>& x, std::vector<Lanes>& pulls) const {
  for (size_t k = 0; k < x.size(); ++k) {
    Lanes s;
    kernels_.sigmoid(x[k], s);
    for (int64_t lane = 0; lane < kLanes; ++lane)
      pulls[k].lane[lane] *= s.lane[lane] * (1 + x[k].lane[lane] * (1 - s.lane[lane]));
  }
}

void ViewNetwork::PullThrough(const Layer& layer, const std::vector<Lanes>& from,
                              std::vector<Lanes>& to) const {
  std::vector<Lanes> gathered;
  for (int64_t position = 0; position < pixels(); ++position) {
    gathered.assign(layer.depth(), Lanes{});
    for (int64_t output = 0; output < layer.outputs; ++output)
      kernels_.spread(layer.weight.data() + output * layer.depth(), from[position * layer.outputs + output],
                      layer.depth(), gathered.data());
    VisitSources(layer, position, [&](int64_t tap, int64_t pixel) {
      for (int64_t input = 0; input < layer.inputs; ++input)
        for (int64_t lane = 0; lane < kLanes; ++lane)
          to[pixel * layer.inputs + input].lane[lane] += gathered[tap * layer.inputs + input].lane[lane];
    });
  }
}

void ViewNetwork::AddGradient(const Lanes* x, const std::vector<Lanes>& pulls,
                              std::vector<Lanes>& slopes) const {
  const size_t size = static_cast<size_t>(pixels() * maps_);
  Block block(*this);
  Trace trace;
  trace.features.resize(blocks_.size() + 1, std::vector<Lanes>(size));
  trace.inner.resize(blocks_.size(), std::vector<Lanes>(size));
  for (int64_t position = 0; position < pixels(); ++position) Compute(x, position, block, &trace);
  std::vector<Lanes> features(size);
  PullThrough(output_, pulls, features);
  PullThroughSwish(trace.features.back(), features);
  for (size_t k = blocks_.size(); k-- > 0;) {
    std::vector<Lanes> inner(size), seen(size);
    PullThrough(blocks_[k].mix, features, inner);
    PullThroughSwish(trace.inner[k], inner);
    PullThrough(blocks_[k].conv, inner, seen);
    PullThroughSwish(trace.features[k], seen);
    Add(seen, features);
  }
  PullThrough(view_, features, slopes);
}

}  // namespace ort_ed
