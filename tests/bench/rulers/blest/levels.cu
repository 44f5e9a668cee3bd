// Levels of breadth-first searches by BLEST (github.com/delbek/blest, arXiv 2512.21967), whose
// checkout is in the include path: of NAME_csc.bin, from the vertices of NAME.txt. Its own order.
//
// usage: levels NAME      prints a line for each search, and the mean time in ms
#include "Benchmark.cuh"

int main(int, char** given) {
  JACKARD_ON = true;
  WINDOW_SIZE = 65536;
  Benchmark benchmark;
  const double ms = benchmark.run(Matrix(given[1], std::string(given[1]) + ".txt", true, true));
  std::cout << "{\"ms\": " << ms << "}" << std::endl;
}
