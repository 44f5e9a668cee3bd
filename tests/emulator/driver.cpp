// driver.cpp: a libcuda.so.1 with one device, which is this CPU: kernels are shared objects that nvrtc.cpp made.
//
// promises  everything asked for is done at once, in order; captured launches, fills and copies are done when their graph is launched;
//           of what may be done in any order, what was captured last is done first;
//           what is sent to the host is there once somebody waits for it, and other bytes are until then;
//           what is copied or filled outside of an allocation, and what is launched without a context, is refused; pinned memory of the host is
//           no memory of the device, and a page that nobody may touch is behind it as well
// never     overlaps anything; takes time as a GPU does
// limits    4 GiB, of which others leave EMULATOR_MEMORY bytes, if that is set, and EMULATOR_PINNED bytes of pinned memory, if that is; its name is
//           EMULATOR_NAME, or one of a device that was measured; EMULATOR_DEVICES devices, of which CUDA_VISIBLE_DEVICES then hides some, share its
//           memory; EMULATOR_DRIVER is the newest CUDA version of it (13000); EMULATOR_FAULT lets calls fail (see `Fault`); EMULATOR_COUNT names a
//           file that has the number of kernels that ran, at the end; the address of an allocation is the host's, with a page behind it that nobody may touch
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#define ASKED extern "C" __attribute__((visibility("default")))
typedef int Result;
typedef unsigned long long Address;
enum { SUCCESS = 0, INVALID = 1, MEMORY = 2, NO_DEVICE = 100, NO_SUCH_DEVICE = 101, NO_CONTEXT = 201, NOT_FOUND = 500, INVALID_IMAGE = 200, ILLEGAL = 700, TOO_LARGE = 720, UNSUPPORTED = 900, UNJOINED = 904 };
static const size_t TOTAL = 4ull << 30;
// What others have left of it.
static size_t left() {
  static const char* const limit = std::getenv("EMULATOR_MEMORY");
  static const size_t bytes = limit ? std::strtoull(limit, nullptr, 10) : TOTAL;
  return bytes < TOTAL ? bytes : TOTAL;
}

struct Entry { const char* name; void* entry; void (*call)(void*, void**); const size_t* bytes; unsigned count; };
typedef void (*Launch)(const Entry*, const unsigned*, unsigned, unsigned, bool, void**, char*);
struct Module { void* object; };
struct Function { const Entry* entry; Launch launch; };
// What was captured, and which of what was captured before it follows.
struct Node { std::function<void()> work; std::vector<size_t> behind; };
struct Graph { std::vector<Node> nodes; };
// Nodes by their number, from 1 on, as others see them.
struct Stream { Graph* capture = nullptr; std::vector<size_t> behind; };
struct Event { double at = 0; uint64_t sent = 0; };

static std::recursive_mutex lock;
static std::map<Address, size_t> allocated;
static size_t used = 0;
// Pinned memory of the host: where it starts, how long it is, whether kernels may read it.
struct Pages { size_t bytes; bool mapped; };
static std::map<void*, Pages> pinned;
static size_t pinned_bytes = 0;
static thread_local void* current = nullptr;

