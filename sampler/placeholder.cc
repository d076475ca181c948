#include "ort_ed/sampler.h"  // replaced by the first sampler
