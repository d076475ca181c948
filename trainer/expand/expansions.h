#pragma once

#include <span>
#include <vector>

#include "trainer/autodiff/grad_context.h"

namespace ort_ed {

inline constexpr char kContribDomain[] = "com.microsoft";

// How an operator is made of others. `emit` returns its outputs, as many as others read at least, or nothing
// for a use that it does not cover; where it depends on inputs that may be left out, it is the node's.
struct Expansion {
  const char* domain;  // "": the standard
  const char* op;
  std::vector<Value> (*emit)(const GradContext& node);
};

// The families' tables.
std::span<const Expansion> ContribExpansions();
std::span<const Expansion> AttentionExpansions();
std::span<const Expansion> RecurrentExpansions();
std::span<const Expansion> LossExpansions();
std::span<const Expansion> ImageExpansions();

}  // namespace ort_ed
