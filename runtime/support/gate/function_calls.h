#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/support/gate/parts.h"

namespace ort_ed {

// The model-local functions of a model and who calls them: libraries replace calls by the nodes of the
// functions, which must end, and end soon.
// How often what is within a node runs: the trips of a Loop, of the scope otherwise.
int64_t TripsWithin(const GateNode& node, const GateScope& scope);

class FunctionCalls {
 public:
  inline static constexpr int kDeepest = 64;
  // More take ONNX Runtime long: its time to load a model grows faster than their number.
  inline static constexpr int64_t kMostNodes = int64_t{1} << 14;
  // Runs of nodes: those within a loop run as often as it goes round.
  inline static constexpr int64_t kMostSteps = int64_t{1} << 20;

  struct Size {
    int64_t nodes = 0, steps = 0;
  };
  struct Call {
    GateNode node;
    int64_t trips;
  };

  // The graph is the first body, with no name.
  struct Body {
    std::string id;
    std::vector<std::string_view> inputs = {};
    std::set<std::string_view> needed = {};  // inputs that may not be left out
    Size size = {};
    std::vector<Call> calls = {};  // nodes that may be calls
    std::vector<GateAttribute> defaults = {};
  };

  static std::string Id(std::string_view domain, std::string_view name, std::string_view overload);

  void Add(Body body);
  // Notes a node of a body that runs `trips` times; `with_calls`: the model has functions.
  static void Note(const GateNode& node, bool with_calls, int64_t trips, Body& body);

  // What is wrong, with the name of a function or node; nothing if all is well. `of_any_size`: however many
  // nodes it has.
  std::string Problem(bool of_any_size);

 private:
  // A body with all that it calls.
  Size Expand(const Body& body, int depth);
  const Body* Callee(const GateNode& node) const;
  void FindNeeded();
  std::string GapProblem() const;
  std::string AttributeProblems() const;

  std::map<std::string, Body> bodies_;
  std::map<std::string, Size> sizes_;
  bool of_any_size_ = false;
  std::set<std::string> open_;
  // Attributes of functions by what they are within: group, say.
  std::set<std::pair<std::string_view, std::string_view>> references_;
};

}  // namespace ort_ed
