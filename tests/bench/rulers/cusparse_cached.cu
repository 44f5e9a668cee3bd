// cuSPARSE SpMM, C = A * B, with every reusable object kept: descriptors, workspace and preprocessing are made once.
// This is the strongest fair use of the vendor library, so it is the anchor for our own SpMM (torch rebuilds all three per call).
//
// Build:  nvcc -O3 -std=c++17 -arch=sm_90 -Xcompiler -fPIC -shared cusparse_cached.cu -o libcusparse_cached.so -lcusparse
// Use through ctypes: csc_create -> csc_run (timed) or csc_mul (one product) -> csc_destroy. All pointers are device pointers.
// Value types: 0 = fp32, 1 = fp16, 2 = bf16 (A, B and C alike; accumulation is always fp32).
// Algorithms:  0 = default, 1..3 = CSR_ALG1..3 (3 needs preprocessing and balances by non-zeros).
#include <algorithm>
#include <cstdio>
#include <cuda_runtime.h>
#include <cusparse.h>
#include <vector>

namespace {

struct Plan {
    cusparseHandle_t handle = nullptr;
    cusparseSpMatDescr_t a = nullptr;
    cusparseDnMatDescr_t b = nullptr, c = nullptr;
    cusparseSpMMAlg_t alg = CUSPARSE_SPMM_ALG_DEFAULT;
    void *work = nullptr;
    size_t work_bytes = 0;
};

constexpr cudaDataType kTypes[] = {CUDA_R_32F, CUDA_R_16F, CUDA_R_16BF};
constexpr cusparseSpMMAlg_t kAlgs[] = {CUSPARSE_SPMM_ALG_DEFAULT, CUSPARSE_SPMM_CSR_ALG1,
                                       CUSPARSE_SPMM_CSR_ALG2, CUSPARSE_SPMM_CSR_ALG3};
const float kOne = 1.0f, kZero = 0.0f;

// Returns from the enclosing function with the library's status, negated for the runtime's so that the two never mix.
#define SP(call) do { cusparseStatus_t s_ = (call); if (s_ != CUSPARSE_STATUS_SUCCESS) return (int)s_; } while (0)
#define RT(call) do { cudaError_t e_ = (call); if (e_ != cudaSuccess) return -(int)e_; } while (0)

int multiply(const Plan &p) {
    SP(cusparseSpMM(p.handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &kOne, p.a, p.b, &kZero,
                    p.c, CUDA_R_32F, p.alg, p.work));
    return 0;
}

int fill(Plan &p, int rows, int cols, long long nnz, int *rowptr, int *colidx, void *values, void *b, void *c, int d, int type,
         int alg, int preprocess) {
    cudaDataType t = kTypes[type];
    p.alg = kAlgs[alg];
    SP(cusparseCreate(&p.handle));
    SP(cusparseCreateCsr(&p.a, rows, cols, nnz, rowptr, colidx, values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                         CUSPARSE_INDEX_BASE_ZERO, t));
    SP(cusparseCreateDnMat(&p.b, cols, d, d, b, t, CUSPARSE_ORDER_ROW));
    SP(cusparseCreateDnMat(&p.c, rows, d, d, c, t, CUSPARSE_ORDER_ROW));
    SP(cusparseSpMM_bufferSize(p.handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &kOne, p.a, p.b,
                               &kZero, p.c, CUDA_R_32F, p.alg, &p.work_bytes));
    if (p.work_bytes) RT(cudaMalloc(&p.work, p.work_bytes));
    if (preprocess)
        SP(cusparseSpMM_preprocess(p.handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &kOne, p.a, p.b,
                                   &kZero, p.c, CUDA_R_32F, p.alg, p.work));
    RT(cudaDeviceSynchronize());
    return 0;
}

}  // namespace

extern "C" {

void csc_destroy(void *plan) {
    auto *p = static_cast<Plan *>(plan);
    if (!p) return;
    if (p->a) cusparseDestroySpMat(p->a);
    if (p->b) cusparseDestroyDnMat(p->b);
    if (p->c) cusparseDestroyDnMat(p->c);
    if (p->work) cudaFree(p->work);
    if (p->handle) cusparseDestroy(p->handle);
    delete p;
}

// Makes a plan for one (A, B, C) triple. Returns 0 and sets *plan and *work_bytes, or an error code and leaves nothing behind.
int csc_create(int rows, int cols, long long nnz, int *rowptr, int *colidx, void *values, void *b, void *c, int d, int type,
               int alg, int preprocess, void **plan, size_t *work_bytes) {
    auto *p = new Plan;
    int err = fill(*p, rows, cols, nnz, rowptr, colidx, values, b, c, d, type, alg, preprocess);
    if (err) {
        csc_destroy(p);
        return err;
    }
    *plan = p;
    *work_bytes = p->work_bytes;
    return 0;
}

// One product on the default stream, waited for.
int csc_mul(void *plan) {
    int err = multiply(*static_cast<Plan *>(plan));
    if (err) return err;
    RT(cudaDeviceSynchronize());
    return 0;
}

// For capture into a CUDA graph: the stream to use, and one product enqueued there.
int csc_enqueue(void *plan, void *stream) {
    auto &p = *static_cast<Plan *>(plan);
    SP(cusparseSetStream(p.handle, (cudaStream_t)stream));
    return multiply(p);
}

// Median device time of one product in ms, over batches of equal length that together last about budget_ms.
int csc_run(void *plan, double budget_ms, float *median_ms) {
    auto &p = *static_cast<Plan *>(plan);
    cudaEvent_t from, to;
    RT(cudaEventCreate(&from));
    RT(cudaEventCreate(&to));
    auto batch = [&](int n, float *ms) {
        RT(cudaEventRecord(from));
        for (int i = 0; i < n; ++i)
            if (int err = multiply(p)) return err;
        RT(cudaEventRecord(to));
        RT(cudaEventSynchronize(to));
        RT(cudaEventElapsedTime(ms, from, to));
        *ms /= n;
        return 0;
    };
    float ms = 0;
    int err = batch(3, &ms);  // warm-up, and a first estimate
    if (!err) err = batch(2, &ms);
    std::vector<float> seen;
    if (!err) {
        int per = std::max(1, std::min(50, (int)(0.5 / std::max(ms, 1e-4f))));
        int batches = std::max(3, std::min(15, (int)(budget_ms / std::max(per * ms, 1e-3f))));
        for (int i = 0; i < batches && !err; ++i) {
            err = batch(per, &ms);
            seen.push_back(ms);
        }
    }
    cudaEventDestroy(from);
    cudaEventDestroy(to);
    if (err) return err;
    std::sort(seen.begin(), seen.end());
    *median_ms = seen[seen.size() / 2];
    return 0;
}

}  // extern "C"
