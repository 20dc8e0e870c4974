/* Code that a linked image must not contain; each piece is compiled alone. */
#if defined(NEEDS_SYMBOL)
double outside_function(double x);
double needs_symbol(double x) { return outside_function(x) + 1; }
#elif defined(NEEDS_RELOCATION)
static int one(void) { return 1; }
static int two(void) { return 2; }
int (*const needs_relocation[])(void) = {one, two};
#elif defined(NEEDS_DATA)
int needs_data = 1;
int counted(void) { return ++needs_data; }
#elif defined(NEEDS_SECTION)
static const int needs_section[] __attribute__((section(".odd"))) = {1, 2, 3};
int chosen(int i) { return needs_section[i]; }
#endif