// EMULATOR_FAULT=CALL:NUMBER[:N[+]],...: the N-th (or first) call of this name returns the number of an error; with `+` all later ones, too. The call
// `kernel` stands for kernels that run, in graphs, too: the N-th does nothing.
struct Fault { std::string call; Result number; long at; bool later; long seen; };
static std::vector<Fault> parsed_faults() {
  std::vector<Fault> found;
  const char* const text = std::getenv("EMULATOR_FAULT");
  std::string all = text ? std::string(text) + "," : "";
  for (size_t end; (end = all.find(',')) != std::string::npos; all.erase(0, end + 1)) {
    const std::string one = all.substr(0, end);
    const size_t number = one.find(':');
    if (number == std::string::npos) continue;
    const size_t at = one.find(':', number + 1);
    const long count = at == std::string::npos ? 1 : std::atol(one.c_str() + at + 1);
    found.push_back({one.substr(0, number), std::atoi(one.c_str() + number + 1), count, one.back() == '+', 0});
  }
  return found;
}
static Result injected(const char* call) {
  static std::vector<Fault> faults = parsed_faults();
  if (faults.empty()) return SUCCESS;
  std::lock_guard<std::recursive_mutex> held(lock);
  for (Fault& fault : faults) {
    if (fault.call != call) continue;
    fault.seen++;
    if (fault.seen == fault.at || (fault.later && fault.seen > fault.at)) return fault.number;
  }
  return SUCCESS;
}
// The error that ended the context: every later call returns it.
static Result broken = SUCCESS;
// The device is lost: its memory holds anything.
static void lose(Result number) {
  std::lock_guard<std::recursive_mutex> held(lock);
  broken = number;
  for (const auto& one : allocated) std::memset((void*)one.first, 0xee, one.second);
}
static Result refused(const char* call) {
  if (broken) return broken;
  return injected(call);
}
#define CONTEXT if (!current) return NO_CONTEXT; if (const Result wrong = refused(__func__)) return wrong
static long kernels = 0;
struct Counted {
  ~Counted() {
    const char* const name = std::getenv("EMULATOR_COUNT");
    if (FILE* const file = name ? std::fopen(name, "w") : nullptr) std::fprintf(file, "%ld\n", kernels), std::fclose(file);
  }
};
static Counted counted;
// Whether the next kernel runs.
static bool runs() {
  if (broken) return false;
  kernels++;
  const Result wrong = injected("kernel");
  if (wrong) lose(wrong);
  return !wrong;
}

// Devices that this process sees.
static std::string uuid_text(int device) {
  char text[48];
  std::snprintf(text, sizeof text, "GPU-00000000-0000-0000-0000-0000000000%02x", device);
  return text;
}
static const std::vector<int>& visible() {
  static const std::vector<int> found = [] {
    const char* const count = std::getenv("EMULATOR_DEVICES");
    const char* const names = std::getenv("CUDA_VISIBLE_DEVICES");
    const int all = count ? std::atoi(count) : 1;
    std::vector<int> found;
    if (!count || !names) {
      for (int device = 0; device < all; device++) found.push_back(device);
      return found;
    }
    std::string rest = std::string(names) + ",";
    for (size_t end; (end = rest.find(',')) != std::string::npos; rest.erase(0, end + 1)) {
      const std::string name = rest.substr(0, end);
      int device = -1;
      if (!name.empty() && name.find_first_not_of("0123456789") == std::string::npos) device = std::atoi(name.c_str());
      for (int other = 0; other < all && name.size() > 4; other++) if (uuid_text(other).compare(0, name.size(), name) == 0) device = other;
      // The first entry that is none ends the list.
      if (device < 0 || device >= all) break;
      found.push_back(device);
    }
    return found;
  }();
  return found;
}

static bool is_inside(Address at, size_t bytes) {
  std::lock_guard<std::recursive_mutex> held(lock);
  auto after = allocated.upper_bound(at);
  if (after == allocated.begin()) return false;
  --after;
  return at + bytes <= after->first + after->second;
}
static Result asked(Stream* stream, std::function<void()> work) {
  if (stream && stream->capture) {
    stream->capture->nodes.push_back({std::move(work), stream->behind});
    stream->behind = {stream->capture->nodes.size()};
  } else work();
  return SUCCESS;
}

// What is on its way to the host: where it goes, and what it was when it was sent.
struct Sent { char* to; std::string bytes; };
static std::map<uint64_t, Sent> on_way;
static uint64_t sent_last = 0;
static void arrive(uint64_t up_to) {
  std::lock_guard<std::recursive_mutex> held(lock);
  for (auto next = on_way.begin(); next != on_way.end() && next->first <= up_to; next = on_way.erase(next)) std::memcpy(next->second.to, next->second.bytes.data(), next->second.bytes.size());
}

