// Sequences of calls of the C interface: each byte is a call, the bytes behind it are its arguments. The
// model is one of corpus/gate, with some of its bytes changed where the sequence says so.
#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "ort_ed/c_api.h"
#include "ort_ed/sampler_c_api.h"

namespace {

constexpr int64_t kMostRows = 4, kMostCalls = 16;

std::string ReadModel() {
  std::ifstream file(ORT_ED_FUZZ_MODEL, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Session {
 public:
  Session(const uint8_t* bytes, size_t size) : next_(bytes), end_(bytes + size) {}
  ~Session() {
    ort_ed_chains_free(chains_);
    ort_ed_options_free(options_);
    FreeModel();
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void Run() {
    for (int64_t calls = 0; next_ < end_ && calls < kMostCalls; ++calls) Call(Byte() % 12);
  }

 private:
  uint8_t Byte() { return next_ < end_ ? *next_++ : 0; }
  int64_t Count() { return static_cast<int64_t>(Byte() % (kMostRows + 2)) - 1; }  // -1 to kMostRows
  std::string Text() {
    const auto size = std::min<size_t>(Byte() % 16, static_cast<size_t>(end_ - next_));
    const std::string text(next_, next_ + size);
    next_ += size;
    return text;
  }
  int64_t Values() const { return kMostRows * (model_ != nullptr ? ort_ed_model_dimension(model_) : 1); }
  template <typename T>
  std::vector<T> Rows() {
    std::vector<T> rows(static_cast<size_t>(Values()));
    for (T& value : rows) value = static_cast<T>(Byte() % 3);
    return rows;
  }

  static ort_ed_model* LoadMemory(const std::string& bytes, int64_t batch_rows) {
    ort_ed_load_options options = ORT_ED_LOAD_OPTIONS_INIT;
    options.threads = 1;
    options.batch_rows = batch_rows;
    ort_ed_model* model = nullptr;
    ort_ed_model_load_memory(bytes.data(), bytes.size(), &options, &model);
    return model;
  }

  // Loading takes a hundred times as long as all the calls: the model as it was is loaded once.
  static ort_ed_model* Unchanged(int64_t batch_rows) {
    static auto* const models = new std::map<int64_t, ort_ed_model*>;  // never destroyed: nor are the models
    const auto [model, is_new] = models->try_emplace(batch_rows);
    if (is_new) model->second = LoadMemory(Original(), batch_rows);
    return model->second;
  }

  static const std::string& Original() {
    static const std::string original = ReadModel();
    return original;
  }

  void Load() {
    ort_ed_chains_free(chains_);
    chains_ = nullptr;
    FreeModel();
    std::string bytes = Original();
    const uint8_t how = Byte();
    const int changes = how < 240 ? 0 : how % 4;
    for (int change = 0; change < changes; ++change) {
      const size_t place = (Byte() * size_t{256} + Byte()) % bytes.size();
      bytes[place] = static_cast<char>(Byte());
    }
    is_own_ = changes > 0;
    model_ = is_own_ ? LoadMemory(bytes, Count()) : Unchanged(Count());
  }

  void FreeModel() {
    if (is_own_) ort_ed_model_free(model_);
    model_ = nullptr;
  }

  void Start() {
    ort_ed_chains_free(chains_);
    const std::vector<uint8_t> states = Rows<uint8_t>(), clamped = Rows<uint8_t>();
    const uint8_t how = Byte();
    ort_ed_chains_start_by_name(model_, Count(), how & 1 ? states.data() : nullptr,
                                how & 2 ? clamped.data() : nullptr, how & 4 ? options_ : nullptr, &chains_);
  }

  void SetOption() {
    static constexpr std::array kKeys = {"sampler", "flips", "beta", "inner", "temperatures", "step_size"};
    if (options_ == nullptr) options_ = ort_ed_options_new();
    const uint8_t key = Byte() % (kKeys.size() + 1);
    const std::string own = Text(), value = Text();
    ort_ed_options_set(options_, key < kKeys.size() ? kKeys[key] : own.c_str(), value.c_str());
  }

  void Call(int number) {
    std::vector<float> energies(kMostRows), gradients(static_cast<size_t>(Values()));
    std::vector<double> doubles(kMostRows);
    std::vector<uint8_t> states(static_cast<size_t>(Values()));
    double value = 0;
    ort_ed_log_z_estimate estimate;
    switch (number) {
      case 0:
        return Load();
      case 1:
        ort_ed_model_energy_uint8(model_, Rows<uint8_t>().data(), Count(), energies.data());
        break;
      case 2:
        ort_ed_model_energy_float(model_, Rows<float>().data(), Count(), energies.data());
        break;
      case 3:
        ort_ed_model_energy_packed(model_, Rows<uint8_t>().data(), Count(), energies.data());
        break;
      case 4:
        ort_ed_model_energy_and_gradient(model_, Rows<float>().data(), Count(), energies.data(),
                                         gradients.data());
        break;
      case 5:
        ort_ed_model_log_z(model_, &value, nullptr);
        break;
      case 6:
        ort_ed_model_log_likelihood(model_, energies.data(), Count(), doubles.data());
        break;
      case 7:
        return SetOption();
      case 8:
        return Start();
      case 9:
        ort_ed_chains_step(chains_, Count());
        break;
      case 10:
        ort_ed_chains_read(chains_, nullptr, nullptr);
        break;
      case 11:
        ort_ed_log_z_ais(model_, Count(), Count(), nullptr, &estimate);
        break;
    }
  }

  const uint8_t* next_;
  const uint8_t* end_;
  ort_ed_model* model_ = nullptr;
  bool is_own_ = false;
  ort_ed_options* options_ = nullptr;
  ort_ed_chains* chains_ = nullptr;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  Session(bytes, size).Run();
  return 0;
}
