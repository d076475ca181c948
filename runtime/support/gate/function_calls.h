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
class FunctionCalls {
 public:
  inline static constexpr int kDeepest = 64;
  inline static constexpr int64_t kMostNodes = int64_t{1} << 20;

  // The graph is the first body, with no name.
  struct Body {
    std::string id;
    std::vector<std::string_view> inputs = {};
    std::set<std::string_view> needed = {};  // inputs that may not be left out
    int64_t nodes = 0;
    std::vector<GateNode> calls = {};  // those that may be calls
    std::vector<GateAttribute> defaults = {};
  };

  static std::string Id(std::string_view domain, std::string_view name, std::string_view overload);

  void Add(Body body);
  // Notes a node of a body; `with_calls`: the model has functions.
  static void Note(const GateNode& node, bool with_calls, Body& body);

  // What is wrong, with the name of a function or node; nothing if all is well.
  std::string Problem();

 private:
  // Nodes of a body with all that it calls.
  int64_t Expand(const Body& body, int depth);
  const Body* Callee(const GateNode& node) const;
  void FindNeeded();
  std::string GapProblem() const;
  std::string AttributeProblems() const;

  std::map<std::string, Body> bodies_;
  std::map<std::string, int64_t> sizes_;
  std::set<std::string> open_;
  // Attributes of functions by what they are within: group, say.
  std::set<std::pair<std::string_view, std::string_view>> references_;
};

}  // namespace ort_ed
