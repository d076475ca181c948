#include "tests/golden/cases.h"

#include <algorithm>

namespace ort_ed {
namespace {

using Words = std::vector<std::string>;

// Of what is computed: another processor rounds otherwise.
constexpr double kRounding = 1e-4;
// Of what is drawn: after a decision that rounding turned, a chain goes another way.
constexpr double kChance = 0.05;

struct Named {
  std::string name;
  Words options;
};

const std::vector<Named> kMethods = {
    {"bernoulli", {"--method", "bernoulli"}},
    {"pool", {"--method", "pool", "--window", "3"}},
    {"grid", {"--method", "grid"}},
    {"grid_exact", {"--method", "grid", "--exact"}},
    {"neighbourhood", {"--method", "neighbourhood", "--moves", "both"}},
    {"erase", {"--method", "erase", "--block", "2"}},
    {"erase_exact", {"--method", "erase", "--block", "2", "--exact"}},
    {"mixed_exact", {"--method", "bernoulli+grid", "--exact"}},
    {"annealed", {"--epsilon", "0.05,0.3", "--epsilon-end", "0.02,0.1"}},
};

const std::vector<Named> kOptimizers = {
    {"adam", {"--optimizer", "adam"}},
    {"adamw", {"--optimizer", "adamw", "--weight-decay", "0.01"}},
    {"sgd", {"--optimizer", "sgd", "--learning-rate", "0.05"}},
};

const std::vector<Named> kModels = {
    {"rbm", {"--model", "rbm", "--hidden", "6"}},
    {"ising", {"--model", "ising"}},
    {"resnet",
     {"--model", "resnet", "--image-shape", "3x4", "--channels", "4", "--blocks", "1", "--downsample", "1"}},
    {"mine", {"--model", "@mine.onnx", "--base", "data"}},
};

const std::vector<Named> kSettings = {
    {"micro_batch", {"--micro-batch", "8"}},
    {"no_average", {"--ema", "0"}},
    {"warm_up", {"--warmup-steps", "20", "--decay", "constant"}},
    {"no_clip", {"--clip", "0", "--w", "0.5"}},
    {"l1_proximal", {"--l1", "0.001"}},
    {"l1_subgradient", {"--l1", "0.001", "--l1-form", "subgradient"}},
    {"frozen", {"--frozen", "hidden1.*"}},
    {"image_pool", {"--method", "pool", "--window", "2x2", "--image-shape", "3x4"}},
    {"neighbourhood_no_stay", {"--method", "neighbourhood", "--moves", "up", "--no-stay"}},
    {"neighbourhood_exact", {"--method", "neighbourhood", "--moves", "both", "--exact"}},
    {"mixed", {"--method", "pool+bernoulli+grid", "--window", "3"}},
    {"spins", {"--input", "spins", "--hidden", "8,8", "--activation", "tanh"}},
    {"validation_file", {"--validation", "@other.npy"}},
    {"pinwheel", {"--data", "synth:pinwheel", "--validation-rows", "50"}},
    {"synth_ising", {"--data", "synth:ising:shape=3x4,rows=200,steps=200"}},
    {"grey_dynamic", {"--data", "@grey.npy", "--binarise", "dynamic"}},
    {"grey_dynamic_exact", {"--data", "@grey.npy", "--binarise", "dynamic", "--method", "grid", "--exact"}},
    {"grey_dynamic_mixed",
     {"--data", "@grey.npy", "--binarise", "dynamic", "--method", "bernoulli+grid", "--exact"}},
    {"grey_once", {"--data", "@grey.npy", "--binarise", "once"}},
    {"grey_threshold", {"--data", "@grey.npy", "--binarise", "threshold"}},
};

Words Join(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

bool Has(const Words& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

GoldenCase Training(const std::string& name, const Words& options) {
  Words arguments = {"train",       "-o", "@" + name,         "--json", "--steps", "50",
                     "--threads",   "1",  "--batch-size",     "32",     "--seed",  "3",
                     "--log-every", "10", "--validate-every", "25"};
  if (!Has(options, "--data")) arguments = Join(arguments, {"--data", "@bits.npy"});
  if (!Has(options, "--method")) arguments = Join(arguments, {"--method", "bernoulli"});
  if (!Has(options, "--learning-rate")) arguments = Join(arguments, {"--learning-rate", "0.01"});
  if (!Has(options, "--model") && !Has(options, "--hidden")) arguments = Join(arguments, {"--hidden", "16"});
  return {name, Join(arguments, options), TrainedRun, kRounding};
}

void AddTrainings(std::vector<GoldenCase>& cases) {
  for (const Named& method : kMethods)
    for (const Named& optimizer : kOptimizers)
      cases.push_back(
          Training("train_" + method.name + "_" + optimizer.name, Join(method.options, optimizer.options)));
  for (const Named& model : kModels) {
    cases.push_back(Training("train_" + model.name, model.options));
    cases.push_back(
        Training("train_" + model.name + "_exact", Join(model.options, {"--method", "grid", "--exact"})));
  }
  for (const Named& setting : kSettings) cases.push_back(Training("train_" + setting.name, setting.options));
}

void AddModels(std::vector<GoldenCase>& cases) {
  const auto add = [&](const std::string& name, const Words& arguments) {
    cases.push_back({name, Join(arguments, {"-o", "@" + name + ".onnx"}), Model, kRounding});
  };
  add("new_mlp", {"new", "mlp", "-D", "12", "--hidden", "16,8", "--seed", "5"});
  add("new_rbm", {"new", "rbm", "-D", "12", "--hidden", "6", "--base", "@bits.npy", "--seed", "5"});
  add("new_ising", {"new", "ising", "--image-shape", "3x4", "--init", "lattice", "--coupling", "0.2"});
  add("new_resnet", {"new", "resnet", "--image-shape", "3x4", "--channels", "4", "--seed", "5"});
  add("export_average", {"export", "@run"});
  add("export_raw", {"export", "@run", "--weights", "raw", "--with-gradient"});
  add("export_threshold", {"export", "@run", "--threshold", "0.05"});
}

const std::vector<Named> kSamplers = {
    {"gibbs", {"--sampler", "gibbs"}},
    {"gibbs_random", {"--sampler", "gibbs", "--scan", "random", "--updates", "5"}},
    {"block_gibbs", {"--sampler", "block-gibbs", "--block", "2"}},
    {"gwg", {"--sampler", "gwg", "--flips", "2"}},
    {"dula", {"--sampler", "dula"}},
    {"dmala", {"--sampler", "dmala"}},
    {"pas", {"--sampler", "pas"}},
    {"tempering", {"--sampler", "tempering", "--temperatures", "4"}},
    {"tempering_gwg", {"--sampler", "tempering", "--inner", "gwg", "--temperatures", "4"}},
};

void AddSamples(std::vector<GoldenCase>& cases) {
  const auto add = [&](const std::string& name, const Words& options) {
    cases.push_back({name,
                     Join({"sample", "-o", "@" + name + ".npy", "--steps", "40", "--seed", "11", "--threads",
                           "1", "--json"},
                          options),
                     DrawnRows, kChance});
  };
  for (const std::string model : {"mlp", "ising"})
    for (const Named& sampler : kSamplers)
      add("sample_" + model + "_" + sampler.name,
          Join({"@" + model + ".onnx", "-n", "200"}, sampler.options));
  add("sample_rbm_thinned", {"@rbm.onnx", "-n", "200", "--chains", "20", "--burn-in", "10", "--thin", "3"});
  add("sample_rbm_cold", {"@rbm.onnx", "-n", "200", "--beta", "2"});
  add("sample_resnet", {"@resnet.onnx", "-n", "50"});
  add("sample_holes", {"@rbm.onnx", "-n", "90", "--clamp", "@holes.csv"});
  add("sample_holes_ising", {"@ising.onnx", "-n", "90", "--clamp", "@holes.csv"});
  add("sample_mask", {"@mlp.onnx", "--init", "@bits.npy", "--clamp", "@mask.csv"});
  add("sample_mask_gwg", {"@mlp.onnx", "--init", "@bits.npy", "--clamp", "@mask.csv", "--sampler", "gwg"});
  add("sample_init", {"@ising.onnx", "-n", "200", "--init", "@other.npy"});
}

void AddLogZs(std::vector<GoldenCase>& cases) {
  const auto add = [&](const std::string& name, const Words& options, double tolerance) {
    cases.push_back({name, Join({"logz", "--json", "--threads", "1"}, options), Printed, tolerance});
  };
  const Words seed = {"--seed", "11"};
  const Words annealing = {"--seed", "11", "--temperatures", "50", "--chains", "50"};
  for (const std::string model : {"mlp", "rbm", "ising"}) {
    const std::string file = "@" + model + ".onnx";
    add("logz_exact_" + model, {file, "--method", "exact"}, kRounding);
    add("logz_ais_" + model, Join({file}, annealing), kChance);
    add("logz_raise_" + model, Join({file, "--method", "raise"}, annealing), kChance);
    add("logz_is_" + model, Join({file, "--method", "is", "--proposals", "5000"}, seed), kRounding);
  }
  add("logz_raise_data", Join({"@rbm.onnx", "--method", "raise", "--data", "@bits.npy"}, annealing), kChance);
  add("logz_uniform", Join({"@mlp.onnx", "--base", "uniform"}, annealing), kChance);
  add("logz_sigmoid", Join({"@rbm.onnx", "--spacing", "sigmoid"}, annealing), kChance);
  add("logz_adaptive", Join({"@rbm.onnx", "--spacing", "adaptive"}, annealing), kChance);
  add("logz_gwg", Join({"@mlp.onnx", "--sampler", "gwg"}, annealing), kChance);
  add("logz_block_gibbs", Join({"@rbm.onnx", "--sampler", "block-gibbs", "--block", "2"}, annealing),
      kChance);
}

void AddEvaluations(std::vector<GoldenCase>& cases) {
  const auto add = [&](const std::string& name, const Words& options, double tolerance) {
    cases.push_back(
        {name, Join({"eval", "--json", "--seed", "11", "--threads", "1"}, options), Printed, tolerance});
  };
  const Words data = {"--data", "@bits.npy"};
  const Words no_samples = {"--data", "@bits.npy", "--samples", "0"};
  add("eval_auto", Join({"@mlp.onnx"}, no_samples), kRounding);
  add("eval_exact", Join({"@ising.onnx", "--log-z", "exact"}, no_samples), kRounding);
  add("eval_metadata", Join({"@normalised.onnx", "--log-z", "metadata"}, no_samples), kRounding);
  add("eval_is", Join({"@rbm.onnx", "--log-z", "is", "--proposals", "5000"}, no_samples), kRounding);
  add("eval_ais",
      Join({"@rbm.onnx", "--log-z", "ais", "--temperatures", "50", "--chains", "50", "--raise-rows", "10",
            "--raise-chains", "3"},
           no_samples),
      kChance);
  add("eval_samples", Join({"@mlp.onnx", "--samples", "100", "--steps", "40"}, data), kChance);
  add("eval_sample_sets",
      Join({"@ising.onnx", "--samples", "60", "--sample-sets", "3", "--thin", "4", "--steps", "40",
            "--mmd-null", "20"},
           data),
      kChance);
  add("eval_sample_gwg",
      Join({"@mlp.onnx", "--samples", "60", "--steps", "40", "--sampler", "gwg", "--mmd-null", "20"}, data),
      kChance);
  add("eval_grey", {"@mlp.onnx", "--data", "@grey.npy", "--binarise", "stochastic", "--samples", "0"},
      kRounding);
  add("eval_density",
      {"@planar.onnx", "--data", "@pinwheel.npy", "--density", "pinwheel", "--log-z", "is", "--proposals",
       "5000", "--samples", "0"},
      kRounding);
}

void AddScoresAndSummaries(std::vector<GoldenCase>& cases) {
  const auto add = [&](const std::string& name, const Words& arguments) {
    cases.push_back({name, Join(arguments, {"--json"}), Printed, kRounding});
  };
  for (const std::string model : {"mlp", "rbm", "ising", "resnet", "normalised"})
    add("score_" + model, {"score", "@" + model + ".onnx", "@bits.npy", "--threads", "1"});
  add("score_grey",
      {"score", "@mlp.onnx", "@grey.npy", "--binarise", "stochastic", "--seed", "3", "--threads", "1"});
  for (const std::string model : {"mlp", "rbm", "ising", "resnet"})
    add("inspect_" + model, {"inspect", "@" + model + ".onnx"});
  add("inspect_run", {"inspect", "@run/model.onnx"});
}

void AddData(std::vector<GoldenCase>& cases) {
  const auto add = [&](const std::string& name, const Words& arguments) {
    cases.push_back(
        {name, Join(arguments, {"-n", "300", "--seed", "4", "-o", "@" + name + ".npy"}), DrawnRows, kChance});
  };
  for (const std::string density : {"pinwheel", "2spirals", "checkerboard"})
    add("data_" + density, {"data", density});
  add("data_ising",
      {"data", "ising", "--shape", "3x4", "--sigma", "0.3", "--steps", "300", "--threads", "1"});
}

}  // namespace

std::vector<GoldenCase> GoldenCases() {
  std::vector<GoldenCase> cases;
  AddTrainings(cases);
  AddModels(cases);
  AddSamples(cases);
  AddLogZs(cases);
  AddEvaluations(cases);
  AddScoresAndSummaries(cases);
  AddData(cases);
  return cases;
}

}  // namespace ort_ed
