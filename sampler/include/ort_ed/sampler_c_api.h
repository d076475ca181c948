/* The C interface of the samplers: chains of states of a model, and log Z by annealed importance sampling. To
 * be used with c_api.h and in its manner: a status, and the message in ort_ed_last_error().
 */
#ifndef ORT_ED_SAMPLER_C_API_H_
#define ORT_ED_SAMPLER_C_API_H_

#include "ort_ed/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The name of sampler number `index`: "gibbs", ...; NULL behind the last. */
ORT_ED_API const char* ort_ed_sampler_name(int index);

/* Options by name, for the functions that take them: every option there is, also those of later versions.
 * Used by one thread at a time. */
typedef struct ort_ed_options ort_ed_options;

/* NULL: out of memory. Give it back with ort_ed_options_free. */
ORT_ED_API ort_ed_options* ort_ed_options_new(void);
/* NULL is allowed. */
ORT_ED_API void ort_ed_options_free(ort_ed_options* options);
/* ort_ed_options_set(options, "flips", "2"). Both texts are copied; a later value takes the place of an
 * earlier one. Keys and values are checked where the options are used: a key that is not known, a value out
 * of its domain or an option without effect is ORT_ED_INVALID_ARGUMENT there. */
ORT_ED_API ort_ed_status ort_ed_options_set(ort_ed_options* options, const char* key, const char* value);

/* The options of the samplers in one struct; those of other samplers than the chosen one are ignored. */
typedef struct ort_ed_sampler_options {
  size_t struct_size;  /* sizeof(ort_ed_sampler_options): later versions may add fields */
  const char* sampler; /* NULL: gibbs */
  uint64_t seed;       /* the same seed gives the same samples, whatever the number of threads */
  int threads;         /* of the work outside the model; 0: all cores */
  double beta;         /* inverse temperature: samples from exp(-beta U) */
  int random_scan;     /* gibbs, block-gibbs: not 0 for a random order of updates */
  int block;           /* block-gibbs: variables drawn together */
  int flips;           /* gwg: variables proposed at once */
  double step_size;    /* dula, dmala */
  int path_length;     /* pas: mean number of changes in a proposal */
  const char* inner;   /* tempering: the sampler at each temperature; NULL: gibbs */
  int temperatures;    /* tempering: how many */
  double lowest_beta;  /* tempering: of the hottest, relative to beta */
} ort_ed_sampler_options;

#define ORT_ED_SAMPLER_OPTIONS_INIT \
  { sizeof(ort_ed_sampler_options), NULL, 0, 0, 1.0, 0, 4, 1, 0.2, 5, NULL, 8, 0.1 }

/* Chains of one model, moved together by one sampler. Used by one thread at a time. */
typedef struct ort_ed_chains ort_ed_chains;

/* `count` chains. They start at `states` (count x D values 0 or 1) or, where that is NULL, at draws of the
 * model's base distribution. Of a variable with more than two states, which has a bit for each, exactly one
 * is 1, at the start and in all that is read. Where `clamped` (count x D) is not NULL, variables with a value
 * other than 0 keep their state, in all of their bits or in none: the rest is sampled conditionally.
 * `options` may be NULL. The model must outlive the chains. `*chains` is NULL after a failure; otherwise give
 * it back with ort_ed_chains_free. */
ORT_ED_API ort_ed_status ort_ed_chains_start(const ort_ed_model* model, int64_t count, const uint8_t* states,
                                             const uint8_t* clamped, const ort_ed_sampler_options* options,
                                             ort_ed_chains** chains);
/* The same with options by name: sampler, seed, threads, beta and those of the sampler, e.g. scan and updates
 * of gibbs, flips of gwg, inner, temperatures and lowest_beta of tempering. `options` may be NULL. */
ORT_ED_API ort_ed_status ort_ed_chains_start_by_name(const ort_ed_model* model, int64_t count,
                                                     const uint8_t* states, const uint8_t* clamped,
                                                     const ort_ed_options* options, ort_ed_chains** chains);
/* NULL is allowed. */
ORT_ED_API void ort_ed_chains_free(ort_ed_chains* chains);

/* A step of gibbs updates every variable once. */
ORT_ED_API ort_ed_status ort_ed_chains_step(ort_ed_chains* chains, int64_t steps);

/* The present states (count x D) and their energies U (count). Either pointer may be NULL. */
ORT_ED_API ort_ed_status ort_ed_chains_read(const ort_ed_chains* chains, uint8_t* states, double* energies);

/* The part of all proposals so far that was accepted: 1 for gibbs, which rejects none. */
ORT_ED_API double ort_ed_chains_acceptance_rate(const ort_ed_chains* chains);
/* The part of all proposals so far (for gibbs: of updates of a variable) that changed the state. */
ORT_ED_API double ort_ed_chains_move_rate(const ort_ed_chains* chains);

typedef struct ort_ed_log_z_estimate {
  double log_z;
  double standard_error;
  double effective_chains; /* few of these mean that neither value is reliable */
} ort_ed_log_z_estimate;

/* log Z by annealed importance sampling from the model's base distribution, `chains` chains through
 * `temperatures` temperatures with one sampler step each. `options` may be NULL; beta is not used.
 * Underestimates log Z in expectation. */
ORT_ED_API ort_ed_status ort_ed_log_z_ais(const ort_ed_model* model, int64_t chains, int64_t temperatures,
                                          const ort_ed_sampler_options* options,
                                          ort_ed_log_z_estimate* estimate);
/* The same with options by name: chains, temperatures, spacing (linear, sigmoid or adaptive), sampler and its
 * options, seed, threads. `options` may be NULL. */
ORT_ED_API ort_ed_status ort_ed_log_z_by_name(const ort_ed_model* model, const ort_ed_options* options,
                                              ort_ed_log_z_estimate* estimate);

#ifdef __cplusplus
}
#endif

#endif /* ORT_ED_SAMPLER_C_API_H_ */
