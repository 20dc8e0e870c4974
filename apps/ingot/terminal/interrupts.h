// Signals that ask a long piece of work to end: SIGINT and SIGTERM.
#pragma once

namespace ingot {

// While it lives, the first of them is only remembered, and the second ends the process as ever. A signal that was
// ignored before stays ignored.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  int signal() const;  // the one that came; 0: none did
};

}  // namespace ingot
