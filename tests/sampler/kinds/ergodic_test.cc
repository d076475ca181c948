// Every sampler with every kind of setting that it accepts comes from one state to all others, each as often
// as its probability says.

#include <algorithm>
#include <set>

#include "tests/sampler/bipartite/known_rbm.h"
#include "tests/sampler/law_test.h"
#include "tests/sampler/small_autoregressive.h"

namespace ort_ed {
namespace {

Variables TwoStates(int64_t count) {
  std::vector<Variable> list;
  for (int64_t v = 0; v < count; ++v)
    list.push_back({.name = "v" + std::to_string(v), .kind = VariableKind::kNominal, .labels = {"a", "b"}});
  return Variables(list);
}

Variables ColourAndSwitch() {
  return Variables({{.name = "colour", .kind = VariableKind::kNominal, .labels = {"red", "green", "blue"}},
                    {.name = "on"}});
}

struct Model {
  std::string name;
  std::shared_ptr<const EnergyFunction> energy;
  std::vector<uint8_t> clamped = {};
};

std::vector<Model> Models() {
  const auto coupled = [](const Variables& variables) {
    return WithVariables(DenseEnergy(variables.dimension(), 0.1, 7), variables);
  };
  return {{"four bits", MlpEnergy(4, 6, 19)},
          {"three bits with couplings", DenseEnergy(3, 0.3, 7)},
          {"rbm", std::make_shared<KnownRbm>(RandomForm(4, 3, 12))},
          {"two free bits of four", MlpEnergy(4, 6, 19), {0, 1, 1, 0}},
          {"one free bit of three", DenseEnergy(3, 0.3, 7), {1, 1, 0}},
          {"three variables of two states", coupled(TwoStates(3))},
          {"four variables of two states", coupled(TwoStates(4))},
          {"two variables of two states, one free", coupled(TwoStates(2)), {0, 0, 1, 1}},
          {"colour and switch", coupled(ColourAndSwitch())}};
}

std::vector<Choice> Settings() {
  std::vector<Choice> settings = {"gibbs", "block-gibbs", "gwg", "dmala", "pas", "refill", "tempering"};
  for (const char* scan : {"systematic", "random"}) {
    for (const int updates : {1, 2, 3}) {
      settings.push_back({"gibbs", {{"scan", scan}, {"updates", updates}}});
      settings.push_back({"block-gibbs", {{"scan", scan}, {"updates", updates}, {"block", 2}}});
    }
    settings.push_back({"block-gibbs", {{"scan", scan}, {"block", 1}}});
    settings.push_back({"block-gibbs", {{"scan", scan}, {"updates", 2}}});
  }
  for (const int flips : {2, 3, 4, 5, 6, 7}) settings.push_back({"gwg", {{"flips", flips}}});
  for (const double size : {0.3, 1.0, 100.0}) settings.push_back({"dmala", {{"step_size", size}}});
  for (const int length : {1, 2, 3}) settings.push_back({"pas", {{"path_length", length}}});
  for (const char* sampler : {"gwg", "dmala", "pas"})
    settings.push_back({sampler, {{"gradient", "differences"}}});
  const std::vector<Choice> plain = settings;
  for (const Choice& inner : plain) {
    if (inner.kind == "tempering" || inner.kind == "refill") continue;
    Choice around("tempering", inner.options);
    around.options["inner"] = inner.kind;
    around.options["temperatures"] = 2;
    around.options["lowest_beta"] = 0.3;
    settings.push_back(around);
  }
  return settings;
}

std::string Describe(const Choice& sampler) {
  std::string text = sampler.kind;
  for (const auto& [key, value] : sampler.options) text += " " + key + " " + FormatOption(value);
  return text;
}

// The law given what the start has where it is clamped.
Law Condition(Law law, const std::vector<uint8_t>& clamped, uint32_t start) {
  double total = 0;
  for (uint32_t state = 0; state < law.size(); ++state) {
    for (size_t bit = 0; bit < clamped.size(); ++bit)
      if (clamped[bit] != 0 && ((state ^ start) >> bit & 1) != 0) law[state] = 0;
    total += law[state];
  }
  for (double& p : law) p /= total;
  return law;
}

// All chains begin in the likeliest state.
void ExpectErgodic(const Choice& sampler, const Model& model) {
  constexpr int64_t kChains = EnoughChains(600);
  const bool refill = FindSampler(sampler.kind).needs_autoregressive_base;
  // Proposals of distinct variables seldom come about where there are few, nor those of a base that fits
  // badly.
  const bool slow = refill || sampler.options.contains("flips");
  const int64_t steps = slow ? 400 : 60;
  if (refill && !model.clamped.empty()) return;
  const EnergyPath target =
      refill ? EnergyPath(model.energy, SmallAutoregressive(model.energy->variables(), {7}, 3, 0.3f))
             : EnergyPath(model.energy);
  const Law whole = ExactLaw(target);
  const auto start = static_cast<uint32_t>(std::ranges::max_element(whole) - whole.begin());
  std::vector<float> rows;
  for (int64_t i = 0; i < kChains * target.dimension(); ++i)
    rows.push_back(static_cast<float>(start >> (i % target.dimension()) & 1));
  Chains chains = StartChainsAt(target, rows, 81);
  chains.clamped = model.clamped;
  MakeSampler(sampler, target, 1)->Step(chains, steps);
  ExpectLaw(CountStates(chains), Condition(whole, model.clamped, start),
            Describe(sampler) + " on " + model.name);
}

TEST(Ergodic, EverySamplerWithEverySetting) {
  for (const Choice& sampler : Settings())
    for (const Model& model : Models()) ExpectErgodic(sampler, model);
}

// A new sampler or option has to be added above.
TEST(Ergodic, NoOptionIsLeftOut) {
  std::set<std::string> tested;
  for (const Choice& sampler : Settings()) {
    tested.insert(sampler.kind);
    for (const auto& [key, value] : sampler.options) tested.insert(sampler.kind + " " + key);
  }
  for (const SamplerKind* kind : Samplers()) {
    if (!kind->exact) continue;
    EXPECT_TRUE(tested.contains(kind->name)) << kind->name;
    for (const Option& option : kind->schema().options)
      EXPECT_TRUE(tested.contains(kind->name + (" " + option.key))) << kind->name << " " << option.key;
  }
}

}  // namespace
}  // namespace ort_ed
