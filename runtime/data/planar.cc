#include "runtime/data/planar.h"

#include <array>
#include <cmath>
#include <numbers>

#include "runtime/support/named.h"

namespace ort_ed {
namespace {

constexpr uint32_t kPlanarPurpose = 0x504c414e;
constexpr double kPi = std::numbers::pi;

// Two independent standard normal numbers (Box and Muller).
PlanarPoint Normal(RandomStream& random) {
  const double radius = std::sqrt(-2 * std::log(1 - random.UniformDouble()));
  const double angle = 2 * kPi * random.UniformDouble();
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

PlanarPoint WithNoise(PlanarPoint point, double deviation, RandomStream& random) {
  const PlanarPoint noise = Normal(random);
  return {point.x + deviation * noise.x, point.y + deviation * noise.y};
}

PlanarPoint TwoSpirals(RandomStream& random) {
  const double t = std::sqrt(random.UniformDouble()) * 3 * kPi;
  const PlanarPoint arm = {(-std::cos(t) * t + 0.5 * random.UniformDouble()) / 3,
                           (std::sin(t) * t + 0.5 * random.UniformDouble()) / 3};
  const double side = random.Below(2) == 0 ? 1 : -1;
  return WithNoise({side * arm.x, side * arm.y}, 0.1, random);
}

PlanarPoint EightGaussians(RandomStream& random) {
  constexpr double kShrink = 1.414;  // as in the reference code, not the root of 2
  const double angle = kPi / 4 * random.Below(8);
  const PlanarPoint point = WithNoise({4 * std::cos(angle), 4 * std::sin(angle)}, 0.5, random);
  return {point.x / kShrink, point.y / kShrink};
}

PlanarPoint Circles(RandomStream& random) {
  const double radius = random.Below(2) == 0 ? 1 : 0.5;
  const double angle = 2 * kPi * random.UniformDouble();
  const PlanarPoint point = WithNoise({radius * std::cos(angle), radius * std::sin(angle)}, 0.08, random);
  return {3 * point.x, 3 * point.y};
}

PlanarPoint Moons(RandomStream& random) {
  const bool outer = random.Below(2) == 0;
  const double angle = kPi * random.UniformDouble();
  const PlanarPoint arc = outer ? PlanarPoint{std::cos(angle), std::sin(angle)}
                                : PlanarPoint{1 - std::cos(angle), 0.5 - std::sin(angle)};
  const PlanarPoint point = WithNoise(arc, 0.1, random);
  return {2 * point.x - 1, 2 * point.y - 0.2};
}

PlanarPoint Pinwheel(RandomStream& random) {
  constexpr uint32_t kArms = 5;
  constexpr double kRadialDeviation = 0.3;
  constexpr double kTangentialDeviation = 0.1;
  constexpr double kRate = 0.25;
  const double start = 2 * kPi * random.Below(kArms) / kArms;
  const PlanarPoint noise = Normal(random);
  const double radial = 1 + kRadialDeviation * noise.x;
  const double tangential = kTangentialDeviation * noise.y;
  const double angle = start + kRate * std::exp(radial);
  return {2 * (radial * std::cos(angle) + tangential * std::sin(angle)),
          2 * (tangential * std::cos(angle) - radial * std::sin(angle))};
}

PlanarPoint SwissRoll(RandomStream& random) {
  const double t = 1.5 * kPi * (1 + 2 * random.UniformDouble());
  const PlanarPoint point = WithNoise({t * std::cos(t), t * std::sin(t)}, 1, random);
  return {point.x / 5, point.y / 5};
}

PlanarPoint Checkerboard(RandomStream& random) {
  const double x = 4 * random.UniformDouble() - 2;
  const double y = random.UniformDouble() - 2 * random.Below(2);
  const bool odd = std::abs(std::fmod(std::floor(x), 2)) == 1;
  return {2 * x, 2 * (y + odd)};
}

// f_scale: for 8gaussians and pinwheel as the published code had it; for checkerboard from its bounds; for
// the others from the first 5000 points of stream 1.
constexpr std::array<PlanarDensity, 7> kDensities = {{
    {"2spirals", "two interleaved spirals", 4.4905, 20.03370, TwoSpirals},
    {"8gaussians", "eight Gaussians on a circle", 5.1948, 19.97888, EightGaussians},
    {"circles", "two concentric circles", 4.6665, 20.59341, Circles},
    {"moons", "two interleaved half-moons", 4.5581, 19.75773, Moons},
    {"pinwheel", "five curved arms", 4.9461, 19.54673, Pinwheel},
    {"swissroll", "a spiral", 4.2327, 20.15417, SwissRoll},
    {"checkerboard", "eight squares of a checkerboard", 5.0, 20.67663, Checkerboard},
}};

}  // namespace

std::span<const PlanarDensity> PlanarDensities() { return kDensities; }

const PlanarDensity& FindPlanarDensity(const std::string& name) {
  return FindNamed(kDensities, name, "density");
}

PlanarPoint DrawPlanarPoint(const PlanarDensity& density, uint64_t seed, uint64_t row) {
  RandomStream random(seed, kPlanarPurpose, row >> 32, row & 0xFFFFFFFF);
  return density.draw(random);
}

void DrawPlanarRows(const PlanarDensity& density, uint64_t seed, uint64_t first_row,
                    std::span<uint8_t> rows) {
  const PlanarCode code(density.f_scale);
  for (uint64_t row = 0; row < rows.size() / PlanarCode::kBits; ++row)
    code.Encode(DrawPlanarPoint(density, seed, first_row + row),
                rows.subspan(row * PlanarCode::kBits, PlanarCode::kBits));
}

}  // namespace ort_ed