ASKED Result cuInit(unsigned) {
  const Result wrong = injected("cuInit");
  return wrong ? wrong : visible().empty() ? NO_DEVICE : SUCCESS;
}
ASKED Result cuDriverGetVersion(int* version) {
  const char* const given = std::getenv("EMULATOR_DRIVER");
  return *version = given ? std::atoi(given) : 13000, SUCCESS;
}
ASKED Result cuDeviceGetCount(int* count) { return *count = (int)visible().size(), SUCCESS; }
ASKED Result cuDeviceGet(int* device, int ordinal) {
  if (ordinal < 0 || (size_t)ordinal >= visible().size()) return NO_SUCH_DEVICE;
  return *device = visible()[ordinal], SUCCESS;
}
ASKED Result cuDeviceGetName(char* name, int length, int) { 
  const char* const given = std::getenv("EMULATOR_NAME");
  return std::snprintf(name, length, "%s", given ? given : "Emulated H200 (no GPU)"), SUCCESS;
}
ASKED Result cuDeviceGetUuid_v2(unsigned char* id, int device) { return std::memset(id, 0, 16), id[15] = (unsigned char)device, SUCCESS; }
ASKED Result cuDeviceTotalMem_v2(size_t* bytes, int) { return *bytes = TOTAL, SUCCESS; }
ASKED Result cuDeviceGetAttribute(int* value, int attribute, int) {
  // Numbers of the header: threads of a block, lanes, clock, processors, memory clock and width, L2, capability, registers, shared memory.
  static const std::map<int, int> known = {{1, 1024},      {10, 32},       {13, 1980000}, {16, 8}, {36, 3201000}, {37, 6144},
                                           {38, 62914560}, {75, 9},        {76, 0},       {82, 65536}, {97, 232448}};
  auto found = known.find(attribute);
  return found == known.end() ? INVALID : (*value = found->second, SUCCESS);
}
ASKED Result cuDevicePrimaryCtxRetain(void** context, int) { return *context = &lock, injected(__func__); }
ASKED Result cuDevicePrimaryCtxRelease_v2(int) { return SUCCESS; }
ASKED Result cuCtxSetCurrent(void* context) { return current = context, SUCCESS; }

ASKED Result cuStreamCreate(Stream** stream, unsigned) { CONTEXT; return *stream = new Stream, SUCCESS; }
ASKED Result cuStreamDestroy_v2(Stream* stream) { return delete stream, SUCCESS; }
ASKED Result cuStreamSynchronize(Stream* stream) { CONTEXT; return stream && stream->capture ? UNSUPPORTED : (arrive(sent_last), SUCCESS); }
ASKED Result cuStreamWaitEvent(Stream*, Event*, unsigned) { CONTEXT; return SUCCESS; }
static double now() {
  timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return at.tv_sec * 1e3 + at.tv_nsec / 1e6;
}
ASKED Result cuEventCreate(Event** event, unsigned) { CONTEXT; return *event = new Event, SUCCESS; }
ASKED Result cuEventRecord(Event* event, Stream*) { CONTEXT; return event->at = now(), event->sent = sent_last, SUCCESS; }
ASKED Result cuEventSynchronize(Event* event) { CONTEXT; return arrive(event->sent), SUCCESS; }
ASKED Result cuEventElapsedTime_v2(float* milliseconds, Event* from, Event* to) { CONTEXT; return *milliseconds = (float)(to->at - from->at), SUCCESS; }
ASKED Result cuEventDestroy_v2(Event* event) { return delete event, SUCCESS; }

