#include "runtime/support/gate/function_calls.h"

#include <algorithm>

#include "runtime/support/gate/operator_rules.h"

namespace ort_ed {
namespace {

struct Refused {
  std::string why;
};

std::string Shown(const FunctionCalls::Body& body) {
  return body.id.empty() ? "the graph" : "the function '" + body.id.substr(0, body.id.find('\n')) + "'";
}

// Far above every limit, and far below where sums overflow.
int64_t Bounded(int64_t count) { return std::min(count, int64_t{1} << 40); }

int64_t Times(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? Bounded(INT64_MAX) : Bounded(product);
}

void CheckSize(const FunctionCalls::Body& body, const FunctionCalls::Size& size) {
  if (size.nodes > FunctionCalls::kMostNodes)
    throw Refused{Shown(body) + " has more than " + std::to_string(FunctionCalls::kMostNodes) +
                  " nodes, with those of the functions that it calls"};
  if (size.steps > FunctionCalls::kMostSteps)
    throw Refused{Shown(body) + " runs more than " + std::to_string(FunctionCalls::kMostSteps) +
                  " nodes, with the trips of its loops"};
}

}  // namespace

int64_t TripsWithin(const GateNode& node, const GateScope& scope) {
  if (!node.IsStandard() || node.op != "Loop" || node.inputs.empty()) return scope.trips;
  return Times(scope.trips, std::max(int64_t{1}, scope.Find(node.inputs[0]).value.value_or(1)));
}

std::string FunctionCalls::Id(std::string_view domain, std::string_view name, std::string_view overload) {
  const std::string_view plain = domain == "ai.onnx" ? "" : domain;
  return std::string(name) + '\n' + std::string(plain) + '\n' + std::string(overload);
}

void FunctionCalls::Note(const GateNode& node, bool with_calls, int64_t trips, Body& body) {
  ++body.size.nodes;
  body.size.steps = Bounded(body.size.steps + trips);
  if (!with_calls) return;
  if (NeedsAllInputs(node)) body.needed.insert(node.inputs.begin(), node.inputs.end());
  body.calls.push_back({node, trips});
}

// Of two functions of one name, which libraries refuse, the union: whichever they would take is in it.
void FunctionCalls::Add(Body body) {
  for (const auto& [node, trips] : body.calls)
    for (const GateAttribute& attribute : node.attributes)
      if (!attribute.reference.empty()) references_.insert({attribute.reference, attribute.name});
  Body& known = bodies_[body.id];
  if (known.size.nodes == 0 && known.inputs.empty()) {
    known = std::move(body);
    return;
  }
  known.size.nodes += body.size.nodes;
  known.size.steps = Bounded(known.size.steps + body.size.steps);
  known.calls.insert(known.calls.end(), body.calls.begin(), body.calls.end());
  known.needed.merge(body.needed);
  known.defaults.insert(known.defaults.end(), body.defaults.begin(), body.defaults.end());
}

const FunctionCalls::Body* FunctionCalls::Callee(const GateNode& node) const {
  const auto found = bodies_.find(Id(node.domain, node.op, node.overload));
  return found == bodies_.end() ? nullptr : &found->second;
}

FunctionCalls::Size FunctionCalls::Expand(const Body& body, int depth) {
  if (const auto known = sizes_.find(body.id); known != sizes_.end()) return known->second;
  if (!open_.insert(body.id).second) throw Refused{Shown(body) + " calls itself"};
  if (depth > kDeepest)
    throw Refused{Shown(body) + " is reached by more than " + std::to_string(kDeepest) +
                  " calls within one another"};
  Size size = body.size;
  for (const auto& [call, trips] : body.calls) {
    const Body* callee = Callee(call);
    if (callee == nullptr) continue;
    const Size called = Expand(*callee, depth + 1);
    size.nodes = Bounded(size.nodes + called.nodes);
    size.steps = Bounded(size.steps + Times(called.steps, trips));
  }
  if (!of_any_size_) CheckSize(body, size);
  open_.erase(body.id);
  sizes_[body.id] = size;
  return size;
}

// An input of a function may not be left out where it is handed on to one that may not.
void FunctionCalls::FindNeeded() {
  for (bool changed = true; changed;) {
    changed = false;
    for (auto& [id, body] : bodies_) {
      for (const auto& [call, trips] : body.calls) {
        const Body* callee = Callee(call);
        if (callee == nullptr) continue;
        for (size_t i = 0; i < std::min(call.inputs.size(), callee->inputs.size()); ++i)
          if (callee->needed.contains(callee->inputs[i]))
            changed |= body.needed.insert(call.inputs[i]).second;
      }
    }
  }
}

std::string FunctionCalls::GapProblem() const {
  for (const auto& [id, body] : bodies_) {
    for (const auto& [call, trips] : body.calls) {
      const Body* callee = Callee(call);
      if (callee == nullptr) continue;
      for (size_t i = 0; i < callee->inputs.size(); ++i) {
        const bool given = i < call.inputs.size() && !call.inputs[i].empty();
        if (!given && callee->needed.contains(callee->inputs[i]))
          return call.Describe() + " leaves out the input '" + std::string(callee->inputs[i]) +
                 "' of its function, which is not optional";
      }
    }
  }
  return "";
}

// An attribute of a call is that of the nodes that refer to it, at any depth.
std::string FunctionCalls::AttributeProblems() const {
  const auto problem = [&](const GateAttribute& attribute) {
    std::set<std::string_view> names = {attribute.name};
    std::vector<std::string_view> found = {attribute.name};
    while (!found.empty()) {
      const std::string_view name = found.back();
      found.pop_back();
      if (std::string why = AttributeProblem(attribute, name); !why.empty()) return why;
      for (const auto& [reference, inner] : references_)
        if (reference == name && names.insert(inner).second) found.push_back(inner);
    }
    return std::string();
  };
  for (const auto& [id, body] : bodies_) {
    for (const GateAttribute& attribute : body.defaults)
      if (const std::string why = problem(attribute); !why.empty()) return Shown(body) + " " + why;
    for (const auto& [call, trips] : body.calls)
      for (const GateAttribute& attribute : call.attributes)
        if (const std::string why = problem(attribute); Callee(call) != nullptr && !why.empty())
          return call.Describe() + " " + why;
  }
  return "";
}

std::string FunctionCalls::Problem(bool of_any_size) {
  of_any_size_ = of_any_size;
  try {
    for (const auto& [id, body] : bodies_) Expand(body, 0);
  } catch (const Refused& refused) {
    return refused.why;
  }
  FindNeeded();
  const std::string gap = GapProblem();
  return gap.empty() ? AttributeProblems() : gap;
}

}  // namespace ort_ed
