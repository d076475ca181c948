/* The C interface from a C program that sees nothing but the installed header and library. */
#include "ort_ed/c_api.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/c_check.h"

#define DIMENSION 12

static ort_ed_model* Load(const char* path) {
  ort_ed_load_options options = ORT_ED_LOAD_OPTIONS_INIT;
  ort_ed_model* model = NULL;
  options.threads = 1;
  CHECK(ort_ed_model_load(path, &options, &model) == ORT_ED_OK);
  CHECK(model != NULL);
  return model;
}

static void TestVersions(void) {
  CHECK(ort_ed_c_api_version() == ORT_ED_C_API_VERSION);
  CHECK(strchr(ort_ed_version(), '.') != NULL);
  CHECK(strchr(ort_ed_onnxruntime_version(), '.') != NULL);
}

static void TestLoadFailures(void) {
  ort_ed_load_options options = ORT_ED_LOAD_OPTIONS_INIT;
  ort_ed_model* model = (ort_ed_model*)&options;
  CHECK(ort_ed_model_load("/nowhere.onnx", NULL, &model) == ORT_ED_IO);
  CHECK(model == NULL && LastErrorHas("/nowhere.onnx"));
  CHECK(ort_ed_model_load(NULL, NULL, &model) == ORT_ED_INVALID_ARGUMENT && LastErrorHas("path"));
  CHECK(ort_ed_model_load("x.onnx", NULL, NULL) == ORT_ED_INVALID_ARGUMENT);
  CHECK(ort_ed_model_load_memory("no model", 8, NULL, &model) == ORT_ED_BAD_MODEL);
  options.device = "abacus";
  CHECK(ort_ed_model_load("x.onnx", &options, &model) == ORT_ED_DEVICE && LastErrorHas("abacus"));
  options.struct_size += 8; /* of a program that knows more fields */
  CHECK(ort_ed_model_load("x.onnx", &options, &model) == ORT_ED_DEVICE);
  options.struct_size = 0;
  CHECK(ort_ed_model_load("x.onnx", &options, &model) == ORT_ED_INVALID_ARGUMENT);
  ort_ed_model_free(NULL);
}

static void TestScoring(const ort_ed_model* model) {
  const float floats[2 * DIMENSION] = {1, 0, 1, [DIMENSION] = 0, 1};
  const uint8_t bytes[2 * DIMENSION] = {1, 0, 1, [DIMENSION] = 0, 1};
  const uint8_t packed[2 * 2] = {0xA0, 0, 0x40, 0};
  const uint8_t bad[DIMENSION] = {0, 2};
  float energies[2] = {0, 0};
  double log_likelihoods[2] = {0, 0};

  CHECK(ort_ed_model_dimension(model) == DIMENSION);
  CHECK(ort_ed_model_packed_row_bytes(model) == 2);
  CHECK(ort_ed_model_energy_float(model, floats, 2, energies) == ORT_ED_OK);
  CHECK(energies[0] == 4 && energies[1] == 2);
  energies[0] = energies[1] = 0;
  CHECK(ort_ed_model_energy_uint8(model, bytes, 2, energies) == ORT_ED_OK);
  CHECK(energies[0] == 4 && energies[1] == 2);
  energies[0] = energies[1] = 0;
  CHECK(ort_ed_model_energy_packed(model, packed, 2, energies) == ORT_ED_OK);
  CHECK(energies[0] == 4 && energies[1] == 2);
  CHECK(ort_ed_model_log_likelihood(model, energies, 2, log_likelihoods) == ORT_ED_OK);
  CHECK(log_likelihoods[0] == -5.5 && log_likelihoods[1] == -3.5);

  CHECK(ort_ed_model_energy_uint8(model, bad, 1, energies) == ORT_ED_BAD_DATA && LastErrorHas("column 1"));
  CHECK(ort_ed_model_energy_float(model, NULL, 0, NULL) == ORT_ED_OK);
  CHECK(ort_ed_model_energy_float(model, NULL, 1, energies) == ORT_ED_INVALID_ARGUMENT);
  CHECK(ort_ed_model_energy_float(model, floats, -1, energies) == ORT_ED_INVALID_ARGUMENT);
  CHECK(ort_ed_model_energy_float(model, floats, INT64_MAX, energies) == ORT_ED_INVALID_ARGUMENT);
  CHECK(ort_ed_model_energy_float(NULL, floats, 1, energies) == ORT_ED_INVALID_ARGUMENT);
}

static void TestMetadataAndGradient(const ort_ed_model* model) {
  const float row[DIMENSION] = {1};
  float energy = 0, gradient[DIMENSION];
  double log_z = 0, error = 0;
  int i;
  CHECK(strcmp(ort_ed_model_metadata(model, "ort_ed.architecture"), "linear") == 0);
  CHECK(ort_ed_model_metadata(model, "ort_ed.nothing") == NULL);
  CHECK(ort_ed_model_metadata(model, NULL) == NULL);
  CHECK(ort_ed_model_log_z(model, &log_z, &error) == ORT_ED_OK && log_z == 1.5 && error == 0.25);
  CHECK(ort_ed_model_has_gradient(model) == 1);
  CHECK(ort_ed_model_energy_and_gradient(model, row, 1, &energy, gradient) == ORT_ED_OK);
  CHECK(energy == 1);
  for (i = 0; i < DIMENSION; ++i) CHECK(gradient[i] == (float)(i + 1));
}

static void* FailsInAnotherThread(void* unused) {
  ort_ed_model* model = NULL;
  (void)unused;
  CHECK(strcmp(ort_ed_last_error(), "") == 0);
  CHECK(ort_ed_model_load("/other.onnx", NULL, &model) == ORT_ED_IO && LastErrorHas("/other.onnx"));
  return NULL;
}

static void TestLastErrorBelongsToItsThread(void) {
  pthread_t thread;
  ort_ed_model* model = NULL;
  CHECK(ort_ed_model_load("/mine.onnx", NULL, &model) == ORT_ED_IO);
  CHECK(pthread_create(&thread, NULL, FailsInAnotherThread, NULL) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(LastErrorHas("/mine.onnx"));
}

int main(int argc, char** argv) {
  ort_ed_model* model;
  CHECK(argc == 2);
  TestVersions();
  TestLoadFailures();
  model = Load(argv[1]);
  TestScoring(model);
  TestMetadataAndGradient(model);
  TestLastErrorBelongsToItsThread();
  ort_ed_model_free(model);
  puts("all C tests passed");
  return 0;
}
