module {
  sdy.mesh @mesh = 