#pragma once

#include <cmath>
#include <functional>
#include <map>
#include <numbers>
#include <string>

#include "runtime/data/gray_code.h"

namespace ort_ed::planar_truth {

// The densities of runtime/data/planar.h worked out by hand, independently of how they are drawn: mixtures
// over a parameter of the curve are integrated numerically.

inline constexpr double kPi = std::numbers::pi;

inline double Gaussian(double dx, double dy, double deviation) {
  const double variance = deviation * deviation;
  return std::exp(-(dx * dx + dy * dy) / (2 * variance)) / (2 * kPi * variance);
}

// Mean of f over [from, to], by the midpoint rule.
template <typename F>
double Mean(double from, double to, int nodes, F f) {
  double sum = 0;
  for (int i = 0; i < nodes; ++i) sum += f(from + (to - from) * (i + 0.5) / nodes);
  return sum / nodes;
}

// A uniform number of width `width` above `start`, plus Gaussian noise.
inline double SmoothBox(double x, double start, double width, double deviation) {
  const auto below = [&](double edge) {
    return 0.5 * std::erf((x - edge) / deviation / std::numbers::sqrt2);
  };
  return (below(start) - below(start + width)) / width;
}

inline double TwoSpirals(PlanarPoint p) {
  return Mean(0, 3 * kPi, 400, [&](double t) {
    const double density_of_t = 2 * t / (3 * kPi);  // relative to the uniform one
    double sides = 0;
    for (const double side : {1.0, -1.0})
      sides += 0.5 * SmoothBox(side * p.x, -std::cos(t) * t / 3, 0.5 / 3, 0.1) *
               SmoothBox(side * p.y, std::sin(t) * t / 3, 0.5 / 3, 0.1);
    return density_of_t * sides;
  });
}

inline double EightGaussians(PlanarPoint p) {
  double sum = 0;
  for (int i = 0; i < 8; ++i)
    sum += Gaussian(p.x - 4 * std::cos(kPi / 4 * i) / 1.414, p.y - 4 * std::sin(kPi / 4 * i) / 1.414,
                    0.5 / 1.414) /
           8;
  return sum;
}

inline double Circles(PlanarPoint p) {
  return Mean(0, 2 * kPi, 200, [&](double angle) {
    double rings = 0;
    for (const double radius : {3.0, 1.5})
      rings += 0.5 * Gaussian(p.x - radius * std::cos(angle), p.y - radius * std::sin(angle), 0.24);
    return rings;
  });
}

inline double Moons(PlanarPoint p) {
  return Mean(0, kPi, 200, [&](double angle) {
    const double x = std::cos(angle), y = std::sin(angle);
    return 0.5 * Gaussian(p.x - (2 * x - 1), p.y - (2 * y - 0.2), 0.2) +
           0.5 * Gaussian(p.x - (1 - 2 * x), p.y - (0.8 - 2 * y), 0.2);
  });
}

inline double SwissRoll(PlanarPoint p) {
  return Mean(1.5 * kPi, 4.5 * kPi, 400,
              [&](double t) { return Gaussian(p.x - t * std::cos(t) / 5, p.y - t * std::sin(t) / 5, 0.2); });
}

inline double Checkerboard(PlanarPoint p) {
  if (std::abs(p.x) > 4 || std::abs(p.y) > 4) return 0;
  const auto column = static_cast<int>(std::floor(p.x / 2)), row = static_cast<int>(std::floor(p.y / 2));
  return (column + row) % 2 == 0 ? 1.0 / 32 : 0;
}

// An arm is a Gaussian (radial, tangential) turned by an angle that grows with the radial part. In polar
// coordinates the radius stays, so for each arm an equation in the polar angle has to be solved, which may
// have several solutions; the Jacobian is 1 + angle'(radial) * tangential.
inline double Pinwheel(PlanarPoint p) {
  constexpr int kIntervals = 200;
  const double radius = std::hypot(p.x, p.y) / 2;
  double sum = 0;
  for (int arm = 0; arm < 5; ++arm) {
    const double target = std::atan2(p.y, p.x) + 2 * kPi * arm / 5;
    // A whole number exactly at the solutions.
    const auto turns = [&](double theta) {
      return (theta - 0.25 * std::exp(radius * std::cos(theta)) - target) / (2 * kPi);
    };
    double right = turns(-kPi);
    for (int i = 0; i < kIntervals; ++i) {
      const double left = right;
      right = turns(-kPi + 2 * kPi * (i + 1) / kIntervals);
      if (std::floor(left) == std::floor(right)) continue;
      const double whole = std::max(std::floor(left), std::floor(right));
      double low = -kPi + 2 * kPi * i / kIntervals, high = low + 2 * kPi / kIntervals;
      for (int step = 0; step < 40; ++step) {
        const double middle = (low + high) / 2;
        ((turns(middle) < whole) == (left < whole) ? low : high) = middle;
      }
      const double radial = radius * std::cos(low), tangential = radius * std::sin(low);
      const double density =
          std::exp(-(std::pow((radial - 1) / 0.3, 2) + std::pow(tangential / 0.1, 2)) / 2) /
          (2 * kPi * 0.3 * 0.1);
      sum += density / std::abs(1 + 0.25 * std::exp(radial) * tangential) / 4 / 5;
    }
  }
  return sum;
}

inline const std::map<std::string, std::function<double(PlanarPoint)>>& Densities() {
  static const std::map<std::string, std::function<double(PlanarPoint)>> densities = {
      {"2spirals", TwoSpirals},      {"8gaussians", EightGaussians},
      {"circles", Circles},          {"moons", Moons},
      {"pinwheel", Pinwheel},        {"swissroll", SwissRoll},
      {"checkerboard", Checkerboard}};
  return densities;
}

}  // namespace ort_ed::planar_truth
