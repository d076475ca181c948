#include "trainer/kernels/native/scratch.h"

#include <array>
#include <new>

namespace ort_ed {
namespace {

constexpr std::align_val_t kAlign{AlignedBuffer::kAlignment};

struct Piece {
  std::byte* data = nullptr;
  size_t bytes = 0;
};

class KeptPieces {
 public:
  ~KeptPieces() {
    for (Piece& piece : pieces_) Free(piece);
  }

  static void Free(Piece& piece) {
    ::operator delete(piece.data, kAlign);
    piece = {};
  }

  // The smallest that is large enough, but not larger than twice the need.
  Piece Take(size_t bytes) {
    Piece* best = nullptr;
    for (Piece& piece : pieces_) {
      if (piece.bytes < bytes || piece.bytes / 2 > bytes) continue;
      if (!best || piece.bytes < best->bytes) best = &piece;
    }
    return best ? std::exchange(*best, {}) : Piece{};
  }

  // In place of the one that was kept longest.
  void Keep(Piece piece) {
    Free(pieces_[next_]);
    pieces_[next_] = piece;
    next_ = (next_ + 1) % pieces_.size();
  }

 private:
  std::array<Piece, 8> pieces_;
  size_t next_ = 0;
};

thread_local KeptPieces kept_pieces;

}  // namespace

AlignedBuffer::AlignedBuffer(size_t bytes) {
  Piece piece = kept_pieces.Take(bytes);
  if (!piece.data) piece = {static_cast<std::byte*>(::operator new(bytes, kAlign)), bytes};
  data_ = piece.data;
  bytes_ = piece.bytes;
}

AlignedBuffer::~AlignedBuffer() {
  if (data_) kept_pieces.Keep({data_, bytes_});
}

}  // namespace ort_ed
