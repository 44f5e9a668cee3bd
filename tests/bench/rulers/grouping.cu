// Measures one plain neighbour sum, cut into groups as document "GNNAdvisor" has them, for every size of group (ngs), number of lanes that
// share one (dw) and threads in a block (tpb): the table by which the planner corrects its model. f32, deterministic: groups of one row
// are summed in order by a second pass. Graphs are made up: seeded, skewed or even degrees, targets all over the nodes.
//
//   nvcc -O3 -arch=sm_90 grouping.cu -o grouping && ./grouping > h200.csv
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

#define CHECK(call) do { cudaError_t error = (call); if (error != cudaSuccess) { fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error)); exit(1); } } while (0)

struct Group { unsigned first, count; int target; };  // target < 0: partial row -1 - target

// lanes lanes share a group; each adds columns lane, lane + lanes, ... of the rows that the group names
template <int DW>
__global__ void sums(float* __restrict__ out, float* __restrict__ partial, const float* __restrict__ x, const unsigned* __restrict__ from,
                     const Group* __restrict__ groups, int count, int columns) {
  const int index = (blockIdx.x * blockDim.x + threadIdx.x) / DW, lane = threadIdx.x % DW;
  if (index >= count) return;
  const Group group = groups[index];
  float* to = group.target >= 0 ? out + (size_t)group.target * columns : partial + (size_t)(-1 - group.target) * columns;
  const int quads = columns / 4;
  for (int quad = lane; quad < quads; quad += DW) {
    float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll 4
    for (unsigned edge = 0; edge < group.count; edge++) {
      const float4 row = __ldg((const float4*)x + (size_t)__ldg(from + group.first + edge) * quads + quad);
      sum.x += row.x; sum.y += row.y; sum.z += row.z; sum.w += row.w;
    }
    ((float4*)to)[quad] = sum;
  }
}

__global__ void finish(float* __restrict__ out, const float* __restrict__ partial, const int* __restrict__ row, const int* __restrict__ start, int rows, int columns) {
  const int index = blockIdx.x * blockDim.y + threadIdx.y;
  if (index >= rows) return;
  for (int column = threadIdx.x; column < columns; column += blockDim.x) {
    float sum = 0;
    for (int part = start[index]; part < start[index + 1]; part++) sum += partial[(size_t)part * columns + column];
    out[(size_t)row[index] * columns + column] = sum;
  }
}

