#include "tools/jobs/tables/column_profile.h"

#include <algorithm>

#include "ort_ed/random.h"
#include "runtime/data/table/cell_value.h"

namespace ort_ed {
namespace {

constexpr uint32_t kReservoirPurpose = 0x72657376;  // "resv"
constexpr double kMostStrays = 0.05;

uint64_t HashText(const std::string& text) {
  uint64_t hash = 0xCBF29CE484222325ULL;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  return hash ^ hash >> 29;
}

}  // namespace

void ColumnProfile::Add(const std::string& cell, bool decimal_comma) {
  const uint64_t hash = HashText(cell);
  hash_ = (hash_ ^ hash) * 0x9E3779B97F4A7C15ULL;
  hash_ ^= hash_ >> 32;
  decimal_comma_ = decimal_comma;
  ++rows_;
  if (IsMissingCell(cell)) {
    ++missing_;
    return;
  }
  if (unique_ && seen_.size() < kMostNumbers) unique_ = seen_.insert(hash).second;
  if (!unique_ && !seen_.empty()) std::unordered_set<uint64_t>().swap(seen_);
  AddText(cell);
  const CellValue value = ReadCellValue(cell, decimal_comma);
  counts_up_ &= value.type == CellValues::kInteger && (present() == 1 || value.number == last_ + 1);
  if (value.type == CellValues::kText) {
    if (untyped_++ == 0) untyped_example_ = cell;
    return;
  }
  typed_as_ = typed_ == 0 ? value.type : WidestType(typed_as_, value.type);
  ++typed_;
  AddNumber(value.number);
}

void ColumnProfile::AddText(const std::string& cell) {
  const auto found = texts_.find(cell);
  if (found != texts_.end()) {
    ++found->second;
  } else if (texts_.size() < kMostTexts && text_bytes_ + cell.size() <= kMostTextBytes) {
    texts_.emplace(cell, 1);
    text_bytes_ += cell.size();
  } else {
    too_many_texts_ = true;
  }
}

void ColumnProfile::AddNumber(double number) {
  smallest_ = typed_ == 1 ? number : std::min(smallest_, number);
  largest_ = typed_ == 1 ? number : std::max(largest_, number);
  last_ = number;
  if (numbers_.size() < kMostNumbers) {
    numbers_.push_back(number);
    return;
  }
  RandomStream random(0, kReservoirPurpose, static_cast<uint64_t>(typed_), 0);
  const auto place = static_cast<uint64_t>(random.UniformDouble() * static_cast<double>(typed_));
  if (place < numbers_.size()) numbers_[place] = number;
}

CellValues ColumnProfile::type() const {
  const bool few_strays = static_cast<double>(untyped_) <= kMostStrays * static_cast<double>(present());
  return typed_ > 0 && few_strays ? typed_as_ : CellValues::kText;
}

std::vector<double> ColumnProfile::SortedNumbers() const {
  std::vector<double> sorted = numbers_;
  std::ranges::sort(sorted);
  return sorted;
}

}  // namespace ort_ed
