#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/support/gate/parts.h"

namespace ort_ed {

// Whole numbers that are divided by -1 end the program where the lowest of them is among them; older versions
// of ONNX Runtime do not look for 0 either.

// What a tensor holds, as far as dividing by it goes.
enum class Numbers {
  kReal,      // no whole numbers
  kDivisors,  // whole numbers, none of which is -1: constants without 0 and -1, extents of a shape
  kAny,
};

// Of a serialised tensor.
Numbers NumbersOf(std::string_view tensor);

// Whether a node divides by what is not a constant that one may divide by.
bool MayDivideBadly(const GateNode& node, const GateScope& scope);

// What comes out of an operator.
enum class Makes {
  kLikeFirst,  // real numbers of real numbers in its first input, whole numbers of whole ones
  kPicked,     // numbers of its first input
  kJoined,     // numbers of all its inputs
  kReal,       // whatever it is given
  kWhole,      // also of real numbers
  kPlaces,     // whole numbers behind its first output
  kConstant,
  kConstantOfShape,
  kExtents,
  kCast,
  kLikeSecond,  // type of its second input
  kChoice,      // numbers of its second or third input
  kThird,       // numbers of its third input
};

// Follows what every tensor of a model holds through its nodes and the functions that they call.
class WholeDivision {
 public:
  // By FunctionCalls::Id(), which end (see FunctionCalls).
  void AddFunction(const std::string& id, std::string_view function);
  // The parts of one graph. Names the node that may divide whole numbers by -1; nothing if all is well.
  std::string Problem(const std::vector<std::string_view>& graph) const;

 private:
  struct Node;
  // A graph or a function.
  struct Body {
    std::unordered_map<std::string_view, Numbers> known = {};
    std::vector<std::string_view> inputs = {}, outputs = {};
    std::vector<Node> nodes = {};
    std::vector<GateAttribute> defaults = {};
  };
  struct Node {
    GateNode node;
    Numbers constant = Numbers::kAny;
    std::vector<Body> graphs = {};
  };
  struct Frame;

  static void AddNode(std::string_view bytes, Body& body);
  static Body ReadGraph(const std::vector<std::string_view>& parts);
  static std::vector<Numbers> OutputsOf(const Body& body, const Frame& frame);

  void Walk(const Body& body, Frame& frame) const;
  std::vector<Numbers> Results(const Node& node, const Frame& frame) const;
  static Numbers Made(Makes makes, const Node& node, const Frame& frame);
  std::vector<Numbers> CallResults(const Body& function, const GateNode& call, const Frame& frame) const;
  std::vector<std::vector<Numbers>> GraphResults(const Node& node, const Frame& frame) const;

  std::map<std::string, Body> functions_;
};

}  // namespace ort_ed