static const size_t PAGE = 4096;
static size_t whole_pages(size_t bytes) { return (bytes + PAGE - 1) / PAGE * PAGE; }
// Pages, and one behind them that nobody may touch; null if there are none.
static char* fenced(size_t bytes) {
  const size_t room = whole_pages(bytes);
  char* start = (char*)mmap(nullptr, room + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) return nullptr;
  mprotect(start + room, PAGE, PROT_NONE);
  return start;
}
ASKED Result cuMemAlloc_v2(Address* address, size_t bytes) {
  CONTEXT;
  std::lock_guard<std::recursive_mutex> held(lock);
  if (bytes == 0) return INVALID;
  if (used > left() || bytes > left() - used) return MEMORY;
  char* start = fenced(bytes);
  if (!start) return MEMORY;
  allocated[(Address)start] = bytes;
  used += bytes;
  return *address = (Address)start, SUCCESS;
}
ASKED Result cuMemFree_v2(Address address) {
  std::lock_guard<std::recursive_mutex> held(lock);
  auto found = allocated.find(address);
  if (found == allocated.end()) return INVALID;
  munmap((void*)address, whole_pages(found->second) + PAGE);
  used -= found->second;
  allocated.erase(found);
  return SUCCESS;
}
ASKED Result cuMemGetInfo_v2(size_t* free_bytes, size_t* total) { CONTEXT; return *free_bytes = used < left() ? left() - used : 0, *total = TOTAL, SUCCESS; }
ASKED Result cuMemHostAlloc(void** start, size_t bytes, unsigned flags) {
  CONTEXT;
  std::lock_guard<std::recursive_mutex> held(lock);
  static const char* const limit = std::getenv("EMULATOR_PINNED");
  if (bytes == 0 || flags > 7) return INVALID;
  if (limit && bytes + pinned_bytes > std::strtoull(limit, nullptr, 10)) return MEMORY;
  *start = fenced(bytes);
  if (!*start) return MEMORY;
  pinned[*start] = {bytes, (flags & 2) != 0};
  pinned_bytes += bytes;
  return SUCCESS;
}
// What was not mapped has no address on the device; what was has that of the host.
ASKED Result cuMemHostGetDevicePointer_v2(Address* address, void* start, unsigned flags) {
  CONTEXT;
  std::lock_guard<std::recursive_mutex> held(lock);
  auto found = pinned.find(start);
  if (flags != 0 || found == pinned.end() || !found->second.mapped) return INVALID;
  return *address = (Address)start, SUCCESS;
}
ASKED Result cuMemFreeHost(void* start) {
  std::lock_guard<std::recursive_mutex> held(lock);
  auto found = pinned.find(start);
  if (found == pinned.end()) return INVALID;
  // Who frees has waited for what comes there.
  for (auto& sent : on_way) if (sent.second.to >= (char*)start && sent.second.to < (char*)start + found->second.bytes) return INVALID;
  munmap(start, whole_pages(found->second.bytes) + PAGE);
  pinned_bytes -= found->second.bytes;
  pinned.erase(found);
  return SUCCESS;
}
ASKED Result cuMemsetD8Async(Address to, unsigned char value, size_t bytes, Stream* stream) {
  CONTEXT;
  if (!is_inside(to, bytes)) return ILLEGAL;
  return asked(stream, [=] { std::memset((void*)to, value, bytes); });
}
ASKED Result cuMemcpyDtoDAsync_v2(Address to, Address from, size_t bytes, Stream* stream) {
  CONTEXT;
  if (!is_inside(to, bytes) || !is_inside(from, bytes)) return ILLEGAL;
  return asked(stream, [=] { std::memmove((void*)to, (void*)from, bytes); });
}
ASKED Result cuMemcpyHtoDAsync_v2(Address to, const void* from, size_t bytes, Stream* stream) {
  CONTEXT;
  if (stream && stream->capture) return UNSUPPORTED;
  return is_inside(to, bytes) ? (std::memcpy((void*)to, from, bytes), SUCCESS) : INVALID;
}
ASKED Result cuMemcpyDtoHAsync_v2(void* to, Address from, size_t bytes, Stream* stream) {
  CONTEXT;
  if (stream && stream->capture) return UNSUPPORTED;
  if (!is_inside(from, bytes)) return INVALID;
  std::lock_guard<std::recursive_mutex> held(lock);
  on_way[++sent_last] = {(char*)to, std::string((const char*)from, bytes)};
  return std::memset(to, 0xa5, bytes), SUCCESS;
}

