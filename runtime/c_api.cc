#include "ort_ed/c_api.h"

#include <cstddef>
#include <memory>

#include "runtime/support/c_api_support.h"
#include "runtime/support/version.h"

namespace ort_ed {
namespace {

static_assert(ORT_ED_INVALID_ARGUMENT == static_cast<int>(ErrorCode::kInvalidArgument));
static_assert(ORT_ED_BAD_MODEL == static_cast<int>(ErrorCode::kBadModel));
static_assert(ORT_ED_BAD_DATA == static_cast<int>(ErrorCode::kBadData));
static_assert(ORT_ED_IO == static_cast<int>(ErrorCode::kIo));
static_assert(ORT_ED_DEVICE == static_cast<int>(ErrorCode::kDevice));
static_assert(ORT_ED_RUNTIME == static_cast<int>(ErrorCode::kRuntime));
static_assert(ORT_ED_INTERRUPTED == static_cast<int>(ErrorCode::kInterrupted));

std::string& LastError() {
  thread_local std::string message;
  return message;
}

LoadOptions ReadOptions(const ort_ed_load_options* given) {
  constexpr size_t kFirstSize = offsetof(ort_ed_load_options, batch_rows) + sizeof(int64_t);
  const auto known = KnownOptions<ort_ed_load_options>(given, ORT_ED_LOAD_OPTIONS_INIT, kFirstSize,
                                                       "ORT_ED_LOAD_OPTIONS_INIT");
  LoadOptions options;
  if (known.device != nullptr) options.device = ParseDevice(known.device);
  options.threads = known.threads;
  options.batch_rows = known.batch_rows;
  return options;
}

template <typename Load>
ort_ed_status LoadWith(ort_ed_model** model, Load&& load) {
  return Guarded([&] {
    RequireNotNull(model, "model");
    *model = nullptr;
    *model = new ort_ed_model{load()};
  });
}

// Scores rows of `width` elements each with `score`.
template <typename T, typename Score>
ort_ed_status ScoreWith(const ort_ed_model* model, const T* rows, int64_t count, float* energies,
                        int64_t (EnergyModel::*width)() const, Score&& score) {
  return Guarded([&] {
    RequireNotNull(model, "model");
    score(ArrayArgument(rows, count, (model->model.*width)(), "rows"),
          ArrayArgument(energies, count, 1, "energies"));
  });
}

}  // namespace

ort_ed_status SetLastError(ort_ed_status status, const char* message) noexcept {
  try {
    LastError() = message;
  } catch (...) {
    LastError().clear();
  }
  return status;
}

}  // namespace ort_ed

using namespace ort_ed;

int ort_ed_c_api_version(void) { return ORT_ED_C_API_VERSION; }

const char* ort_ed_version(void) { return kVersion; }

const char* ort_ed_onnxruntime_version(void) {
  static const std::string version = OnnxRuntimeVersion();
  return version.c_str();
}

const char* ort_ed_last_error(void) { return LastError().c_str(); }

ort_ed_status ort_ed_model_load(const char* path, const ort_ed_load_options* options, ort_ed_model** model) {
  return LoadWith(model, [&] {
    RequireNotNull(path, "path");
    return EnergyModel::FromFile(path, ReadOptions(options));
  });
}

ort_ed_status ort_ed_model_load_memory(const void* bytes, size_t size, const ort_ed_load_options* options,
                                       ort_ed_model** model) {
  return LoadWith(model, [&] {
    RequireNotNull(bytes, "bytes");
    return EnergyModel::FromMemory({static_cast<const std::byte*>(bytes), size}, ReadOptions(options));
  });
}

void ort_ed_model_free(ort_ed_model* model) { delete model; }

int64_t ort_ed_model_dimension(const ort_ed_model* model) {
  return model == nullptr ? 0 : model->model.dimension();
}

int64_t ort_ed_model_packed_row_bytes(const ort_ed_model* model) {
  return model == nullptr ? 0 : model->model.PackedRowBytes();
}

const char* ort_ed_model_metadata(const ort_ed_model* model, const char* key) {
  const char* found = nullptr;
  Guarded([&] {
    RequireNotNull(model, "model");
    RequireNotNull(key, "key");
    const auto& entries = model->model.metadata().raw;
    if (const auto entry = entries.find(key); entry != entries.end()) found = entry->second.c_str();
  });
  return found;
}

ort_ed_status ort_ed_model_energy_float(const ort_ed_model* model, const float* rows, int64_t count,
                                        float* energies) {
  return ScoreWith(model, rows, count, energies, &EnergyModel::dimension,
                   [&](std::span<const float> x, std::span<float> u) { model->model.Energy(x, u); });
}

ort_ed_status ort_ed_model_energy_uint8(const ort_ed_model* model, const uint8_t* rows, int64_t count,
                                        float* energies) {
  return ScoreWith(model, rows, count, energies, &EnergyModel::dimension,
                   [&](std::span<const uint8_t> x, std::span<float> u) { model->model.Energy(x, u); });
}

ort_ed_status ort_ed_model_energy_packed(const ort_ed_model* model, const uint8_t* rows, int64_t count,
                                         float* energies) {
  return ScoreWith(model, rows, count, energies, &EnergyModel::PackedRowBytes,
                   [&](std::span<const uint8_t> x, std::span<float> u) { model->model.EnergyPacked(x, u); });
}

ort_ed_status ort_ed_model_log_z(const ort_ed_model* model, double* value, double* standard_error) {
  return Guarded([&] {
    RequireNotNull(model, "model");
    const auto& log_z = model->model.metadata().log_z;
    if (!log_z) throw Error(ErrorCode::kInvalidArgument, "the model carries no log Z");
    if (value != nullptr) *value = log_z->value;
    if (standard_error != nullptr) *standard_error = log_z->standard_error;
  });
}

ort_ed_status ort_ed_model_log_likelihood(const ort_ed_model* model, const float* energies, int64_t count,
                                          double* log_likelihoods) {
  return Guarded([&] {
    RequireNotNull(model, "model");
    model->model.LogLikelihood(ArrayArgument(energies, count, 1, "energies"),
                               ArrayArgument(log_likelihoods, count, 1, "log_likelihoods"));
  });
}

int ort_ed_model_has_gradient(const ort_ed_model* model) {
  return model != nullptr && model->model.HasGradient() ? 1 : 0;
}

ort_ed_status ort_ed_model_energy_and_gradient(const ort_ed_model* model, const float* rows, int64_t count,
                                               float* energies, float* gradients) {
  return Guarded([&] {
    RequireNotNull(model, "model");
    const int64_t dimension = model->model.dimension();
    model->model.EnergyAndGradient(ArrayArgument(rows, count, dimension, "rows"),
                                   ArrayArgument(energies, count, 1, "energies"),
                                   ArrayArgument(gradients, count, dimension, "gradients"));
  });
}
