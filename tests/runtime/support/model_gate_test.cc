// What the gate refuses before any library sees it. Each of these crashed ONNX Runtime or the onnx library.
#include "runtime/support/gate/model_gate.h"

#include <onnx/onnx_pb.h>

#include "models/graph/model_file.h"
#include "ort_ed/energy_model.h"
#include "tests/support/error_matchers.h"
#include "tests/support/onnx_models.h"

namespace ort_ed {
namespace {

const char kHeader[] = "<ir_version: 8, opset_import: [\"\": 17, \"local\": 1]> ";

// A model of the energy x_0 + ... beside nodes that nobody needs.
std::string Beside(const std::string& nodes, const std::string& functions = "") {
  return ModelFromText(
      kHeader +
      std::string("g (float[N, 8] x) => (float[N] energy) { axes = Constant <value = int64[1] {1}> () "
                  "energy = ReduceSum <keepdims = 0> (x, axes) ") +
      nodes + " } " + functions);
}

onnx::ModelProto Proto(const std::string& bytes) {
  onnx::ModelProto model;
  EXPECT_TRUE(model.ParseFromString(bytes));
  return model;
}

// By every path.
template <typename... Parts>
void ExpectRefused(const std::string& model, const Parts&... parts) {
  ExpectError(
      ErrorCode::kBadModel, [&] { AdmitModel(Bytes(model), "", "bad.onnx"); }, "'bad.onnx'", parts...);
  ExpectError(
      ErrorCode::kBadModel, [&] { EnergyModel::FromMemory(Bytes(model), {}, "bad.onnx"); }, parts...);
  ExpectError(
      ErrorCode::kBadModel, [&] { ParseModel(model, "bad.onnx"); }, parts...);
}

void ExpectAdmitted(const std::string& model) {
  EXPECT_TRUE(AdmitModel(Bytes(model), "", "good.onnx"));
  EXPECT_EQ(EnergyModel::FromMemory(Bytes(model)).dimension(), 8);
}

// The last node of the graph, changed.
template <typename Change>
std::string WithLastNode(const std::string& bytes, const Change& change) {
  onnx::ModelProto model = Proto(bytes);
  onnx::NodeProto& node = *model.mutable_graph()->mutable_node()->rbegin();
  node.set_name("victim");
  change(node);
  return model.SerializeAsString();
}

TEST(ModelGate, AListOfInputsHasNoPlacesToLeaveOut) {
  for (const std::string op :
       {"Sum", "Min", "Max", "Mean", "Concat <axis = 1>", "Einsum <equation = \"ij,ij->i\">"}) {
    const std::string good = Beside("y = " + op + " (x, x)");
    ExpectAdmitted(good);
    for (const int place : {0, 1})
      ExpectRefused(WithLastNode(good, [&](auto& node) { node.set_input(place, ""); }), "'victim'",
                    op.substr(0, op.find(' ')), "leaves out its input " + std::to_string(place + 1));
  }
  const std::string split = Beside("a, b = Split <axis = 1> (x)");
  ExpectAdmitted(split);
  ExpectRefused(WithLastNode(split, [](auto& node) { node.set_output(1, ""); }), "leaves out its output 2");
}

TEST(ModelGate, AnOptionalInputMayBeLeftOut) {
  ExpectAdmitted(WithLastNode(Beside("one = Constant <value = float {1.0}> () y = Clip (x, one, one)"),
                              [](auto& node) { node.set_input(1, ""); }));
}

TEST(ModelGate, AnEmptyBiasOfLayerNormalizationIsRefused) {
  const std::string good =
      Beside("s = Constant <value = float[1] {1.0}> () y = LayerNormalization (x, s, s)");
  ExpectAdmitted(good);
  ExpectRefused(WithLastNode(good, [](auto& node) { node.set_input(2, ""); }), "LayerNormalization");
}

TEST(ModelGate, AttributesThatAreDividedByArePositive) {
  const auto convolution = [](const std::string& op, const std::string& attributes) {
    return Beside(
        "s = Constant <value = int64[3] {-1, 1, 8}> () image = Reshape (x, s) "
        "w = Constant <value = float[1, 1, 1] {1.0}> () y = " +
        op + " <" + attributes + "> (image, w)");
  };
  for (const std::string op : {"Conv", "ConvTranspose"}) {
    ExpectAdmitted(convolution(op, "group = 1, strides = [2], dilations = [1], pads = [1, 1]"));
    for (const std::string bad : {"group = 0", "group = -1", "strides = [0]", "dilations = [-3]",
                                  "kernel_shape = [0]", "group = 4611686018427387904"})
      ExpectRefused(convolution(op, bad), "'y' (" + op + ")", "'" + bad.substr(0, bad.find(' ')) + "'");
    ExpectRefused(convolution(op, "strides = [1, 1]"), "needs 1");
  }
  ExpectRefused(Beside("s = Constant <value = int64[4] {-1, 4, 2, 1}> () i = Reshape (x, s) "
                       "y = DepthToSpace <blocksize = 4611686018427387904> (i)"),
                "blocksize");
  ExpectRefused(Beside("i = Constant <value = int64[1] {0}> () y = GatherND <batch_dims = -1> (x, i)"),
                "batch_dims");
  ExpectRefused(Beside("y = RandomNormalLike <scale = 0.0> (x)"), "scale");
  ExpectRefused(Beside("y = RandomUniformLike <low = 3.0> (x)"), "low below high");
}

TEST(ModelGate, RanksFitTheOperator) {
  ExpectRefused(Beside("w = Constant <value = float[2] {1.0, 2.0}> () y = Conv (x, w)"), "'y' (Conv)",
                "rank 2");
  ExpectRefused(Beside("w = Constant <value = float {1.0}> () y = MatMul (x, w)"), "rank 0", "input 2");
  ExpectRefused(Beside("w = Constant <value = float[1] {1.0}> () y = Gemm (x, w)"), "rank 1");
}

// The lowest number divided by -1 ends the program.
TEST(ModelGate, WholeNumbersAreNotDividedByMinusOne) {
  const std::string number = "n = Constant <value = int64[2] {-9223372036854775808, 7}> () ";
  for (const std::string op : {"Div", "Mod"}) {
    for (const std::string bad : {"-1", "0"}) {
      ExpectRefused(
          Beside(number + "d = Constant <value = int64[2] {3, " + bad + "}> () y = " + op + " (n, d)"),
          "'y' (" + op + ")", "0 or -1");
      ExpectRefused(Beside(number + "d = Constant <value_ints = [2, " + bad + "]> () y = " + op + " (n, d)"),
                    "0 or -1");
    }
    ExpectRefused(Beside(number + "d = Cast <to = 7> (x) y = " + op + " (d, d)"), "0 or -1");
    ExpectAdmitted(Beside(number + "d = Constant <value = int64[2] {3, -2}> () y = " + op + " (n, d)"));
    ExpectAdmitted(Beside(number + "d = Constant <value_int = 2> () y = " + op + " (n, d)"));
  }
  ExpectRefused(Beside(number + "one = Constant <value = int64 {1}> () s = Shape (x) d = Sub (s, one) "
                                "y = Div (n, d)"),
                "0 or -1");
  // A name within hides the one around.
  ExpectRefused(Beside(number + "d = Constant <value = int64[1] {2}> () c = Constant <value = int64 {1}> () "
                                "b = Cast <to = 9> (c) y = If (b) <then_branch = t () => (int64[M] r) "
                                "{ d = Neg (n) r = Div (n, d) }, else_branch = e () => (int64[M] q) "
                                "{ q = Neg (n) }>"),
                "'r' (Div)");
}

TEST(ModelGate, RealNumbersAndShapesAreDivided) {
  ExpectAdmitted(Beside("y = Div (x, x) z = Sqrt (y) w = Div (y, z) v = Mod <fmod = 1> (w, x)"));
  ExpectAdmitted(
      Beside("i = Constant <value = int64 {0}> () s = Shape (x) rows = Gather (s, i) "
             "o = Constant <value = int64 {1}> () columns = Gather (s, o) one = Cast <to = 7> (columns) "
             "two = Constant <value = int64 {2}> () half = Div (columns, two) y = Div (half, one) "
             "z = Mod (rows, columns)"));
}

TEST(ModelGate, DivisionsWithinFunctionsAreThoseOfTheirCalls) {
  const std::string divides =
      "<opset_import: [\"\": 17, \"local\": 1], domain: \"local\"> f (a, b) => (c) { c = Div (a, b) } ";
  const std::string casts =
      "<opset_import: [\"\": 17, \"local\": 1], domain: \"local\"> g <type> (a) => (c) "
      "{ b = Cast <to: int = @type> (a) c = local.f (b, b) } ";
  ExpectAdmitted(Beside("y = local.f (x, x)", divides));
  ExpectAdmitted(Beside("y = local.g <type = 1> (x)", divides + casts));
  ExpectRefused(Beside("y = local.g <type = 7> (x)", divides + casts), "'c' (Div)", "0 or -1");
  ExpectRefused(Beside("i = Cast <to = 7> (x) y = local.f (i, i)", divides), "0 or -1");
}

// ONNX Runtime has operators besides, which take much more for granted.
TEST(ModelGate, OperatorsAreStandardOnes) {
  const auto of = [](const std::string& domain, const std::string& op) {
    return WithLastNode(Beside("y = Neg (x)"), [&](auto& node) {
      node.set_domain(domain);
      node.set_op_type(op);
    });
  };
  for (const auto& [domain, op] : {std::pair("com.microsoft", "Inverse"),
                                   {"com.microsoft", "GatherBlockQuantized"},
                                   {"com.microsoft", "QLinearConcat"},
                                   {"com.microsoft.nchwc", "Conv"},
                                   {"ai.onnx.ml", "TreeEnsembleRegressor"},
                                   {"local", "f"}})
    ExpectRefused(of(domain, op), "'victim'", op, "no standard operator", "ai.onnx");
  ExpectError(
      ErrorCode::kBadModel, [&] { ParseModel(of("ort_ed", "Dense"), "bad.onnx"); }, "no standard operator");
  ExpectRefused(Beside("y = local.f (x)",
                       "<opset_import: [\"\": 17], domain: \"com.microsoft\"> "
                       "Inverse (a) => (b) { b = Neg (a) } "),
                "'Inverse'", "com.microsoft");
}

TEST(ModelGate, AFewOfOnnxRuntimeAreAdmitted) {
  const auto with = [](std::string nodes) {
    std::string text = Beside("");
    onnx::ModelProto model = Proto(text), more = Proto(Beside(nodes));
    more.add_opset_import()->set_domain("com.microsoft");
    more.mutable_opset_import()->rbegin()->set_version(1);
    return more.SerializeAsString();
  };
  const std::string good = with(
      "b = Constant <value = float[8] {1,1,1,1,1,1,1,1}> () g = com.microsoft.Gelu (x) "
      "q = com.microsoft.QuickGelu (g) y = com.microsoft.BiasGelu (q, b)");
  ExpectAdmitted(good);
  ExpectRefused(WithLastNode(good, [](auto& node) { node.set_input(1, ""); }), "BiasGelu", "input 2");
  ExpectRefused(with("w = Constant <value = float {1.0}> () y = com.microsoft.FusedMatMul (x, w)"), "rank 0");
  ExpectRefused(with("s = Constant <value = int64[3] {-1, 1, 8}> () i = Reshape (x, s) "
                     "w = Constant <value = float[1, 1, 1] {1.0}> () "
                     "y = com.microsoft.FusedConv <group = 0> (i, w)"),
                "'group'");
}

TEST(ModelGate, AnAttributeIsThereOnceAndWhole) {
  ExpectRefused(WithLastNode(Beside("y = Softmax <axis = 1> (x)"),
                             [](auto& node) { *node.add_attribute() = node.attribute(0); }),
                "'axis' twice");
  // Neither of a call, nor beside what stands for the attribute of a call.
  const std::string casts =
      "<opset_import: [\"\": 17, \"local\": 1], domain: \"local\"> f <type> (a) => (c) "
      "{ b = Cast <to: int = @type> (a) c = Div (b, b) } ";
  const std::string call = Beside("y = local.f <type = 1> (x)", casts);
  ExpectAdmitted(call);
  ExpectRefused(WithLastNode(call,
                             [](auto& node) {
                               *node.add_attribute() = node.attribute(0);
                               node.mutable_attribute(1)->set_i(7);
                             }),
                "'type' twice");
  onnx::ModelProto both = Proto(call);
  both.mutable_functions(0)->mutable_node(0)->mutable_attribute(0)->set_i(1);
  ExpectRefused(both.SerializeAsString(), "(Cast)", "'to'", "of the call");
  onnx::ModelProto twice = Proto(call);
  onnx::AttributeProto otherwise;
  otherwise.set_name("type");
  for (int i = 0; i < 2; ++i) {
    onnx::FunctionProto& function = *twice.mutable_functions(0);
    function.GetReflection()->MutableUnknownFields(&function)->AddLengthDelimited(
        11, otherwise.SerializeAsString());
  }
  ExpectRefused(twice.SerializeAsString(), "'f'", "'type' twice");
  // Protobuf takes a second tensor together with the first.
  onnx::TensorProto more;
  more.add_int64_data(-1);
  const std::string pieces =
      WithLastNode(Beside("y = Constant <value = int64[2] {3, 3}> ()"), [&](auto& node) {
        onnx::AttributeProto& value = *node.mutable_attribute(0);
        value.GetReflection()->MutableUnknownFields(&value)->AddLengthDelimited(5, more.SerializeAsString());
      });
  ExpectRefused(pieces, "'value'", "in pieces");
}

TEST(ModelGate, EmptyArraysAreRefusedWhereTheyCrash) {
  ExpectRefused(Beside("i = Cast <to = 7> (x) d = Constant <value = int64[0] {}> () "
                       "v = Constant <value = float[2] {0.0, 1.0}> () y = OneHot (i, d, v)"),
                "OneHot", "empty array");
}

TEST(ModelGate, FunctionsEnd) {
  const auto function = [](const std::string& name, const std::string& body) {
    return "<opset_import: [\"\": 17, \"local\": 1], domain: \"local\"> " + name + " (a) => (b) { " + body +
           " } ";
  };
  const auto call = [](int i) { return "local.f" + std::to_string(i) + " (a)"; };
  ExpectAdmitted(Beside("y = local.f (x)", function("f", "b = Neg (a)")));
  ExpectRefused(Beside("y = local.f (x)", function("f", "b = local.f (a)")), "'f'", "calls itself");
  ExpectRefused(
      Beside("y = local.f1 (x)", function("f1", "b = local.f2 (a)") + function("f2", "b = local.f1 (a)")),
      "calls itself");
  std::string deep = function("f0", "b = Neg (a)"), doubling = deep;
  for (int i = 1; i < 3000; ++i) deep += function("f" + std::to_string(i), "b = " + call(i - 1));
  ExpectRefused(Beside("y = local.f2999 (x)", deep), "more than 64 calls");
  for (int i = 1; i < 40; ++i)
    doubling +=
        function("f" + std::to_string(i), "c = " + call(i - 1) + " d = " + call(i - 1) + " b = Add (c, d)");
  ExpectRefused(Beside("y = local.f39 (x)", doubling), "more than 16384 nodes");
}

TEST(ModelGate, GraphsHaveAsManyNodesAsLoadSoon) {
  std::string nodes;
  for (int i = 0; i < 17000; ++i) nodes += "t" + std::to_string(i) + " = Neg (x) ";
  const std::string model = Beside(nodes);
  ExpectRefused(model, "the graph", "more than 16384 nodes");
  EXPECT_TRUE(AdmitModel(Bytes(model), "", "our own", Maker::kUs));
}

// A loop of `trips` around `inner`, which makes w of v.
std::string LoopOf(const std::string& trips, const std::string& inner = "w = Neg (v)") {
  return "go = Constant <value = int64 {1}> () yes = Cast <to = 9> (go) " + trips +
         " y = Loop <body = b (int64 i, bool c, float[N, 8] v) => (bool d, float[N, 8] w) { d = Identity "
         "(c) " +
         inner + " }> (m, yes, x) ";
}

TEST(ModelGate, LoopsEnd) {
  const auto constant = [](const std::string& trips) {
    return "m = Constant <value = int64 {" + trips + "}> ()";
  };
  ExpectAdmitted(Beside(LoopOf(constant("3"))));
  ExpectAdmitted(Beside(LoopOf("m = Constant <value_int = 3> ()")));
  ExpectRefused(Beside(LoopOf(constant("4611686018427387904"))), "the graph", "trips of its loops");
  ExpectRefused(Beside(LoopOf("s = Shape (x) z = Constant <value = int64 {0}> () m = Gather (s, z)")),
                "'y' (Loop)", "no constant number of trips");
  ExpectRefused(WithLastNode(Beside(LoopOf(constant("3"))), [](auto& node) { node.set_input(0, ""); }),
                "no constant number of trips");
  // Loops within loops, and calls within loops.
  const std::string inner =
      "n = Constant <value = int64 {2000}> () w = Loop <body = e (int64 j, bool f, float[N, 8] a) "
      "=> (bool g, float[N, 8] h) { g = Identity (f) h = Neg (a) }> (n, c, v)";
  ExpectAdmitted(Beside(LoopOf(constant("2"), inner)));
  ExpectRefused(Beside(LoopOf(constant("2000"), inner)), "trips of its loops");
  const std::string twice = "<opset_import: [\"\": 17, \"local\": 1], domain: \"local\"> ";
  const std::string calls = twice + "f (a) => (b) { c = Neg (a) b = Neg (c) } ";
  ExpectAdmitted(Beside(LoopOf(constant("1000"), "w = local.f (v)"), calls));
  ExpectRefused(Beside(LoopOf(constant("1000000"), "w = local.f (v)"), calls), "trips of its loops");
}

// What one number makes of nothing.
TEST(ModelGate, SizesHaveALimit) {
  const auto shape = [](const std::string& extents, const std::string& node) {
    return Beside("s = Constant <value = int64[2] {" + extents + "}> () " + node);
  };
  for (const std::string node : {"y = ConstantOfShape (s)", "y = Expand (x, s)", "y = Tile (x, s)"})
    ExpectRefused(shape("1048576, 8192", node), "elements");
  ExpectAdmitted(shape("2, 1", "y = Tile (x, s)"));
  ExpectAdmitted(shape("2, 3", "y = ConstantOfShape (s)"));
  ExpectRefused(Beside("y = RandomUniform <shape = [1048576, 8192]> ()"), "elements");
  ExpectRefused(
      Beside("a = Constant <value = int64 {0}> () b = Constant <value = int64 {4611686018427387904}> () "
             "c = Constant <value = int64 {1}> () y = Range (a, b, c)"),
      "elements");
  ExpectAdmitted(
      Beside("a = Constant <value = double {0.0}> () b = Constant <value = double {8.0}> () "
             "c = Constant <value = double {1.0}> () y = Range (a, b, c)"));
  ExpectRefused(Beside("a = Constant <value = int64 {1099511627776}> () y = HannWindow (a)"), "HannWindow");
  ExpectRefused(
      Beside("i = Constant <value = int64[3] {1, 2, 3}> () y = TfIdfVectorizer <max_gram_length = 1, "
             "max_skip_count = 0, min_gram_length = 1, mode = \"TF\", ngram_counts = [0], "
             "ngram_indexes = [1000000000], pool_int64s = [1]> (i)"),
      "'ngram_indexes'");
}

TEST(ModelGate, WhatACallHandsToItsFunctionIsChecked) {
  const std::string sums =
      "<opset_import: [\"\": 17, \"local\": 1], domain: \"local\"> f (a, b) => (c) { c = Sum (a, b) } ";
  const std::string passes =
      "<opset_import: [\"\": 17, \"local\": 1], domain: \"local\"> g (a, b) => (c) { c = local.f (a, b) } ";
  for (const std::string name : {"f", "g"}) {
    const std::string good = Beside("y = local." + name + " (x, x)", sums + passes);
    ExpectAdmitted(good);
    ExpectRefused(WithLastNode(good, [](auto& node) { node.set_input(1, ""); }), "'victim'", "'b'");
    ExpectRefused(WithLastNode(good, [](auto& node) { node.mutable_input()->RemoveLast(); }), "'b'");
  }
  const auto groups = [](int value) {
    return Beside(
        "w = Constant <value = float[1, 1, 1] {1.0}> () s = Constant <value = int64[3] {-1, 1, 8}> () "
        "i = Reshape (x, s) y = local.f <many = " +
            std::to_string(value) + "> (i, w)",
        "<opset_import: [\"\": 17], domain: \"local\"> f <many> (i, w) => (c) "
        "{ c = Conv <group: int = @many> (i, w) } ");
  };
  ExpectAdmitted(groups(1));
  ExpectRefused(groups(0), "'many'");
}

TEST(ModelGate, NamesEndWhereTheyEnd) {
  onnx::ModelProto model = Proto(LinearModel(8));
  auto& entry = *model.add_metadata_props();
  entry.set_key(std::string("a\0b", 3));
  ExpectRefused(model.SerializeAsString(), "metadata", "NUL");
  model = Proto(LinearModel(8));
  model.mutable_graph()->mutable_output(0)->set_name(std::string("energy\0b", 8));
  ExpectRefused(model.SerializeAsString(), "NUL");
}

// Protobuf merges a message that is there twice, and ours are made so.
TEST(ModelGate, PartsOfAGraphAreOneGraph) {
  const std::string whole =
      WithLastNode(Beside("w = Constant <value = float[2] {1.0, 2.0}> () y = Conv (x, w)"), [](auto&) {});
  onnx::ModelProto first = Proto(whole), second;
  *second.mutable_graph()->add_node() = *first.graph().node().rbegin();
  first.mutable_graph()->mutable_node()->RemoveLast();
  ExpectRefused(second.SerializeAsString() + first.SerializeAsString(), "rank 2");
}

TEST(ModelGate, TakesNoLongerThanReadingTheNodes) {
  std::string nodes;
  for (int i = 0; i < 16000; ++i) nodes += "t" + std::to_string(i) + " = Neg (x) ";
  EXPECT_TRUE(AdmitModel(Bytes(Beside(nodes)), "", "large.onnx"));
}

}  // namespace
}  // namespace ort_ed
