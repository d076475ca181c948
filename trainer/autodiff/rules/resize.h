#pragma once

#include "trainer/autodiff/grad_context.h"

namespace ort_ed {

// Resize in all modes but those that crop. It is linear along each axis by itself.
void ResizeRule(GradContext& node);

}  // namespace ort_ed
