#include "apps/ingot/terminal/interrupts.h"

#include <csignal>

namespace ingot {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM};

volatile std::sig_atomic_t caught = 0;

void remember(int signal) { caught = signal; }

bool is_ignored(int signal) {
  struct sigaction now = {};
  sigaction(signal, nullptr, &now);
  return now.sa_handler == SIG_IGN;
}

void set_handler(int signal, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  if (!is_ignored(signal)) sigaction(signal, &action, nullptr);
}

}  // namespace

Interrupts::Interrupts() {
  caught = 0;
  for (const int signal : kSignals) set_handler(signal, remember);
}

Interrupts::~Interrupts() {
  for (const int signal : kSignals) set_handler(signal, SIG_DFL);
}

int Interrupts::signal() const { return caught; }

}  // namespace ingot
