#include "ort_ed/energy_model.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "ort_ed/error.h"
#include "runtime/energy_session.h"
#include "runtime/initialisers.h"
#include "runtime/rows.h"
#include "runtime/support/encoding/base64.h"
#include "runtime/support/files/read_file.h"
#include "runtime/support/parallel_for.h"
#include "runtime/support/scratch_pool.h"

namespace ort_ed {
namespace {

// Rows of one call where the caller does not say: enough to keep the matrix products efficient, few enough
// that input and activations of common networks stay in the cache and that threads have a share each.
int64_t BatchRows(int64_t requested, int64_t dimension) {
  if (requested < 0) throw Error(ErrorCode::kInvalidArgument, "the rows of a batch must not be negative");
  constexpr int64_t kMostBytes = std::numeric_limits<int64_t>::max();
  if (requested > kMostBytes / static_cast<int64_t>(sizeof(float)) / dimension)
    throw Error(ErrorCode::kInvalidArgument,
                "a batch of " + std::to_string(requested) + " rows is more than memory can hold; use fewer");
  if (requested > 0) return requested;
  constexpr int64_t kValues = 1 << 12;
  return std::clamp<int64_t>(kValues / dimension, 32, 256);
}

bool OnCpu(const Device& device) { return device.provider == "cpu"; }

void CheckAgainstDimension(const ModelMetadata& metadata, int64_t dimension, const std::string& name) {
  const auto mismatch = [&](const char* key, int64_t extent) {
    throw Error(ErrorCode::kBadModel, "the metadata entry '" + std::string(key) + "' of '" + name +
                                          "' is for " + std::to_string(extent) +
                                          " variables, its input has " + std::to_string(dimension));
  };
  if (metadata.dimension && *metadata.dimension != dimension)
    mismatch(metadata_key::kDimension, *metadata.dimension);
  if (metadata.image_shape && (*metadata.image_shape)[0] * (*metadata.image_shape)[1] != dimension)
    mismatch(metadata_key::kImageShape, (*metadata.image_shape)[0] * (*metadata.image_shape)[1]);
  if (metadata.base && metadata.base->view) {
    const ViewDescription& view = *metadata.base->view;
    if (view.height * view.width != dimension) mismatch(metadata_key::kBaseView, view.height * view.width);
  }
  if (!metadata.base_mean.empty() && std::ssize(metadata.base_mean) != dimension)
    mismatch(metadata_key::kBaseMean, std::ssize(metadata.base_mean));
  if (metadata.variables && metadata.variables->dimension() != dimension)
    mismatch(metadata_key::kVariables, metadata.variables->dimension());
  if (!metadata.base) return;
  const int64_t variables = metadata.variables ? metadata.variables->size() : dimension;
  for (const std::vector<int64_t>& order : metadata.base->orders)
    if (!order.empty() && std::ssize(order) != variables)
      throw Error(ErrorCode::kBadModel, "the metadata entry '" + std::string(metadata_key::kBaseOrder) +
                                            "' of '" + name + "' is for " + std::to_string(order.size()) +
                                            " variables, the model has " + std::to_string(variables));
}

void CheckSizes(size_t values, size_t per_row, size_t energies) {
  if (values % per_row == 0 && values / per_row == energies) return;
  throw Error(ErrorCode::kInvalidArgument,
              std::to_string(values) + " values are not " + std::to_string(energies) + " rows of " +
                  std::to_string(per_row) + ": one energy for each row is needed");
}

[[noreturn]] void ThrowNotBinary(size_t index, size_t dimension, const std::string& value) {
  throw Error(ErrorCode::kBadData, "the value in row " + std::to_string(index / dimension) + ", column " +
                                       std::to_string(index % dimension) + " (both from 0) is " + value +
                                       "; only 0 and 1 are allowed");
}

// `first_row`: the number of the first of the rows, from 0.
void CheckVariables(const Variables& variables, std::span<const float> rows, size_t first_row) {
  if (variables.all_binary()) return;
  const auto dimension = static_cast<size_t>(variables.dimension());
  for (size_t row = 0; row < rows.size() / dimension; ++row) {
    const auto values = rows.subspan(row * dimension, dimension);
    if (const auto broken = variables.FindBroken(values))
      throw Error(ErrorCode::kBadData, "in row " + std::to_string(first_row + row) + " (from 0) " +
                                           variables.DescribeBroken(values, *broken));
  }
}

}  // namespace

struct EnergyModel::Impl {
  // `path` is where external data is looked for; empty for a model that was never a file.
  Impl(std::vector<std::byte> bytes, const LoadOptions& load_options, std::string model_name,
       std::string path)
      : options(load_options),
        name(std::move(model_name)),
        file(std::move(path)),
        threads(OnCpu(options.device) ? ThreadCount(options.threads) : 1),
        session(bytes, options.device, ThreadsOfSessions(), name, file),
        dimension(static_cast<size_t>(session.dimension())),
        batch(static_cast<size_t>(BatchRows(options.batch_rows, session.dimension()))) {
    const auto entries = session.Metadata();
    metadata = ParseMetadata(entries);
    CheckAgainstDimension(metadata, session.dimension(), name);
    if (metadata.base) base_tensors = ReadInitialisers(bytes, kBaseTensorPrefix);
    variables = metadata.variables.value_or(Variables::Binary(session.dimension()));
    if (const auto fragment = entries.find(metadata_key::kGradientFragment); fragment != entries.end())
      KeepWithGradient(std::move(bytes), fragment->second);
  }

