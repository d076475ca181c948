#pragma once

#include <string>

#include "ort_ed/options.h"

namespace ort_ed {

// What negatives of this method can never tell: grid, pool, and neighbourhood without `stay` compare states
// of one class only, such as those of equal parity, so that training leaves the masses of the classes where
// they were. Empty where a part of the method compares all. In words for a warning, with what to add.
std::string DescribeOpenMasses(const Choice& method);

}  // namespace ort_ed
