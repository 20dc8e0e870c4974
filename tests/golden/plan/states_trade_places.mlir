// run: plan for x86-64-v3
// Each needs the other's old value: copies.
func.func @main(%a: tensor<8xf32> {ingot.state = "a"}, %b: tensor<8xf32> {ingot.state = "b"}) -> (tensor<8xf32> {ingot.state = "a"}, tensor<8xf32> {ingot.state = "b"}) {
  return %b, %a : tensor<8xf32>, tensor<8xf32>
}
// ---- expect
// after plan for x86-64-v3: main
plan main {
  arena 128 bytes (lower bound 128), scratch 0 bytes a thread
  buffer a: tensor<8xf32> state[0]+0 32 bytes, steps start to 1
  buffer b: tensor<8xf32> state[1]+64 32 bytes, steps start to 0
  buffer v: tensor<8xf32> arena+0 32 bytes, steps 0 to 2
  buffer v.1: tensor<8xf32> arena+64 32 bytes, steps 1 to 3
  buffer a.1: tensor<8xf32> state[0]+0 32 bytes, steps 2 to end
  buffer b.1: tensor<8xf32> state[1]+64 32 bytes, steps 3 to end
  step 0: copy (kernel 0, tasks 1) reads b writes v
  step 1: copy (kernel 0, tasks 1) reads a writes v.1
  step 2: copy (kernel 0, tasks 1, barrier) reads v writes a.1
  step 3: copy (kernel 0, tasks 1) reads v.1 writes b.1
}