static uint64_t state;
static double uniform() {
  state += 0x9e3779b97f4a7c15ull;
  uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

template <class T> static T* device(const std::vector<T>& values) {
  T* place;
  CHECK(cudaMalloc(&place, std::max<size_t>(values.size(), 1) * sizeof(T)));
  CHECK(cudaMemcpy(place, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return place;
}

int main() {
  struct Shape { const char* name; int nodes; double degree; double skew; };
  const Shape shapes[] = {{"small", 2708, 4, 0.0}, {"short", 400000, 3, 0.0}, {"middle", 400000, 12, 0.5}, {"skewed", 100000, 32, 0.9}, {"dense", 50000, 200, 0.5}};
  printf("shape,nodes,edges,skew,columns,ngs,dw,tpb,microseconds\n");
  for (const Shape& shape : shapes) {
    state = 17;
    std::vector<unsigned> offsets(shape.nodes + 1, 0), from;
    std::vector<double> weight(shape.nodes);
    double total = 0;
    for (int node = 0; node < shape.nodes; node++) total += weight[node] = std::pow(uniform() + 1.0 / shape.nodes, -shape.skew);
    for (int node = 0; node < shape.nodes; node++) {
      const double expected = weight[node] / total * shape.nodes * shape.degree;
      unsigned degree = (unsigned)expected + (uniform() < expected - std::floor(expected));
      offsets[node + 1] = offsets[node] + degree;
    }
    from.resize(offsets.back());
    for (unsigned& source : from) source = (unsigned)(uniform() * shape.nodes);
    unsigned* device_from = device(from);
    for (int columns : {16, 32, 64, 128}) {
      std::vector<float> x((size_t)shape.nodes * columns);
      for (float& value : x) value = (float)uniform() - 0.5f;
      float* device_x = device(x);
      float* out;
      CHECK(cudaMalloc(&out, x.size() * sizeof(float)));
      for (int ngs : {4, 8, 16, 32, 64, 128, 256, 1024}) {
        std::vector<Group> groups;
        std::vector<int> rows, starts{0};
        int parts = 0;
        for (int node = 0; node < shape.nodes; node++) {
          const unsigned first = offsets[node], end = offsets[node + 1], pieces = std::max(1u, (end - first + ngs - 1) / ngs);
          for (unsigned piece = 0; piece < pieces; piece++) {
            const unsigned start = first + piece * ngs;
            groups.push_back({start, std::min<unsigned>(ngs, end - start), pieces == 1 ? node : -1 - parts++});
          }
          if (pieces > 1) { rows.push_back(node); starts.push_back(parts); }
        }
        Group* device_groups = device(groups);
        int *device_rows = device(rows), *device_starts = device(starts);
        float* partial;
        CHECK(cudaMalloc(&partial, std::max<size_t>((size_t)parts * columns, 1) * sizeof(float)));
        for (int dw : {4, 8, 16, 32}) {
          if (dw * 4 > columns * 2) continue;
          for (int tpb : {32, 64, 128, 256, 512}) {
            const int count = (int)groups.size(), blocks = (int)(((size_t)count * dw + tpb - 1) / tpb);
            auto launch = [&] {
              switch (dw) {
                case 4: sums<4><<<blocks, tpb>>>(out, partial, device_x, device_from, device_groups, count, columns); break;
                case 8: sums<8><<<blocks, tpb>>>(out, partial, device_x, device_from, device_groups, count, columns); break;
                case 16: sums<16><<<blocks, tpb>>>(out, partial, device_x, device_from, device_groups, count, columns); break;
                default: sums<32><<<blocks, tpb>>>(out, partial, device_x, device_from, device_groups, count, columns);
              }
              if (!rows.empty()) finish<<<((int)rows.size() + 7) / 8, dim3(32, 8)>>>(out, partial, device_rows, device_starts, (int)rows.size(), columns);
            };
            launch();
            CHECK(cudaDeviceSynchronize());
            if (ngs == 4 && tpb == 32) {  // checked once for each width of lanes; the sums are the same for all others
              std::vector<float> made(x.size());
              CHECK(cudaMemcpy(made.data(), out, made.size() * sizeof(float), cudaMemcpyDeviceToHost));
              for (int node = 0; node < shape.nodes; node += 97)
                for (int column = 0; column < columns; column += 5) {
                  double sum = 0;
                  for (unsigned edge = offsets[node]; edge < offsets[node + 1]; edge++) sum += x[(size_t)from[edge] * columns + column];
                  if (std::abs(sum - made[(size_t)node * columns + column]) > 1e-3) { fprintf(stderr, "wrong sum at node %d\n", node); exit(1); }
                }
            }
            cudaEvent_t begin, end;
            CHECK(cudaEventCreate(&begin));
            CHECK(cudaEventCreate(&end));
            float best = 1e30f;
            for (int round = 0; round < 5; round++) {
              const int repeats = 10;
              CHECK(cudaEventRecord(begin));
              for (int repeat = 0; repeat < repeats; repeat++) launch();
              CHECK(cudaEventRecord(end));
              CHECK(cudaEventSynchronize(end));
              float milliseconds;
              CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
              best = std::min(best, milliseconds * 1000 / repeats);
            }
            CHECK(cudaGetLastError());
            printf("%s,%d,%zu,%.1f,%d,%d,%d,%d,%.2f\n", shape.name, shape.nodes, from.size(), shape.skew, columns, ngs, dw, tpb, best);
            fflush(stdout);
            cudaEventDestroy(begin);
            cudaEventDestroy(end);
          }
        }
        cudaFree(device_groups); cudaFree(device_rows); cudaFree(device_starts); cudaFree(partial);
      }
      cudaFree(device_x); cudaFree(out);
    }
    cudaFree(device_from);
  }
}
