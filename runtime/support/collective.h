#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace ort_ed {

// The processes that do one job together, each of which runs the same program. What one of them does here all
// do, in the same order, or all wait. How work is cut never depends on how many they are.
class Collective {
 public:
  virtual ~Collective() = default;

  virtual int rank() const = 0;  // from 0
  virtual int size() const = 0;

  virtual void Barrier() = 0;

  // The bytes of `root` for everyone; all give room for as many.
  virtual void Broadcast(std::span<std::byte> bytes, int root) = 0;

  // What every process gives, by rank; each may give another number of bytes.
  virtual std::vector<std::string> Gather(std::string_view mine) = 0;

  // outgoing[r] goes to process r, incoming[r] comes from it. Both know the sizes beforehand.
  virtual void Exchange(std::span<const std::span<const std::byte>> outgoing,
                        std::span<const std::span<std::byte>> incoming) = 0;

  // Whether it is so anywhere.
  bool Any(bool here);

  // What the first process gives: clocks and files are its own.
  template <typename T>
  T FromFirst(T mine) {
    static_assert(std::is_trivially_copyable_v<T>);
    Broadcast(std::as_writable_bytes(std::span(&mine, 1)), 0);
    return mine;
  }
};

// A process on its own.
class OneProcess final : public Collective {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void Barrier() override {}
  void Broadcast(std::span<std::byte>, int) override {}
  std::vector<std::string> Gather(std::string_view mine) override { return {std::string(mine)}; }
  void Exchange(std::span<const std::span<const std::byte>> outgoing,
                std::span<const std::span<std::byte>> incoming) override;
};

// Where nothing is said of others.
Collective& Alone();

}  // namespace ort_ed
