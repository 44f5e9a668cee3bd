// The end of a superstep.

// Where a loop is: supersteps done, what the last one changed, why the loop has ended (0: it has
// not), and whether the last superstep is committed; supersteps after which the host looks, and
// those that computed all vertices.
struct LoopState {
  unsigned long long done, changed;
  double summed;
  unsigned ended, commits;
  unsigned long long bound, whole;
};
struct Change { double summed; unsigned long long changed; };
// Equal elements have change 0, infinities too; a NaN differs from everything but a NaN, and makes
// the sum NaN.
__device__ __forceinline__ void compare(Change& change, const real before, const real after) {
  if (before == after) return;
  change.changed += before == before || after == after;
  change.summed += fabs((double)before - (double)after);
}
__device__ __forceinline__ void compare(Change& change, const whole before, const whole after) {
  if (before == after) return;
  change.changed++;
  const whole low = before < after ? before : after, high = before < after ? after : before;
  change.summed += (double)((offset_t)high - (offset_t)low);
}
__device__ __forceinline__ void compare(
    Change& change, const narrow before, const narrow after) {
  compare(change, (whole)before, (whole)after);
}
// The sum over a block, at its first thread.
__device__ __forceinline__ void add_up(Change& change) {
  __shared__ Change of_warp[32];
  UNROLL for (int distance = 16; distance > 0; distance /= 2) {
    change.summed += __shfl_down_sync(FULL, change.summed, distance);
    change.changed += __shfl_down_sync(FULL, change.changed, distance);
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = change;
  __syncthreads();
  if (threadIdx.x == 0) for (unsigned warp = 1; warp < blockDim.x / 32; warp++) {
    change.summed += of_warp[warp].summed;
    change.changed += of_warp[warp].changed;
  }
}