ASKED Result cuModuleLoadData(Module** module, const char* image) {
  CONTEXT;
  // The headers say how long the object is: sections are listed at its end.
  uint64_t at;
  uint16_t each, count;
  std::memcpy(&at, image + 40, 8), std::memcpy(&each, image + 58, 2), std::memcpy(&count, image + 60, 2);
  std::string bytes(image, at + (uint64_t)each * count);
#if defined(__x86_64__)
  bytes[18] = 62;
#elif defined(__aarch64__)
  bytes[18] = (char)183;
#endif
  char name[] = "/tmp/warploom-emulated-XXXXXX";
  const int file = mkstemp(name);
  if (file < 0) return MEMORY;
  const bool written = write(file, bytes.data(), bytes.size()) == (ssize_t)bytes.size();
  close(file);
  void* object = written ? dlopen(name, RTLD_NOW | RTLD_LOCAL) : nullptr;
  unlink(name);
  if (!object) return std::fprintf(stderr, "emulator: %s\n", written ? dlerror() : "no room for code"), INVALID_IMAGE;
  return *module = new Module{object}, SUCCESS;
}
ASKED Result cuModuleUnload(Module* module) { return dlclose(module->object), delete module, SUCCESS; }
ASKED Result cuModuleGetFunction(Function** function, Module* module, const char* name) {
  CONTEXT;
  const Entry* entries = (const Entry*)dlsym(module->object, "emulator_entries");
  for (; entries && entries->name; entries++)
    if (std::strcmp(entries->name, name) == 0) return *function = new Function{entries, (Launch)dlsym(module->object, "emulator_launch")}, SUCCESS;
  return NOT_FOUND;
}
ASKED Result cuFuncLoad(Function*) { CONTEXT; return SUCCESS; }
ASKED Result cuFuncGetParamInfo(Function* function, size_t index, size_t* offset, size_t* bytes) {
  CONTEXT;
  if (index >= function->entry->count) return INVALID;
  size_t at = 0;
  for (size_t i = 0; i <= index; i++) {
    const size_t size = function->entry->bytes[i], aligned = size < 8 ? size : 8;
    at = (at + aligned - 1) / aligned * aligned;
    *offset = at, *bytes = size;
    at += size;
  }
  return SUCCESS;
}
ASKED Result cuFuncGetAttribute(int* value, int attribute, Function*) { CONTEXT; return *value = attribute == 0 ? 1024 : 0, SUCCESS; }
ASKED Result cuFuncSetAttribute(Function*, int, int) { CONTEXT; return SUCCESS; }
ASKED Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Function*, int threads, size_t) { CONTEXT; return *blocks = 2048 / threads, SUCCESS; }
// Room for the stacks of the threads of four blocks, which is as many as a cooperative launch has; pages are there once they are touched.
static char* stacks() {
  static const size_t bytes = (size_t)4096 << 18;
  static thread_local char* start = nullptr;
  if (!start) start = (char*)mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return start == MAP_FAILED ? nullptr : start;
}
// One kernel after the other, whatever the attributes allow.
struct Attribute { int kind, padding; int value[16]; };
struct Config { unsigned x, y, z, threads, threads_y, threads_z, shared; Stream* stream; const Attribute* attributes; unsigned count; };
ASKED Result cuLaunchKernelEx(const Config* launch, Function* function, void** values, void**) {
  CONTEXT;
  const unsigned x = launch->x, y = launch->y, z = launch->z, threads = launch->threads, shared = launch->shared;
  Stream* const stream = launch->stream;
  bool cooperative = false;
  for (unsigned i = 0; i < launch->count; i++) cooperative |= launch->attributes[i].kind == 2 && launch->attributes[i].value[0];
  if (threads > 1024 || !stacks()) return INVALID;
  // All blocks of a cooperative launch run at once: two of 1024 threads on each of eight processors.
  if (cooperative && ((uint64_t)x * y * z * threads > 8 * 2048 || stream->capture)) return TOO_LARGE;
  std::vector<std::string> held;
  for (unsigned i = 0; i < function->entry->count; i++) held.emplace_back((const char*)values[i], function->entry->bytes[i]);
  return asked(stream, [=]() mutable {
    if (!runs()) return;
    std::vector<void*> places;
    for (std::string& value : held) places.push_back(&value[0]);
    const unsigned blocks[3] = {x, y, z};
    function->launch(function->entry, blocks, threads, shared, cooperative, places.data(), stacks());
  });
}

