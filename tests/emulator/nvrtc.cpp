// nvrtc.cpp: a libnvrtc.so.13 that compiles CUDA C++ with the C++ compiler of the host, for driver.cpp.
//
// promises  a text is compiled once: what comes of it is kept in the folder EMULATOR_CACHE (or one of the user's in /tmp) by the text
// never     reports registers
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef HEADER
#error "HEADER is the path of device.h"
#endif
#define ASKED extern "C" __attribute__((visibility("default")))
enum { SUCCESS = 0, COMPILATION = 6 };

struct Program { std::string text, log, code; };

static std::string contents(const std::string& file) {
  std::ifstream from(file, std::ios::binary);
  std::stringstream all;
  all << from.rdbuf();
  return all.str();
}
static unsigned long long digest(const std::string& text) {
  unsigned long long hash = 14695981039346656037ULL;
  for (unsigned char byte : text) hash = (hash ^ byte) * 1099511628211ULL;
  return hash;
}
// The text as C++, with a table of its kernels.
static std::string translated(std::string text) {
  text = std::regex_replace(text, std::regex("extern +__shared__[^;]*?(\\w+) *\\[ *\\] *;"), "unsigned char* const $1 = emulator::shared();");
  text = std::regex_replace(text, std::regex("__shared__ +(alignas\\(\\w+\\))"), "$1 __shared__");
  static const std::regex kernel("__global__\\s+void\\s+(?:__launch_bounds__\\((?:[^()]|\\([^)]*\\))*\\)\\s*)?(\\w+)\\s*\\(");
  std::string table;
  for (std::sregex_iterator found(text.begin(), text.end(), kernel), end; found != end; ++found)
    table += "  emulator::entry(\"" + (*found)[1].str() + "\", " + (*found)[1].str() + "),\n";
  return "#include \"" HEADER "\"\n" + text + "\nextern \"C\" const emulator::Entry emulator_entries[] = {\n" + table +
         "  {}};\nextern \"C\" void emulator_launch(const emulator::Entry* entry, const unsigned* blocks, unsigned threads, unsigned shared, bool cooperative, void** values, char* stacks) {\n"
         "  emulator::launch(*entry, {blocks[0], blocks[1], blocks[2]}, threads, shared, cooperative, values, stacks);\n}\n";
}

ASKED int nvrtcVersion(int* major, int* minor) { return *major = 13, *minor = 99, SUCCESS; }
ASKED int nvrtcGetNumSupportedArchs(int* count) { return *count = 3, SUCCESS; }
ASKED int nvrtcGetSupportedArchs(int* archs) { return archs[0] = 80, archs[1] = 90, archs[2] = 100, SUCCESS; }
ASKED const char* nvrtcGetErrorString(int result) { return result == SUCCESS ? "NVRTC_SUCCESS" : "NVRTC_ERROR_COMPILATION"; }
ASKED int nvrtcCreateProgram(Program** made, const char* text, const char*, int, const char* const*, const char* const*) {
  return *made = new Program{text, "", ""}, SUCCESS;
}
ASKED int nvrtcDestroyProgram(Program** program) { return delete *program, *program = nullptr, SUCCESS; }
ASKED int nvrtcCompileProgram(Program* program, int, const char* const*) {
  const char* named = std::getenv("EMULATOR_CACHE");
  const std::string folder = named ? named : "/tmp/warploom-emulator-" + std::to_string(getuid());
  mkdir(folder.c_str(), 0700);
  const std::string text = translated(program->text);
  char name[32];
  std::snprintf(name, sizeof name, "/%016llx", digest(text + contents(HEADER)));
  const std::string kept = folder + name + ".so", own = folder + name + "." + std::to_string(getpid()) + "." + std::to_string((unsigned long long)program);
  program->code = contents(kept);
  if (program->code.empty()) {
    std::ofstream(own + ".cpp") << text;
    const std::string command = "c++ -std=c++17 -O1 -w -shared -fPIC -fno-gnu-unique -fno-strict-aliasing -o " + own + ".so " + own + ".cpp > " + own + ".log 2>&1";
    const int done = std::system(command.c_str());
    program->log = contents(own + ".log");
    unlink((own + ".log").c_str());
    if (done != 0) return COMPILATION;
    unlink((own + ".cpp").c_str());
    rename((own + ".so").c_str(), kept.c_str());
    program->code = contents(kept);
  }
  // Who looks at it expects code for a GPU: the machine's number says so, and the driver turns it back.
  program->code[18] = (char)190, program->code[19] = 0;
  return SUCCESS;
}
ASKED int nvrtcGetProgramLogSize(Program* program, size_t* bytes) { return *bytes = program->log.size() + 1, SUCCESS; }
ASKED int nvrtcGetProgramLog(Program* program, char* log) { return std::memcpy(log, program->log.c_str(), program->log.size() + 1), SUCCESS; }
ASKED int nvrtcGetCUBINSize(Program* program, size_t* bytes) { return *bytes = program->code.size(), SUCCESS; }
ASKED int nvrtcGetCUBIN(Program* program, char* code) { return std::memcpy(code, program->code.data(), program->code.size()), SUCCESS; }
