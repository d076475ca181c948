// Scores two rows with the model given on the command line, uses the sampler library, and catches errors by
// type.
#include <cstdio>
#include <vector>

#include <ort_ed/energy_model.h>
#include <ort_ed/error.h>
#include <ort_ed/sampler.h>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto model = ort_ed::EnergyModel::FromFile(argv[1], {.threads = 1});
  std::vector<float> rows(2 * static_cast<size_t>(model.dimension()));
  rows[0] = rows[2] = 1;
  std::vector<float> energies(2);
  model.Energy(rows, energies);
  std::printf("%g %g\n", energies[0], energies[1]);
  if (ort_ed::Samplers().empty()) return 1;
  try {
    rows[0] = 3;
    model.Energy(rows, energies);
  } catch (const ort_ed::Error& error) {
    return error.code() == ort_ed::ErrorCode::kBadData ? 0 : 1;
  }
  return 1;
}