  // Protobuf merges concatenated messages: the model followed by the fragment is the model with gradient.
  void KeepWithGradient(std::vector<std::byte> bytes, const std::string& fragment) {
    const auto decoded = Base64Decode(fragment);
    if (!decoded)
      throw Error(ErrorCode::kBadModel, "the gradient stored in '" + name + "' is damaged; export it again");
    has_gradient = true;
    gradient_bytes = std::move(bytes);
    gradient_bytes.insert(gradient_bytes.end(), decoded->begin(), decoded->end());
  }

  // Opened by the first call, so that plain scoring does not pay for it.
  const EnergySession& GradientSession() {
    if (!has_gradient)
      throw Error(
          ErrorCode::kInvalidArgument,
          "'" + name + "' was exported without its gradient; export it with `ort-ed export --with-gradient`");
    // Not std::call_once: where it is made of pthread_once, an exception leaves it locked.
    const std::lock_guard lock(gradient_mutex);
    if (!gradient_session) {
      gradient_session = std::make_unique<EnergySession>(gradient_bytes, options.device, ThreadsOfSessions(),
                                                         name, file, true);
      gradient_bytes = {};
    }
    return *gradient_session;
  }

  // On the CPU batches are scored side by side, one thread each: no thread waits for another between two
  // operators, and none spins between two calls.
  int ThreadsOfSessions() const { return OnCpu(options.device) ? 1 : options.threads; }

  // What the caller wants to be under way at once is shared among the threads; the library's own choice does
  // not depend on them, so that no energy does.
  size_t ShareBatch(size_t rows) const {
    if (options.batch_rows == 0) return batch;
    const size_t at_once = std::clamp<size_t>(rows, 1, batch), sharers = static_cast<size_t>(threads);
    return (at_once + sharers - 1) / sharers;
  }

  // Calls part(first row, rows) for each batch, on several threads where that is worth it.
  template <typename Part>
  void ForEachBatch(size_t rows, Part&& part) {
    const size_t size = ShareBatch(rows);
    const auto batches = static_cast<int64_t>(rows / size + (rows % size != 0));
    const auto run = [&](int64_t index) {
      const size_t first = static_cast<size_t>(index) * size, count = std::min(size, rows - first);
      const auto start = std::chrono::steady_clock::now();
      part(first, count);
      const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
      row_nanoseconds = time.count() / static_cast<double>(count);
    };
    // The first batch of all tells what the others will take.
    const int64_t alone = row_nanoseconds == 0 && batches > 1 ? 1 : 0;
    if (alone > 0) run(0);
    const double work = static_cast<double>(rows) * row_nanoseconds;
    ParallelFor(threads, batches - alone, work, [&](int64_t index) { run(index + alone); });
  }

  // Scores rows that must be converted to float first: convert(first row, rows, floats).
  template <typename Convert>
  void ScoreConverted(std::span<float> energies, Convert&& convert) {
    ForEachBatch(energies.size(), [&](size_t first, size_t rows) {
      ScratchPool::Lease floats(scratch, rows * dimension);
      convert(first, rows, floats.data());
      CheckVariables(variables, {floats.data(), rows * dimension}, first);
      session.Run(floats.data(), static_cast<int64_t>(rows), &energies[first]);
    });
  }

