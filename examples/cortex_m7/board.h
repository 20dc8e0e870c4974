/* What startup.c measures. */

/* Prints what the program has of flash and of RAM, and what `step`, which it runs once, takes of the stack. */
void print_memory(int (*step)(void));
