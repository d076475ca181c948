/* For tests that are C programs. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ort_ed/c_api.h"

#define CHECK(condition)                                                                       \
  do {                                                                                         \
    if (!(condition)) {                                                                        \
      fprintf(stderr, "%s:%d: %s is false (last error: %s)\n", __FILE__, __LINE__, #condition, \
              ort_ed_last_error());                                                            \
      exit(1);                                                                                 \
    }                                                                                          \
  } while (0)

static int LastErrorHas(const char* part) { return strstr(ort_ed_last_error(), part) != NULL; }
