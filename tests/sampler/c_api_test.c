/* The C interface of the samplers from a C program that sees nothing but the installed headers and libraries.
 * The model is U(x) = sum of (i + 1) x_i: independent variables with P(x_i = 1) = 1 / (1 + exp(i + 1)). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ort_ed/sampler_c_api.h"
#include "tests/support/c_check.h"

#define DIMENSION 12
#define CHAINS 20000

static void TestNames(void) {
  int found = 0, index = 0;
  for (; ort_ed_sampler_name(index) != NULL; ++index)
    found += strcmp(ort_ed_sampler_name(index), "gibbs") == 0;
  CHECK(found == 1 && index >= 7);
  CHECK(ort_ed_sampler_name(-1) == NULL);
}

static void TestGibbs(const ort_ed_model* model) {
  static uint8_t states[CHAINS * DIMENSION];
  static double energies[CHAINS];
  ort_ed_chains* chains = NULL;
  int chain, i;
  CHECK(ort_ed_chains_start(model, CHAINS, NULL, NULL, NULL, &chains) == ORT_ED_OK);
  CHECK(ort_ed_chains_step(chains, 3) == ORT_ED_OK);
  CHECK(ort_ed_chains_step(chains, -1) == ORT_ED_INVALID_ARGUMENT);
  CHECK(ort_ed_chains_read(chains, states, energies) == ORT_ED_OK);
  CHECK(ort_ed_chains_read(chains, NULL, NULL) == ORT_ED_OK);
  CHECK(ort_ed_chains_acceptance_rate(chains) == 1);
  CHECK(ort_ed_chains_move_rate(chains) > 0.01 && ort_ed_chains_move_rate(chains) < 0.3);
  for (i = 0; i < DIMENSION; ++i) {
    const double p = 1 / (1 + exp(i + 1));
    double ones = 0;
    for (chain = 0; chain < CHAINS; ++chain) ones += states[chain * DIMENSION + i];
    CHECK(fabs(ones / CHAINS - p) < 6 * sqrt(p / CHAINS) + 10.0 / CHAINS);
  }
  for (chain = 0; chain < CHAINS; ++chain) {
    double energy = 0;
    for (i = 0; i < DIMENSION; ++i) energy += (i + 1) * states[chain * DIMENSION + i];
    CHECK(fabs(energies[chain] - energy) < 1e-4);
  }
  ort_ed_chains_free(chains);
  ort_ed_chains_free(NULL);
}

static void TestClampingAndOptions(const ort_ed_model* model) {
  uint8_t start[2 * DIMENSION] = {0}, clamped[2 * DIMENSION] = {0}, states[2 * DIMENSION],
                    again[2 * DIMENSION];
  ort_ed_sampler_options options = ORT_ED_SAMPLER_OPTIONS_INIT;
  ort_ed_chains* chains = NULL;
  int run;
  start[DIMENSION - 1] = clamped[DIMENSION - 1] = 1;
  options.seed = 7;
  options.beta = 0.1;
  options.sampler = "dmala"; /* a quadratic energy has its gradient */
  for (run = 0; run < 2; ++run) {
    options.threads = 1 + run;
    CHECK(ort_ed_chains_start(model, 2, start, clamped, &options, &chains) == ORT_ED_OK);
    CHECK(ort_ed_chains_step(chains, 50) == ORT_ED_OK);
    CHECK(ort_ed_chains_read(chains, run == 0 ? states : again, NULL) == ORT_ED_OK);
    ort_ed_chains_free(chains);
  }
  CHECK(states[DIMENSION - 1] == 1);
  CHECK(memcmp(states, start, sizeof states) != 0);
  CHECK(memcmp(states, again, sizeof states) == 0);
}

