/* Scores two rows with the model given on the command line. */
#include <ort_ed/c_api.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  ort_ed_model* model = NULL;
  float energies[2];
  uint8_t* rows;
  if (argc != 2) return 2;
  if (ort_ed_model_load(argv[1], NULL, &model) != ORT_ED_OK) {
    fprintf(stderr, "%s\n", ort_ed_last_error());
    return 1;
  }
  rows = calloc(2, (size_t)ort_ed_model_dimension(model));
  rows[0] = rows[2] = 1;
  if (ort_ed_model_energy_uint8(model, rows, 2, energies) != ORT_ED_OK) {
    fprintf(stderr, "%s\n", ort_ed_last_error());
    return 1;
  }
  printf("%g %g\n", energies[0], energies[1]);
  free(rows);
  ort_ed_model_free(model);
  return 0;
}
