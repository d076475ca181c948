/* The C interface of ort_ed: load an energy model, score rows of {0,1} values.
 *
 * Functions that can fail return a status; ort_ed_last_error() then holds the message, for the calling
 * thread. No exception leaves. A model may be used by any number of threads at once.
 */
#ifndef ORT_ED_C_API_H_
#define ORT_ED_C_API_H_

#include <stddef.h>
#include <stdint.h>

#include "ort_ed/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Grows when functions are added; what exists stays. */
#define ORT_ED_C_API_VERSION 3

typedef enum ort_ed_status {
  ORT_ED_OK = 0,
  ORT_ED_INVALID_ARGUMENT = 1, /* the caller asked for something impossible */
  ORT_ED_BAD_MODEL = 2,        /* the model file is damaged or is no energy model */
  ORT_ED_BAD_DATA = 3,         /* a value other than 0 and 1, or damaged data */
  ORT_ED_IO = 4,               /* a file cannot be read or written */
  ORT_ED_DEVICE = 5,           /* the device does not exist or cannot be used */
  ORT_ED_RUNTIME = 6,          /* ONNX Runtime failed while executing */
  ORT_ED_INTERRUPTED = 7,      /* stopped by the user */
  ORT_ED_OUT_OF_MEMORY = 8,
  ORT_ED_INTERNAL = 9 /* a defect of this library */
} ort_ed_status;

/* ORT_ED_C_API_VERSION of the library that is loaded. */
ORT_ED_API int ort_ed_c_api_version(void);
/* "0.1.0" */
ORT_ED_API const char* ort_ed_version(void);
/* Version of the ONNX Runtime that is loaded. */
ORT_ED_API const char* ort_ed_onnxruntime_version(void);

/* The message of the last call of this thread that failed; "" if none did. Valid until the next failure in
 * this thread. */
ORT_ED_API const char* ort_ed_last_error(void);

typedef struct ort_ed_model ort_ed_model;

typedef struct ort_ed_load_options {
  size_t struct_size; /* sizeof(ort_ed_load_options): later versions may add fields */
  const char* device; /* "cpu", "cuda:1", "auto", ...; NULL: cpu */
  int threads;        /* threads of one call; 0: all cores */
  int64_t batch_rows; /* rows under way at once, shared among the threads; 0: chosen to fit the cache */
} ort_ed_load_options;

#define ORT_ED_LOAD_OPTIONS_INIT \
  { sizeof(ort_ed_load_options), NULL, 0, 0 }

/* `options` may be NULL. `*model` is NULL after a failure; otherwise give it back with ort_ed_model_free. */
ORT_ED_API ort_ed_status ort_ed_model_load(const char* path, const ort_ed_load_options* options,
                                           ort_ed_model** model);
/* The bytes are not needed after the call. */
ORT_ED_API ort_ed_status ort_ed_model_load_memory(const void* bytes, size_t size,
                                                  const ort_ed_load_options* options, ort_ed_model** model);
/* NULL is allowed. */
ORT_ED_API void ort_ed_model_free(ort_ed_model* model);

/* D, the number of variables of a row. */
ORT_ED_API int64_t ort_ed_model_dimension(const ort_ed_model* model);
/* Bytes of a packed row: (D + 7) / 8. */
ORT_ED_API int64_t ort_ed_model_packed_row_bytes(const ort_ed_model* model);

/* The metadata entry `key` ("ort_ed.architecture", ...); NULL if the model has none. Lives as long as the
 * model. */
ORT_ED_API const char* ort_ed_model_metadata(const ort_ed_model* model, const char* key);

/* Energies U(x) of `count` rows, row-major. */
ORT_ED_API ort_ed_status ort_ed_model_energy_float(const ort_ed_model* model, const float* rows,
                                                   int64_t count, float* energies);
ORT_ED_API ort_ed_status ort_ed_model_energy_uint8(const ort_ed_model* model, const uint8_t* rows,
                                                   int64_t count, float* energies);
/* Rows of packed bits: variable 0 is the top bit of byte 0, each row padded with zeros to whole bytes. */
ORT_ED_API ort_ed_status ort_ed_model_energy_packed(const ort_ed_model* model, const uint8_t* rows,
                                                    int64_t count, float* energies);

/* log Z and its standard error; ORT_ED_INVALID_ARGUMENT if the model carries none. Either pointer may be
 * NULL. */
ORT_ED_API ort_ed_status ort_ed_model_log_z(const ort_ed_model* model, double* value, double* standard_error);
/* log p(x) = -U(x) - log Z, from energies. */
ORT_ED_API ort_ed_status ort_ed_model_log_likelihood(const ort_ed_model* model, const float* energies,
                                                     int64_t count, double* log_likelihoods);

/* 1 if the model was exported with its gradient, else 0. */
ORT_ED_API int ort_ed_model_has_gradient(const ort_ed_model* model);
/* Energies and dU/dx (count x D) of rows that are not checked for being 0 or 1. */
ORT_ED_API ort_ed_status ort_ed_model_energy_and_gradient(const ort_ed_model* model, const float* rows,
                                                          int64_t count, float* energies, float* gradients);

#ifdef __cplusplus
}
#endif

#endif /* ORT_ED_C_API_H_ */
