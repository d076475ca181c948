#include "trainer/collective/tree_sum.h"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "trainer/collective/shares.h"

namespace ort_ed {
namespace {

void AddTo(std::span<float> sum, const float* values) {
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += values[i];
}

}  // namespace

// The left one is a whole tree, whatever the number of shards.
int64_t TreeSum::Branch::middle() const {
  return first + static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(end - first - 1)));
}

TreeSum::Branch TreeSum::OwnShards(int rank) const {
  const Share share = ShareOf(rank, processes_.size(), shards_);
  return {share.first, share.first + share.count};
}

std::vector<TreeSum::Branch> TreeSum::BranchesOf(int rank) const {
  std::vector<Branch> found;
  Collect({0, shards_}, OwnShards(rank), found);
  return found;
}

void TreeSum::Collect(const Branch& branch, const Branch& shards, std::vector<Branch>& found) const {
  if (branch.end <= shards.first || shards.end <= branch.first) return;
  if (shards.first <= branch.first && branch.end <= shards.end) {
    found.push_back(branch);
    return;
  }
  Collect({branch.first, branch.middle()}, shards, found);
  Collect({branch.middle(), branch.end}, shards, found);
}

void TreeSum::SumBranch(const Branch& branch, const Compute& compute, std::span<float> sum) {
  if (branch.end - branch.first == 1) return compute(branch.first, sum);
  SumBranch({branch.first, branch.middle()}, compute, sum);
  std::vector<float> right(sum.size());
  SumBranch({branch.middle(), branch.end}, compute, right);
  AddTo(sum, right.data());
}

void TreeSum::SumParts(const Branch& branch, const std::vector<Branch>& branches,
                       std::span<const float* const> parts, std::span<float> sum) const {
  const auto found = std::ranges::find_if(
      branches, [&](const Branch& each) { return each.first == branch.first && each.end == branch.end; });
  if (found != branches.end()) {
    std::copy_n(parts[static_cast<size_t>(found - branches.begin())], sum.size(), sum.begin());
    return;
  }
  SumParts({branch.first, branch.middle()}, branches, parts, sum);
  std::vector<float> right(sum.size());
  SumParts({branch.middle(), branch.end}, branches, parts, right);
  AddTo(sum, right.data());
}

void TreeSum::Sum(const Compute& compute, std::span<float> total) {
  if (processes_.size() == 1) return SumBranch({0, shards_}, compute, total);
  std::vector<std::vector<float>> sums;
  for (const Branch& branch : BranchesOf(processes_.rank()))
    SumBranch(branch, compute, sums.emplace_back(total.size()));
  Exchange(sums, total);
}

void TreeSum::Exchange(const std::vector<std::vector<float>>& sums, std::span<float> total) {
  const int size = processes_.size(), rank = processes_.rank();
  const auto part_of = [&](int of) { return ShareOf(of, size, std::ssize(total)); };
  const Share own = part_of(rank);
  std::vector<std::vector<float>> sent(static_cast<size_t>(size)), received(static_cast<size_t>(size));
  std::vector<std::span<const std::byte>> outgoing;
  std::vector<std::span<std::byte>> incoming;
  std::vector<Branch> branches;
  for (int other = 0; other < size; ++other) {
    const Share part = part_of(other);
    for (const std::vector<float>& sum : sums)
      sent[other].insert(sent[other].end(), sum.begin() + part.first, sum.begin() + part.first + part.count);
    const std::vector<Branch> theirs = BranchesOf(other);
    branches.insert(branches.end(), theirs.begin(), theirs.end());
    received[other].resize(theirs.size() * static_cast<size_t>(own.count));
    outgoing.push_back(std::as_bytes(std::span(sent[other])));
    incoming.push_back(std::as_writable_bytes(std::span(received[other])));
  }
  processes_.Exchange(outgoing, incoming);
  std::vector<const float*> parts;
  for (const std::vector<float>& of_one : received)
    for (int64_t at = 0; at < std::ssize(of_one); at += own.count) parts.push_back(of_one.data() + at);
  if (own.count == 0) parts.assign(branches.size(), nullptr);
  const std::span<float> summed = total.subspan(own.first, own.count);
  SumParts({0, shards_}, branches, parts, summed);

  // Now everyone's part to all.
  const std::vector<float> mine(summed.begin(), summed.end());
  for (int other = 0; other < size; ++other) {
    const Share part = part_of(other);
    outgoing[other] = std::as_bytes(std::span(mine));
    incoming[other] = std::as_writable_bytes(total.subspan(part.first, part.count));
  }
  processes_.Exchange(outgoing, incoming);
}

}  // namespace ort_ed
