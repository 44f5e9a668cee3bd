// The fastest that cuBLAS has for one tall-skinny product of row-major f32 operands: y = x * w^T, or dw = dy^T * x.
// Tried are all algorithms that cublasLtMatmulAlgoGetHeuristic returns (at most 64 for each of two ways to say the layout: columns first with
// the operands exchanged, and rows first), split along the inner axis or not, and the one that cublasGemmEx takes. This is the strongest fair
// use of the vendor library, so it is the anchor for our own products.
//
// Promises that each algorithm is run before it is timed, that `times` of one in a CUDA graph are timed in the mean over replays (as Warploom times
// its own passes), and that `out` ends with the product of the best one, to be compared by the caller. The second cache is not flushed: operands that
// fit are warm, for all alike. Never allocates a workspace: split algorithms get the caller's, and those that want more are not asked for.
// Limits: sizes below 2^31; algorithms that take twice as long as the best so far are not timed further, and after `seconds_most` no further one is begun.
//
// Build:  nvcc -O3 -std=c++17 -Xcompiler -fPIC -shared cublaslt_best.cu -o libcublaslt_best.so -lcublasLt -lcublas
// Use through ctypes: clb_best for each product. All pointers but `product` and `best` are device pointers.
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <functional>
#include <vector>

extern "C" {

// Rows of x lie `stride` numbers apart; w, y and dy have no gaps.
struct Product {
    int64_t rows, inner, wide, stride;
    int32_t gradient;  // 0: out = y[rows, wide] = x * other^T, other = w[wide, inner]; 1: out = dw[wide, inner] = other^T * x, other = dy[rows, wide]
    int32_t tf32;      // 0: CUBLAS_COMPUTE_32F; 1: CUBLAS_COMPUTE_32F_FAST_TF32
    const float *x, *other;
    float *out;
    void *workspace;
    uint64_t workspace_bytes;
    int32_t times, replays;  // In one graph; of the graph.
    double seconds_most;
};

// Microseconds of one; infinite where there is none. `index` of the best: its place among those returned for `layout` (0: columns, 1: rows).
struct Best {
    double lt_us, gemm_us;
    int32_t returned, tried, layout, index, split;
};

}  // extern "C"

namespace {

// Returns from the enclosing function with the library's status, negated for the runtime's so that the two never mix.
#define BL(call) do { cublasStatus_t s_ = (call); if (s_ != CUBLAS_STATUS_SUCCESS) return (int)s_; } while (0)
#define RT(call) do { cudaError_t e_ = (call); if (e_ != cudaSuccess) return -(int)e_; } while (0)

constexpr int kAsked = 64;
constexpr double kHopeless = 2.0;
const float kOne = 1.0f, kZero = 0.0f;

using Work = std::function<int(cudaStream_t)>;

// Descriptors of one product in one layout, and what is returned for it.
struct Layout {
    cublasLtMatmulDesc_t operation = nullptr;
    cublasLtMatrixLayout_t a = nullptr, b = nullptr, out = nullptr;
    const float *a_at = nullptr, *b_at = nullptr;
    std::vector<cublasLtMatmulHeuristicResult_t> found;

    ~Layout() {
        if (a) cublasLtMatrixLayoutDestroy(a);
        if (b) cublasLtMatrixLayoutDestroy(b);
        if (out) cublasLtMatrixLayoutDestroy(out);
        if (operation) cublasLtMatmulDescDestroy(operation);
    }
};

struct Handles {
    cublasLtHandle_t lt = nullptr;
    cublasHandle_t blas = nullptr;
    cudaStream_t stream = nullptr;
    cudaEvent_t from = nullptr, to = nullptr;