ASKED Result cuStreamBeginCapture_v2(Stream* stream, int) { CONTEXT; return stream->capture ? UNSUPPORTED : (stream->behind.clear(), stream->capture = new Graph, SUCCESS); }
ASKED Result cuStreamEndCapture(Stream* stream, Graph** graph) {
  CONTEXT;
  *graph = stream->capture;
  stream->capture = nullptr;
  if (!*graph) return INVALID;
  // Nothing that was captured may be left behind: what comes after the graph would not wait for it.
  std::vector<bool> followed((*graph)->nodes.size() + 1, false);
  for (const Node& node : (*graph)->nodes) for (size_t other : node.behind) followed[other] = true;
  for (size_t last : stream->behind) followed[last] = true;
  for (size_t node = 1; node < followed.size(); node++) if (!followed[node]) return UNJOINED;
  return SUCCESS;
}
ASKED Result cuStreamGetCaptureInfo_v3(Stream* stream, int* status, void*, void*, const size_t** nodes, const void** edges, size_t* count) {
  CONTEXT;
  return *status = stream->capture ? 1 : 0, *nodes = stream->behind.data(), *edges = nullptr, *count = stream->behind.size(), SUCCESS;
}
ASKED Result cuStreamUpdateCaptureDependencies_v2(Stream* stream, const size_t* nodes, const void*, size_t count, unsigned replaces) {
  CONTEXT;
  if (!stream->capture || !replaces) return INVALID;
  return stream->behind = std::vector<size_t>(nodes, nodes + count), SUCCESS;
}
ASKED Result cuGraphGetNodes(Graph* graph, void*, size_t* count) { CONTEXT; return *count = graph->nodes.size(), SUCCESS; }
ASKED Result cuGraphInstantiateWithFlags(Graph** made, Graph* graph, unsigned long long) { CONTEXT; return *made = new Graph(*graph), SUCCESS; }
ASKED Result cuGraphUpload(Graph*, Stream*) { CONTEXT; return SUCCESS; }
ASKED Result cuGraphLaunch(Graph* graph, Stream*) {
  CONTEXT;
  // As late as the graph allows: what was captured last is done first, after what it follows. Who left out that something follows something else
  // finds it done in another order.
  std::vector<bool> done(graph->nodes.size() + 1, false);
  for (size_t last = graph->nodes.size(); last > 0; last--) {
    std::vector<size_t> wanted = {last};
    while (!wanted.empty()) {
      const size_t node = wanted.back();
      size_t missing = 0;
      for (size_t other : graph->nodes[node - 1].behind) if (!done[other] && other > missing) missing = other;
      if (missing && !done[node]) { wanted.push_back(missing); continue; }
      if (!done[node]) graph->nodes[node - 1].work();
      done[node] = true;
      wanted.pop_back();
    }
  }
  return SUCCESS;
}
ASKED Result cuGraphExecDestroy(Graph* graph) { return delete graph, SUCCESS; }
ASKED Result cuGraphDestroy(Graph* graph) { return delete graph, SUCCESS; }
ASKED Result cuGetErrorName(int result, const char** name) {
  static const std::map<int, const char*> names = {{MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"}, {3, "CUDA_ERROR_NOT_INITIALIZED"}, {46, "CUDA_ERROR_DEVICE_UNAVAILABLE"},
    {NO_DEVICE, "CUDA_ERROR_NO_DEVICE"}, {INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE"}, {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"}, {214, "CUDA_ERROR_ECC_UNCORRECTABLE"},
    {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"}, {ILLEGAL, "CUDA_ERROR_ILLEGAL_ADDRESS"}, {716, "CUDA_ERROR_MISALIGNED_ADDRESS"}, {719, "CUDA_ERROR_LAUNCH_FAILED"},
    {802, "CUDA_ERROR_SYSTEM_NOT_READY"}, {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"}, {804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE"}, {999, "CUDA_ERROR_UNKNOWN"}};
  const auto found = names.find(result);
  return *name = found == names.end() ? "CUDA_ERROR" : found->second, SUCCESS;
}
ASKED Result cuGetErrorString(int, const char** words) { return *words = "the emulator refuses", SUCCESS; }
