//! Proves that kernels compile for the architectures that are supported, on a machine without a
//! GPU, and that whatever does not compile is told with what a person needs.
//!
//! NVRTC is taken from `WARPLOOM_NVRTC`, else fetched once with `tests/tools/nvrtc.sh`; without
//! either, tests say that they were skipped.
use std::path::Path;

use warploom_device::{
    Capability, Code, Cubin, Fault, Nvrtc,
    nvrtc::{self, Source},
};
use warploom_test_support::nvrtc::{CAPABILITIES, nvrtc};
use warploom_test_support::skips::skipped;

const AMPERE: Capability = Capability::new(8, 0);
const HOPPER: Capability = Capability::new(9, 0);

fn compile(
    nvrtc: &Nvrtc,
    text: &str,
    capability: Capability,
    options: &[&str],
) -> Result<Cubin, Fault> {
    let options: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
    nvrtc.compile(&Source { name: "test.cu", text, capability, options: &options })
}

#[test]
fn the_kernels_that_measure_rates_compile_without_spills() {
    let Some(nvrtc) = nvrtc("the_kernels_that_measure_rates_compile_without_spills") else {
        return;
    };
    for capability in CAPABILITIES {
        let cubin = nvrtc
            .compile(&Source {
                name: "rates.cu",
                text: warploom_device::measure::KERNELS,
                capability,
                options: &[],
            })
            .unwrap();
        let mut names: Vec<&str> =
            cubin.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
        names.sort_unstable();
        let gathers = ["gather_128", "gather_256", "gather_512", "gather_64"];
        assert_eq!(
            names,
            [
                &["arithmetic_f32", "arithmetic_f64", "copy", "draw"],
                &gathers[..],
                &["start", "total"]
            ]
            .concat()
        );
        for kernel in &cubin.kernels {
            // As many blocks as a processor holds: 64 registers are those of four, 32 those of
            // eight.
            let most =
                if kernel.name.starts_with("gather") || kernel.name == "total" { 64 } else { 32 };
            assert!(
                kernel.spill_stores + kernel.spill_loads + kernel.stack == 0
                    && kernel.registers <= most,
                "{capability}: {kernel:?}"
            );
        }
    }
}

/// A thread keeps 64 numbers, and 1024 threads have 64 registers each for everything.
const SPILLS: &str = r#"
extern "C" __global__ void __launch_bounds__(1024) spill(float* y, const float* x) {
  float kept[64];
  #pragma unroll
  for (int i = 0; i < 64; i++) kept[i] = x[i * 1024 + threadIdx.x];
  for (int round = 0; round < 8; round++) {
    #pragma unroll
    for (int i = 0; i < 64; i++) kept[i] = kept[(i * 7 + 3) % 64] * kept[i] + y[round];
  }
  #pragma unroll
  for (int i = 0; i < 64; i++) y[i * 1024 + threadIdx.x] = kept[i];
}
extern "C" __global__ void tidy(float* y) { y[threadIdx.x] = 1.0f; }
"#;

#[test]
fn a_spill_is_reported_with_its_kernel() {
    let Some(nvrtc) = nvrtc("a_spill_is_reported_with_its_kernel") else { return };
    let cubin = compile(nvrtc, SPILLS, HOPPER, &[]).unwrap();
    let of = |name: &str| cubin.kernels.iter().find(|kernel| kernel.name == name).unwrap();
    assert!(
        of("spill").spill_stores > 0 && of("spill").spill_loads > 0 && of("spill").stack > 0,
        "{:?}",
        cubin.kernels
    );
    assert!(of("spill").registers <= 64);
    assert_eq!((of("tidy").spill_stores, of("tidy").stack), (0, 0));
}

#[test]
fn an_error_comes_with_the_lines_around_it() {
    let Some(nvrtc) = nvrtc("an_error_comes_with_the_lines_around_it") else { return };
    let text = "// one\n// two\nextern \"C\" __global__ void k(float* y) {\n  // four\n  y[0] = \
        missing;\n}\n";
    let fault = compile(nvrtc, text, HOPPER, &[]).unwrap_err();
    let Code::Compile { log } = &fault.code else { panic!("{fault:?}") };
    assert_eq!(fault.what, "compile `test.cu` for sm_90a");
    assert!(log.contains("test.cu(5): error") && log.contains("missing"), "{log}");
    assert!(
        log.contains("\n>     5 |   y[0] = missing;")
            && log.contains("\n      2 | // two")
            && !log.contains("| // one"),
        "{log}"
    );
    let Code::Compile { log } =
        compile(nvrtc, text, HOPPER, &["--no-such-option"]).unwrap_err().code
    else {
        panic!("an option was taken")
    };
    assert!(log.contains("--no-such-option"), "{log}");
    assert_eq!(compile(nvrtc, "\0", HOPPER, &[]).unwrap_err().code, Code::Misuse);
    assert_eq!(compile(nvrtc, text, HOPPER, &["-DA=\0"]).unwrap_err().code, Code::Misuse);
}

#[test]
fn an_unknown_architecture_comes_with_those_that_are_known() {
    let Some(nvrtc) = nvrtc("an_unknown_architecture_comes_with_those_that_are_known") else {
        return;
    };
    for (major, minor) in [(1, 0), (7, 30), (99, 9), (u32::MAX / 10, 9)] {
        let fault = compile(nvrtc, "", Capability::new(major, minor), &[]).unwrap_err();
        assert!(
            fault.code == Code::Absent
                && fault.what.contains("knows")
                && fault.what.contains("sm_90"),
            "{fault}"
        );
    }
    let known = nvrtc.architectures().unwrap();
    assert!(
        CAPABILITIES.iter().all(|one| known.contains(&(10 * one.major + one.minor))),
        "{known:?}"
    );
}

#[test]
fn headers_of_cuda_are_found() {
    let Some(nvrtc) = nvrtc("headers_of_cuda_are_found") else { return };
    if nvrtc.version < (13, 3) {
        return skipped(
            "nvrtc::headers_of_cuda_are_found",
            format!("NVRTC {:?} has no headers in it", nvrtc.version),
        );
    }
    let text = "#include <cuda_fp16.h>\nextern \"C\" __global__ void k(__half* y) { y[0] = \
        __float2half(2.0f); }";
    // Unpacked where the test says, and not into the cache folder of whoever runs it.
    let folder = tempfile::tempdir().unwrap();
    let option = format!("--use-bundled-headers={}", folder.path().join("headers").display());
    for _twice in 0..2 {
        assert_eq!(compile(nvrtc, text, AMPERE, &[&option]).unwrap().kernels.len(), 1);
    }
}

#[test]
fn the_same_text_gives_the_same_code() {
    let Some(nvrtc) = nvrtc("the_same_text_gives_the_same_code") else { return };
    let bytes = |_| compile(nvrtc, SPILLS, AMPERE, &[]).unwrap().bytes;
    let [first, second] = [0, 1].map(bytes);
    assert!(first == second && first.starts_with(b"\x7fELF"));
}

#[test]
fn a_wrong_place_is_told() {
    let fault = nvrtc::Nvrtc::open_at(Path::new("no/such/folder")).unwrap_err();
    assert_eq!(fault.code, Code::Absent);
    assert!(
        fault.what.contains("no/such/folder")
            && fault.hint.unwrap().contains("pip install nvidia-cuda-nvrtc")
    );
}
