#include "tools/cli/main.h"

int main(int argc, char** argv) { return ort_ed::Main({argv + 1, argv + argc}); }
