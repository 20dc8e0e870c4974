"""What later calls need: a guard, memory that is filled in, and what tells that a process would trace the same."""
