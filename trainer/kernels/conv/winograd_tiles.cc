#include "trainer/kernels/conv/winograd_tiles.h"

namespace ort_ed {
namespace {

constexpr float kG[kPatch][3] = {{1.0f / 4, 0, 0},
                                 {-1.0f / 6, -1.0f / 6, -1.0f / 6},
                                 {-1.0f / 6, 1.0f / 6, -1.0f / 6},
                                 {1.0f / 24, 1.0f / 12, 1.0f / 6},
                                 {1.0f / 24, -1.0f / 12, 1.0f / 6},
                                 {0, 0, 1}};

}  // namespace

void TransformWeights(const float* w, float* u) {
  float half[kPatch][3];
  for (size_t i = 0; i < kPatch; ++i) {
    for (size_t j = 0; j < 3; ++j) half[i][j] = kG[i][0] * w[j] + kG[i][1] * w[3 + j] + kG[i][2] * w[6 + j];
  }
  for (size_t i = 0; i < kPatch; ++i) {
    for (size_t j = 0; j < kPatch; ++j) {
      *u++ = half[i][0] * kG[j][0] + half[i][1] * kG[j][1] + half[i][2] * kG[j][2];
    }
  }
}

void TransformWeightGrad(const float* du, float* dw) {
  float half[3][kPatch] = {};
  for (size_t i = 0; i < kPatch; ++i) {
    for (size_t k = 0; k < 3; ++k) {
      for (size_t j = 0; j < kPatch; ++j) half[k][j] += kG[i][k] * du[i * kPatch + j];
    }
  }
  for (size_t k = 0; k < 3; ++k) {
    for (size_t l = 0; l < 3; ++l) {
      float sum = 0;
      for (size_t j = 0; j < kPatch; ++j) sum += half[k][j] * kG[j][l];
      *dw++ = sum;
    }
  }
}

}  // namespace ort_ed
