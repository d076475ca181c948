// A job with its command.

#include <iostream>

#include "tools/cli/command.h"

namespace ort_ed {
namespace {

struct ToyCommand {
  int64_t a = 1, b = 2;
  static void Describe(Declare<ToyCommand>& declare) {
    declare("a", &ToyCommand::a, "[0, 9]", "the first number").Positional();
    declare("b", &ToyCommand::b, "[0, 9]", "the second number");
  }
};

int64_t Add(const ToyCommand& options) { return options.a + options.b; }

void RunToy(const ToyCommand& command) { std::cout << Add(command) << "\n"; }

}  // namespace

extern const Command kToyCommand =
    MakeCommand<ToyCommand, RunToy>("toy", "add two numbers", "  ort-ed toy 1 --b 3");

}  // namespace ort_ed