static void TestFailures(const ort_ed_model* model) {
  ort_ed_sampler_options options = ORT_ED_SAMPLER_OPTIONS_INIT;
  uint8_t bad[DIMENSION] = {0, 2};
  ort_ed_chains* chains = (ort_ed_chains*)&options;
  CHECK(ort_ed_chains_start(NULL, 1, NULL, NULL, NULL, &chains) == ORT_ED_INVALID_ARGUMENT && chains == NULL);
  CHECK(ort_ed_chains_start(model, 1, NULL, NULL, NULL, NULL) == ORT_ED_INVALID_ARGUMENT);
  CHECK(ort_ed_chains_start(model, 0, NULL, NULL, NULL, &chains) == ORT_ED_INVALID_ARGUMENT);
  CHECK(ort_ed_chains_start(model, INT64_MAX, NULL, NULL, NULL, &chains) == ORT_ED_INVALID_ARGUMENT);
  CHECK(ort_ed_chains_start(model, 1, bad, NULL, NULL, &chains) == ORT_ED_BAD_DATA &&
        LastErrorHas("variable 1"));
  options.beta = NAN;
  CHECK(ort_ed_chains_start(model, 1, NULL, NULL, &options, &chains) == ORT_ED_INVALID_ARGUMENT);
  CHECK(LastErrorHas("beta"));
  options.beta = 1;
  options.sampler = "gips";
  CHECK(ort_ed_chains_start(model, 1, NULL, NULL, &options, &chains) == ORT_ED_INVALID_ARGUMENT);
  CHECK(LastErrorHas("gips") && LastErrorHas("gibbs"));
  options.struct_size = 4;
  CHECK(ort_ed_chains_start(model, 1, NULL, NULL, &options, &chains) == ORT_ED_INVALID_ARGUMENT);
  CHECK(ort_ed_chains_step(NULL, 1) == ORT_ED_INVALID_ARGUMENT);
}

static ort_ed_status StartByName(const ort_ed_model* model, const char* const* pairs,
                                 ort_ed_chains** chains) {
  ort_ed_options* options = ort_ed_options_new();
  ort_ed_status status;
  CHECK(options != NULL);
  for (; *pairs != NULL; pairs += 2) CHECK(ort_ed_options_set(options, pairs[0], pairs[1]) == ORT_ED_OK);
  status = ort_ed_chains_start_by_name(model, 50, NULL, NULL, options, chains);
  ort_ed_options_free(options);
  return status;
}

/* The same chains as those of the struct. */
static void TestOptionsByName(const ort_ed_model* model) {
  static const char* const kPairs[] = {"sampler", "tempering", "inner", "gwg",  "flips", "2", "temperatures",
                                       "3",       "seed",      "7",     "beta", "0.5",   NULL};
  ort_ed_sampler_options options = ORT_ED_SAMPLER_OPTIONS_INIT;
  uint8_t states[2][50 * DIMENSION];
  ort_ed_chains* chains[2] = {NULL, NULL};
  int way;
  options.sampler = "tempering";
  options.inner = "gwg";
  options.flips = 2;
  options.temperatures = 3;
  options.seed = 7;
  options.beta = 0.5;
  CHECK(ort_ed_chains_start(model, 50, NULL, NULL, &options, &chains[0]) == ORT_ED_OK);
  CHECK(StartByName(model, kPairs, &chains[1]) == ORT_ED_OK);
  for (way = 0; way < 2; ++way) {
    CHECK(ort_ed_chains_step(chains[way], 20) == ORT_ED_OK);
    CHECK(ort_ed_chains_read(chains[way], states[way], NULL) == ORT_ED_OK);
    ort_ed_chains_free(chains[way]);
  }
  CHECK(memcmp(states[0], states[1], sizeof states[0]) == 0);
  CHECK(ort_ed_chains_start_by_name(model, 1, NULL, NULL, NULL, &chains[0]) == ORT_ED_OK);
  ort_ed_chains_free(chains[0]);
}

static void TestBadOptionsByName(const ort_ed_model* model) {
  static const struct {
    const char* pairs[5];
    const char* message;
  } kCases[] = {
      {{"sampler", "gips", NULL}, "sampler must be one of gibbs, block-gibbs"},
      {{"flavour", "1", NULL}, "flavour is not known; there are sampler, seed"},
      {{"flips", "2", NULL}, "flips has no effect with sampler gibbs; it belongs to gwg"},
      {{"sampler", "gwg", "flips", "0", NULL}, "flips must lie in [1, inf), not 0"},
      {{"sampler", "gwg", "flips", "two", NULL}, "flips must be a whole number, not 'two'"},
      {{"sampler", "tempering", "inner", "dula", NULL}, "inner must be one of gibbs"},
      {{"sampler", "tempering", "inner", "tempering", NULL}, "inner must be one of gibbs"},
      {{"seed", "-1", NULL}, "seed must lie in [0, inf)"},
      {{"threads", "-1", NULL}, "threads must lie in [0, inf)"},
      {{"beta", "nan", NULL}, "beta must be a"},
  };
  size_t i;
  ort_ed_chains* chains = NULL;
  ort_ed_options* options = ort_ed_options_new();
  for (i = 0; i < sizeof kCases / sizeof *kCases; ++i) {
    CHECK(StartByName(model, kCases[i].pairs, &chains) == ORT_ED_INVALID_ARGUMENT && chains == NULL);
    CHECK(LastErrorHas(kCases[i].message));
  }
  CHECK(ort_ed_options_set(NULL, "seed", "1") == ORT_ED_INVALID_ARGUMENT);
  CHECK(ort_ed_options_set(options, NULL, "1") == ORT_ED_INVALID_ARGUMENT);
  CHECK(ort_ed_options_set(options, "seed", NULL) == ORT_ED_INVALID_ARGUMENT);
  CHECK(ort_ed_chains_start_by_name(NULL, 1, NULL, NULL, options, &chains) == ORT_ED_INVALID_ARGUMENT);
  CHECK(ort_ed_chains_start_by_name(model, 1, NULL, NULL, options, NULL) == ORT_ED_INVALID_ARGUMENT);
  ort_ed_options_free(options);
  ort_ed_options_free(NULL);
}

