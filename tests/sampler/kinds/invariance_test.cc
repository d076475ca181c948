// Every sampler that claims to be exact keeps exactly enumerated laws, and reaches them.

#include <algorithm>

#include "tests/sampler/bipartite/known_rbm.h"
#include "tests/sampler/law_test.h"
#include "tests/sampler/small_autoregressive.h"

namespace ort_ed {
namespace {

struct Model {
  std::string name;
  std::shared_ptr<const EnergyFunction> energy;
};

std::vector<Model> Models() {
  return {{"lattice with field", LatticeEnergy(3, 3, 0.25, 0.15)},
          {"lattice, not known to be quadratic", Opaque(LatticeEnergy(3, 3, 0.25, 0.15))},
          {"frustrated triangle", FrustratedTriangle()},
          {"dense spins", DenseEnergy(12, 0.15, 7)},
          {"rbm, known to be one", std::make_shared<KnownRbm>(RandomForm(8, 6, 12))},
          {"mlp", MlpEnergy(10, 12, 13)},
          {"mixed variables", MixedMlpEnergy(13)},
          {"mixed variables with couplings", MixedDenseEnergy(7)}};
}

ProductBase SomeBase(const Variables& variables) {
  if (!variables.all_binary()) return ProductBase(MixedMeans(), variables);
  std::vector<float> means(variables.dimension());
  for (size_t i = 0; i < means.size(); ++i) means[i] = 0.2f + 0.6f * static_cast<float>(i) / means.size();
  return ProductBase(means);
}

struct Setting {
  std::string name;
  Choice sampler;
  int64_t steps_to_converge;

  friend void PrintTo(const Setting& setting, std::ostream* out) { *out << setting.name; }
};

std::vector<Setting> Settings() {
  return {
      {"gibbs", "gibbs", 60},
      {"gibbs random scan", {"gibbs", {{"scan", "random"}}}, 120},
      {"gibbs part of a sweep", {"gibbs", {{"updates", 5}}}, 120},
      {"block-gibbs", "block-gibbs", 40},
      {"block-gibbs random", {"block-gibbs", {{"block", 2}, {"scan", "random"}}}, 50},
      {"gwg", "gwg", 150},
      {"gwg three flips", {"gwg", {{"flips", 3}}}, 150},
      {"dmala", {"dmala", {{"step_size", 0.6}}}, 120},
      {"pas", {"pas", {{"path_length", 2}}}, 120},
      {"refill", "refill", 300},
      {"tempering gibbs", {"tempering", {{"temperatures", 3}, {"lowest_beta", 0.4}, {"updates", 4}}}, 100},
      {"tempering gwg", {"tempering", {{"inner", "gwg"}, {"temperatures", 3}, {"lowest_beta", 0.4}}}, 80},
  };
}

class ExactSampler : public testing::TestWithParam<Setting> {
 protected:
  // From the uniform distribution, or from where this sampler needs it.
  static EnergyPath Path(const std::shared_ptr<const EnergyFunction>& energy) {
    if (!FindSampler(GetParam().sampler.kind).needs_autoregressive_base) return EnergyPath(energy);
    return {energy, SmallAutoregressive(energy->variables(), {7}, 3, 0.1f)};
  }
};

TEST_P(ExactSampler, KeepsTheLaw) {
  constexpr int64_t kChains = EnoughChains(10000);
  for (const Model& model : Models()) {
    const EnergyPath target = Path(model.energy);
    const Law law = ExactLaw(target);
    Chains chains = StartChainsAt(target, DrawFrom(law, target.dimension(), kChains, 21), 22);
    MakeSampler(GetParam().sampler, target)->Step(chains, 3);
    ExpectLaw(CountStates(chains), law, model.name);
    ExpectCachesConsistent(target, chains);
    EXPECT_GT(chains.counters.bits_flipped, kChains / 10) << model.name;
  }
}

TEST_P(ExactSampler, ReachesTheLaw) {
  constexpr int64_t kChains = EnoughChains(2000);
  for (const Model& model : Models()) {
    const EnergyPath target = Path(model.energy);
    Chains chains = StartChains(target, kChains, 31);
    MakeSampler(GetParam().sampler, target)->Step(chains, GetParam().steps_to_converge);
    ExpectLaw(CountStates(chains), ExactLaw(target), model.name);
    ExpectCachesConsistent(target, chains);
  }
}

// At another temperature, against another base: the path that AIS and tempering walk on.
TEST_P(ExactSampler, KeepsTheLawsOfThePath) {
  if (FindSampler(GetParam().sampler.kind).needs_autoregressive_base) GTEST_SKIP() << "not for such a base";
  constexpr int64_t kChains = EnoughChains(10000);
  for (const Model& model : Models()) {
    const EnergyPath target(model.energy, SomeBase(model.energy->variables()));
    const Law law = ExactLaw(target, 0.4);
    Chains chains = StartChainsAt(target, DrawFrom(law, target.dimension(), kChains, 41), 42);
    chains.betas.assign(kChains, 0.4);
    MakeSampler(GetParam().sampler, target)->Step(chains, 3);
    ExpectLaw(CountStates(chains), law, model.name);
    ExpectCachesConsistent(target, chains);
  }
}

TEST_P(ExactSampler, KeepsTheLawsOfThePathFromALearnedBase) {
  constexpr int64_t kChains = EnoughChains(10000);
  for (const Model& model : Models()) {
    const EnergyPath target(model.energy, SmallAutoregressive(model.energy->variables(), {8, 6}, 5));
    const Law law = ExactLaw(target, 0.4);
    Chains chains = StartChainsAt(target, DrawFrom(law, target.dimension(), kChains, 51), 52);
    chains.betas.assign(kChains, 0.4);
    MakeSampler(GetParam().sampler, target)->Step(chains, 3);
    ExpectLaw(CountStates(chains), law, model.name);
    ExpectCachesConsistent(target, chains);
  }
}

std::string TestName(const testing::TestParamInfo<Setting>& info) {
  std::string name = info.param.name;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == ' ' || c == '-'; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Samplers, ExactSampler, testing::ValuesIn(Settings()), TestName);

TEST(ExactSamplers, AllAreTested) {
  for (const SamplerKind* kind : Samplers()) {
    if (!kind->exact) continue;
    const auto settings = Settings();
    EXPECT_TRUE(std::ranges::any_of(settings, [&](const Setting& s) { return s.sampler.kind == kind->name; }))
        << kind->name;
  }
}

}  // namespace
}  // namespace ort_ed
