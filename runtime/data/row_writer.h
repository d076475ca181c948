#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace ort_ed {

// A file of rows written as they come, in constant memory. The file appears with Commit(); destroyed without
// it nothing is left behind. Errors throw kIo and name the file.
template <typename T>
class RowWriter {
 public:
  virtual ~RowWriter() = default;
  virtual void Write(std::span<const T> rows) = 0;  // any number of whole rows
  virtual void Commit() = 0;
};

struct RowFileOptions {
  int64_t columns = 1;
  bool vector = false;                  // .npy of one column as a 1-D array
  std::vector<std::string> names = {};  // header of .csv and .tsv; empty: none
  char separator = ',';                 // of .csv and the standard output
};

// The format is told by the name: .npy (uint8 and float32, 2-D unless `vector`), .bits.npy (0/1 rows packed
// as numpy.packbits(axis=1) packs them; bits only), .csv, .tsv; "-" is CSV on the standard output. Another
// name throws kInvalidArgument.
std::unique_ptr<RowWriter<uint8_t>> CreateBitFile(const std::string& path, const RowFileOptions& options);
std::unique_ptr<RowWriter<float>> CreateFloatFile(const std::string& path, const RowFileOptions& options);

}  // namespace ort_ed