static void TestLogZByName(const ort_ed_model* model) {
  ort_ed_sampler_options former = ORT_ED_SAMPLER_OPTIONS_INIT;
  ort_ed_log_z_estimate estimate, by_name;
  ort_ed_options* options = ort_ed_options_new();
  former.sampler = "pas";
  former.path_length = 3;
  former.seed = 5;
  CHECK(ort_ed_log_z_ais(model, 30, 40, &former, &estimate) == ORT_ED_OK);
  CHECK(ort_ed_options_set(options, "chains", "30") == ORT_ED_OK);
  CHECK(ort_ed_options_set(options, "temperatures", "40") == ORT_ED_OK);
  CHECK(ort_ed_options_set(options, "sampler", "pas") == ORT_ED_OK);
  CHECK(ort_ed_options_set(options, "path_length", "3") == ORT_ED_OK);
  CHECK(ort_ed_options_set(options, "seed", "5") == ORT_ED_OK);
  CHECK(ort_ed_log_z_by_name(model, options, &by_name) == ORT_ED_OK);
  CHECK(by_name.log_z == estimate.log_z && by_name.standard_error == estimate.standard_error);
  CHECK(ort_ed_options_set(options, "spacing", "adaptive") == ORT_ED_OK);
  CHECK(ort_ed_log_z_by_name(model, options, &by_name) == ORT_ED_OK);
  CHECK(by_name.log_z != estimate.log_z);
  CHECK(ort_ed_options_set(options, "spacing", "even") == ORT_ED_OK);
  CHECK(ort_ed_log_z_by_name(model, options, &by_name) == ORT_ED_INVALID_ARGUMENT);
  CHECK(LastErrorHas("spacing must be one of linear, sigmoid, adaptive, not 'even'"));
  CHECK(ort_ed_options_set(options, "spacing", "linear") == ORT_ED_OK);
  CHECK(ort_ed_options_set(options, "sampler", "dula") == ORT_ED_OK);
  CHECK(ort_ed_log_z_by_name(model, options, &by_name) == ORT_ED_INVALID_ARGUMENT);
  CHECK(LastErrorHas("sampler must be one of gibbs, block-gibbs, gwg, dmala, pas, refill, not 'dula'"));
  ort_ed_options_free(options);
}

static void TestAis(const ort_ed_model* model) {
  ort_ed_log_z_estimate estimate;
  double exact = 0;
  int i;
  for (i = 0; i < DIMENSION; ++i) exact += log1p(exp(-(i + 1)));
  CHECK(ort_ed_log_z_ais(model, 200, 200, NULL, &estimate) == ORT_ED_OK);
  CHECK(estimate.standard_error > 0 && estimate.standard_error < 0.2 && estimate.effective_chains > 20);
  CHECK(fabs(estimate.log_z - exact) < 5 * estimate.standard_error);
  CHECK(ort_ed_log_z_ais(model, 0, 10, NULL, &estimate) == ORT_ED_INVALID_ARGUMENT);
}

int main(int argc, char** argv) {
  ort_ed_model* model = NULL;
  if (argc != 2) return 2;
  CHECK(ort_ed_model_load(argv[1], NULL, &model) == ORT_ED_OK);
  CHECK(ort_ed_model_dimension(model) == DIMENSION);
  TestNames();
  TestGibbs(model);
  TestClampingAndOptions(model);
  TestFailures(model);
  TestAis(model);
  TestOptionsByName(model);
  TestBadOptionsByName(model);
  TestLogZByName(model);
  ort_ed_model_free(model);
  return 0;
}