  LoadOptions options;
  std::string name;
  std::string file;
  int threads;
  EnergySession session;
  size_t dimension;
  size_t batch;
  ScratchPool scratch;
  std::atomic<double> row_nanoseconds{0};  // what a row lately took
  ModelMetadata metadata;
  std::map<std::string, std::vector<float>> base_tensors;  // by name without their prefix
  Variables variables;
  bool has_gradient = false;
  std::vector<std::byte> gradient_bytes;  // until the gradient session is open
  std::mutex gradient_mutex;
  std::unique_ptr<EnergySession> gradient_session;
};

EnergyModel::EnergyModel(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

EnergyModel EnergyModel::FromFile(const std::string& path, const LoadOptions& options) {
  return EnergyModel(std::make_shared<Impl>(ReadFile(path, "model"), options, path, path));
}

EnergyModel EnergyModel::FromMemory(std::span<const std::byte> bytes, const LoadOptions& options,
                                    const std::string& name, const std::string& path) {
  return EnergyModel(
      std::make_shared<Impl>(std::vector<std::byte>(bytes.begin(), bytes.end()), options, name, path));
}

int64_t EnergyModel::dimension() const { return impl_->session.dimension(); }
const ModelMetadata& EnergyModel::metadata() const { return impl_->metadata; }
const Variables& EnergyModel::variables() const { return impl_->variables; }
const Device& EnergyModel::device() const { return impl_->options.device; }
int64_t EnergyModel::RowsAtOnce() const {
  return OnCpu(device()) ? static_cast<int64_t>(impl_->ShareBatch(impl_->batch)) : 0;
}
bool EnergyModel::HasGradient() const { return impl_->has_gradient; }

const std::vector<float>& EnergyModel::BaseTensor(const std::string& name) const {
  const auto found = impl_->base_tensors.find(name);
  if (found != impl_->base_tensors.end()) return found->second;
  throw Error(ErrorCode::kBadModel, "'" + impl_->name + "' lacks the tensor '" + kBaseTensorPrefix + name +
                                        "' of its base distribution, or keeps it in another file");
}

void EnergyModel::EnergyUnchecked(std::span<const float> rows, std::span<float> energies) const {
  const size_t dimension = impl_->dimension;
  CheckSizes(rows.size(), dimension, energies.size());
  impl_->ForEachBatch(energies.size(), [&](size_t first, size_t count) {
    impl_->session.Run(&rows[first * dimension], static_cast<int64_t>(count), &energies[first]);
  });
}

void EnergyModel::Energy(std::span<const float> rows, std::span<float> energies) const {
  const size_t dimension = impl_->dimension;
  CheckSizes(rows.size(), dimension, energies.size());
  impl_->ForEachBatch(energies.size(), [&](size_t first, size_t count) {
    const auto values = rows.subspan(first * dimension, count * dimension);
    if (!AreBinary(values.data(), values.size())) {
      const auto bad = std::ranges::find_if(values, [](float v) { return v != 0.0f && v != 1.0f; });
      ThrowNotBinary(first * dimension + static_cast<size_t>(bad - values.begin()), dimension,
                     std::to_string(*bad));
    }
    CheckVariables(impl_->variables, values, first);
    impl_->session.Run(values.data(), static_cast<int64_t>(count), &energies[first]);
  });
}

void EnergyModel::Energy(std::span<const uint8_t> rows, std::span<float> energies) const {
  const size_t dimension = impl_->dimension;
  CheckSizes(rows.size(), dimension, energies.size());
  impl_->ScoreConverted(energies, [&](size_t first, size_t count, float* floats) {
    const auto values = rows.subspan(first * dimension, count * dimension);
    if (Widen(values.data(), values.size(), floats)) return;
    const auto bad = std::ranges::find_if(values, [](uint8_t v) { return v > 1; });
    ThrowNotBinary(first * dimension + static_cast<size_t>(bad - values.begin()), dimension,
                   std::to_string(*bad));
  });
}

void EnergyModel::EnergyPacked(std::span<const uint8_t> rows, std::span<float> energies) const {
  const auto row_bytes = static_cast<size_t>(PackedRowBytes());
  CheckSizes(rows.size(), row_bytes, energies.size());
  impl_->ScoreConverted(energies, [&](size_t first, size_t count, float* floats) {
    const uint8_t* packed = &rows[first * row_bytes];
    if (Unpack(packed, count, impl_->dimension, floats)) return;
    size_t row = 0;
    while (Unpack(packed + row * row_bytes, 1, impl_->dimension, floats)) ++row;
    throw Error(ErrorCode::kBadData,
                "row " + std::to_string(first + row) + " (from 0) of the packed bits has ones behind its " +
                    std::to_string(impl_->dimension) + " values; was it packed with another width?");
  });
}

void EnergyModel::LogLikelihood(std::span<const float> energies, std::span<double> log_likelihoods) const {
  if (!HasLogZ())
    throw Error(ErrorCode::kInvalidArgument, "'" + impl_->name +
                                                 "' carries no log Z, so it has energies but no likelihoods; "
                                                 "estimate it with `ort-ed logz --write`");
  CheckSizes(log_likelihoods.size(), 1, energies.size());
  const double log_z = impl_->metadata.log_z->value;
  std::ranges::transform(energies, log_likelihoods.begin(), [&](float energy) { return -energy - log_z; });
}

void EnergyModel::EnergyAndGradient(std::span<const float> rows, std::span<float> energies,
                                    std::span<float> gradients) const {
  const size_t dimension = impl_->dimension;
  CheckSizes(rows.size(), dimension, energies.size());
  CheckSizes(gradients.size(), dimension, energies.size());
  const EnergySession& session = impl_->GradientSession();
  impl_->ForEachBatch(energies.size(), [&](size_t first, size_t count) {
    session.Run(&rows[first * dimension], static_cast<int64_t>(count), &energies[first],
                &gradients[first * dimension]);
  });
}

}  // namespace ort_ed