    ~Handles() {
        if (from) cudaEventDestroy(from);
        if (to) cudaEventDestroy(to);
        if (blas) cublasDestroy(blas);
        if (lt) cublasLtDestroy(lt);
        if (stream) cudaStreamDestroy(stream);
    }
};

cublasComputeType_t compute(const Product &p) { return p.tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F; }

int matrix(cublasLtMatrixLayout_t *made, int64_t rows, int64_t columns, int64_t leading, bool rows_first) {
    // `rows` and `columns` are those of the matrix as it is said; `leading` is the distance of its columns, or with rows_first of its rows.
    BL(cublasLtMatrixLayoutCreate(made, CUDA_R_32F, rows, columns, leading));
    cublasLtOrder_t order = rows_first ? CUBLASLT_ORDER_ROW : CUBLASLT_ORDER_COL;
    BL(cublasLtMatrixLayoutSetAttribute(*made, CUBLASLT_MATRIX_LAYOUT_ORDER, &order, sizeof order));
    return 0;
}

// A row-major matrix read by columns is its transpose: y^T = (w^T)^T * x^T and dw^T = x^T * (dy^T)^T.
int describe(Layout &l, const Product &p, bool rows_first) {
    BL(cublasLtMatmulDescCreate(&l.operation, compute(p), CUDA_R_32F));
    cublasOperation_t yes = CUBLAS_OP_T;
    const int64_t other_rows = p.gradient ? p.rows : p.wide, other_columns = p.gradient ? p.wide : p.inner;
    const int64_t out_rows = p.gradient ? p.wide : p.rows, out_columns = p.gradient ? p.inner : p.wide;
    cublasLtMatrixLayout_t x = nullptr, other = nullptr;
    int err = rows_first ? matrix(&x, p.rows, p.inner, p.stride, true) : matrix(&x, p.inner, p.rows, p.stride, false);
    if (!err) err = rows_first ? matrix(&other, other_rows, other_columns, other_columns, true) : matrix(&other, other_columns, other_rows, other_columns, false);
    if (!err) err = rows_first ? matrix(&l.out, out_rows, out_columns, out_columns, true) : matrix(&l.out, out_columns, out_rows, out_columns, false);
    // It is `other` that is transposed: the first factor forward by columns and in the gradient by rows, else the second.
    const bool x_first = rows_first != (p.gradient != 0);
    l.a = x_first ? x : other;
    l.b = x_first ? other : x;
    l.a_at = x_first ? p.x : p.other;
    l.b_at = x_first ? p.other : p.x;
    if (err) return err;
    BL(cublasLtMatmulDescSetAttribute(l.operation, x_first ? CUBLASLT_MATMUL_DESC_TRANSB : CUBLASLT_MATMUL_DESC_TRANSA, &yes, sizeof yes));
    return 0;
}

int ask(Layout &l, const Handles &h, const Product &p) {
    cublasLtMatmulPreference_t preference = nullptr;
    BL(cublasLtMatmulPreferenceCreate(&preference));
    size_t most = p.workspace_bytes;
    cublasStatus_t status = cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &most, sizeof most);
    int count = 0;
    l.found.resize(kAsked);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = cublasLtMatmulAlgoGetHeuristic(h.lt, l.operation, l.a, l.b, l.out, l.out, preference, kAsked, l.found.data(), &count);
    l.found.resize(status == CUBLAS_STATUS_SUCCESS ? count : 0);
    cublasLtMatmulPreferenceDestroy(preference);
    return status == CUBLAS_STATUS_NOT_SUPPORTED ? 0 : (int)status;
}

Work lt_work(const Layout &l, const Handles &h, const Product &p, int index) {
    return [&l, &h, &p, index](cudaStream_t stream) {
        BL(cublasLtMatmul(h.lt, l.operation, &kOne, l.a_at, l.a, l.b_at, l.b, &kZero, p.out, l.out, p.out, l.out, &l.found[index].algo, p.workspace,
                          p.workspace_bytes, stream));
        return 0;
    };
}

Work gemm_work(const Handles &h, const Product &p) {
    return [&h, &p](cudaStream_t stream) {
        BL(cublasSetStream(h.blas, stream));
        BL(cublasSetWorkspace(h.blas, p.workspace, p.workspace_bytes));
        const int wide = (int)p.wide, inner = (int)p.inner, rows = (int)p.rows, stride = (int)p.stride;
        if (p.gradient)
            BL(cublasGemmEx(h.blas, CUBLAS_OP_N, CUBLAS_OP_T, inner, wide, rows, &kOne, p.x, CUDA_R_32F, stride, p.other, CUDA_R_32F, wide, &kZero, p.out,
                            CUDA_R_32F, inner, compute(p), CUBLAS_GEMM_DEFAULT));
        else
            BL(cublasGemmEx(h.blas, CUBLAS_OP_T, CUBLAS_OP_N, wide, rows, inner, &kOne, p.other, CUDA_R_32F, inner, p.x, CUDA_R_32F, stride, &kZero, p.out,
                            CUDA_R_32F, wide, compute(p), CUBLAS_GEMM_DEFAULT));
        return 0;
    };
}

int between(const Handles &h, float *ms, const std::function<int()> &what) {
    RT(cudaEventRecord(h.from, h.stream));
    if (int err = what()) return err;
    RT(cudaEventRecord(h.to, h.stream));
    RT(cudaEventSynchronize(h.to));
    RT(cudaEventElapsedTime(ms, h.from, h.to));
    return 0;
}

// Microseconds of one in a graph of `times`: the mean over replays after one that does not count.
int in_graph(const Handles &h, const Product &p, const Work &work, double *us) {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t ready = nullptr;
    int err = 0;
    RT(cudaStreamBeginCapture(h.stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < p.times && !err; ++i) err = work(h.stream);
    cudaError_t ended = cudaStreamEndCapture(h.stream, &graph);
    if (!err) err = -(int)ended;
    if (!err) err = -(int)cudaGraphInstantiate(&ready, graph, 0);
    float ms = 0;
    auto replay = [&](int count) {
        for (int i = 0; i < count; ++i) RT(cudaGraphLaunch(ready, h.stream));
        return 0;
    };
    if (!err) err = replay(1);
    if (!err) err = between(h, &ms, [&] { return replay(p.replays); });
    if (ready) cudaGraphExecDestroy(ready);
    if (graph) cudaGraphDestroy(graph);
    if (!err) *us = ms * 1e3 / p.times / p.replays;
    return err;
}

// The same after one that loads the kernel and one that says whether it is worth it; infinite where it is not.
int timed(const Handles &h, const Product &p, const Work &work, double best_us, double *us) {
    float ms = 0;
    *us = INFINITY;
    if (int err = work(h.stream)) return err;
    RT(cudaStreamSynchronize(h.stream));
    if (int err = between(h, &ms, [&] { return work(h.stream); })) return err;
    return ms * 1e3 > kHopeless * best_us + 10.0 ? 0 : in_graph(h, p, work, us);
}

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

int begin(Handles &h) {
    BL(cublasLtCreate(&h.lt));
    BL(cublasCreate(&h.blas));
    RT(cudaStreamCreateWithFlags(&h.stream, cudaStreamNonBlocking));
    RT(cudaEventCreate(&h.from));
    RT(cudaEventCreate(&h.to));
    return 0;
}

int search(const Handles &h, const Product &p, Layout (&layouts)[2], Best *best) {
    for (int number = 0; number < 2; ++number) {
        Layout &l = layouts[number];
        if (int err = describe(l, p, number == 1)) return err;
        if (int err = ask(l, h, p)) return err;
        best->returned += (int)l.found.size();
    }
    RT(cudaDeviceSynchronize());
    // An algorithm that refuses its operands is passed over; a fault of the device is not.
    if (timed(h, p, gemm_work(h, p), INFINITY, &best->gemm_us)) best->gemm_us = INFINITY;
    RT(cudaStreamSynchronize(h.stream));
    const double until = seconds() + p.seconds_most;
    for (int index = 0; index < kAsked; ++index)
        for (int number = 0; number < 2; ++number) {
            Layout &l = layouts[number];
            if (index >= (int)l.found.size() || l.found[index].state != CUBLAS_STATUS_SUCCESS || (best->tried && seconds() > until)) continue;
            double us = INFINITY;
            int err = timed(h, p, lt_work(l, h, p, index), best->lt_us, &us);
            RT(cudaStreamSynchronize(h.stream));
            best->tried += err == 0;
            if (err || us >= best->lt_us) continue;
            best->lt_us = us;
            best->layout = number;
            best->index = index;
            cublasLtMatmulAlgoConfigGetAttribute(&l.found[index].algo, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, &best->split, sizeof best->split, nullptr);
        }
    return 0;
}

}  // namespace

extern "C" {

// Returns 0, or an error of cuBLAS (positive) or of the runtime (negative); then *best holds what was found before.
int clb_best(const Product *product, Best *best) {
    const Product &p = *product;
    *best = Best{INFINITY, INFINITY, 0, 0, -1, -1, 0};
    Handles h;
    Layout layouts[2];
    if (int err = begin(h)) return err;
    if (int err = search(h, p, layouts, best)) return err;
    const bool is_gemm = best->gemm_us < best->lt_us;
    if (!is_gemm && best->index < 0) return (int)CUBLAS_STATUS_NOT_SUPPORTED;
    // Nothing of an earlier one may be taken for its result.
    RT(cudaMemsetAsync(p.out, 0xff, sizeof(float) * p.wide * (p.gradient ? p.inner : p.rows), h.stream));
    Work work = is_gemm ? gemm_work(h, p) : lt_work(layouts[best->layout], h, p, best->index);
    if (int err = work(h.stream)) return err;
    RT(cudaStreamSynchronize(h.stream));
    return 0;
}

}  // extern "C"
