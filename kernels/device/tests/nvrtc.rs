//! Proves that kernels compile for the architectures that are supported, on a machine without a
//! GPU, and that whatever does not compile is told with what a person needs.
//!
//! NVRTC is taken from `WARPLOOM_NVRTC`, else fetched once with `tests/tools/nvrtc.sh`; without
//! either, tests say that they were skipped.
use std::path::Path;

use warploom_device::{
    Code, Cubin, Fault, Nvrtc,
    nvrtc::{self, Source},
};
use warploom_test_support::nvrtc::{ARCHITECTURES, is_taken, nvrtc};
use warploom_test_support::repository;
use warploom_test_support::skips::skipped;

/// Kernels of the lab: file, definitions, and registers of a thread at most. Each is a schedule
/// that spills on no architecture.
const LAB: [(&str, &[&str], u32); 12] = [
    ("neighbour_sum.cu", &["D=16", "B=8", "MINB=3"], 80),
    ("neighbour_sum.cu", &["D=32", "B=8", "MINB=3", "J=2"], 80),
    ("neighbour_sum.cu", &["D=64", "B=8", "MINB=4"], 64),
    ("neighbour_sum.cu", &["D=64", "B=8", "MINB=3", "WEIGHTED=1"], 80),
    ("neighbour_sum.cu", &["D=128", "B=8", "MINB=4"], 64),
    ("neighbour_sum.cu", &["D=256", "Q=2", "B=8", "MINB=2"], 128),
    ("gat.cu", &["HEADS=8", "WIDTH=8", "MINB=3"], 80),
    ("gat.cu", &["HEADS=8", "WIDTH=8", "MINB=3", "BACKWARD=1"], 80),
    ("gat.cu", &["HEADS=1", "WIDTH=32", "MINB=3"], 80),
    (
        "skinny_forward.cu",
        &["NT=2", "DEPTH=2", "WARPS=8", "MINB=2", "SCALE=1", "BIAS=1", "RELU=1"],
        128,
    ),
    ("skinny_forward.cu", &["NT=8", "DEPTH=4", "WARPS=8"], 255),
    ("skinny_gradient.cu", &["NT=2", "CT=4", "WC=1", "WR=8", "DEPTH=3"], 255),
];

fn compile(nvrtc: &Nvrtc, text: &str, arch: (u32, u32), options: &[&str]) -> Result<Cubin, Fault> {
    let options: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
    nvrtc.compile(&Source { name: "test.cu", text, arch, options: &options })
}

#[test]
fn the_kernels_of_the_lab_compile_without_spills() {
    let Some(nvrtc) = nvrtc("the_kernels_of_the_lab_compile_without_spills") else { return };
    for (number, (file, settings, registers)) in LAB.into_iter().enumerate() {
        let text =
            std::fs::read_to_string(repository().join("kernels/device/lab/kernels").join(file))
                .unwrap();
        let options: Vec<String> = settings.iter().map(|setting| format!("-D{setting}")).collect();
        for arch in ARCHITECTURES.into_iter().filter(|arch| is_taken((number, LAB.len()), *arch)) {
            let cubin = nvrtc
                .compile(&Source { name: file, text: &text, arch, options: &options })
                .unwrap();
            assert!(!cubin.kernels.is_empty(), "{file}: the log names no kernel:\n{}", cubin.log);
            for kernel in &cubin.kernels {
                assert_eq!(
                    (kernel.spill_stores, kernel.spill_loads),
                    (0, 0),
                    "{file} {settings:?} for {arch:?}: {kernel:?}"
                );
                assert!(
                    (1..=registers).contains(&kernel.registers),
                    "{file} {settings:?} for {arch:?}: {kernel:?}"
                );
            }
            assert!(
                cubin.kernels.iter().any(|kernel| file.strip_suffix(".cu") == Some(&kernel.name)),
                "{:?}",
                cubin.kernels
            );
        }
    }
}

#[test]
fn the_kernels_that_measure_rates_compile_without_spills() {
    let Some(nvrtc) = nvrtc("the_kernels_that_measure_rates_compile_without_spills") else {
        return;
    };
    for arch in ARCHITECTURES {
        let cubin = nvrtc
            .compile(&Source {
                name: "rates.cu",
                text: warploom_device::measure::KERNELS,
                arch,
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
                "{arch:?}: {kernel:?}"
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
    let cubin = compile(nvrtc, SPILLS, (9, 0), &[]).unwrap();
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
    let fault = compile(nvrtc, text, (9, 0), &[]).unwrap_err();
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
        compile(nvrtc, text, (9, 0), &["--no-such-option"]).unwrap_err().code
    else {
        panic!("an option was taken")
    };
    assert!(log.contains("--no-such-option"), "{log}");
    assert_eq!(compile(nvrtc, "\0", (9, 0), &[]).unwrap_err().code, Code::Misuse);
    assert_eq!(compile(nvrtc, text, (9, 0), &["-DA=\0"]).unwrap_err().code, Code::Misuse);
}

#[test]
fn an_unknown_architecture_comes_with_those_that_are_known() {
    let Some(nvrtc) = nvrtc("an_unknown_architecture_comes_with_those_that_are_known") else {
        return;
    };
    for arch in [(1, 0), (7, 30), (99, 9), (u32::MAX / 10, 9)] {
        let fault = compile(nvrtc, "", arch, &[]).unwrap_err();
        assert!(
            matches!(&fault.code, Code::Compile { log } if log.contains("knows") && log.contains("sm_90")),
            "{fault}"
        );
    }
    let known = nvrtc.architectures().unwrap();
    assert!(
        ARCHITECTURES.iter().all(|(major, minor)| known.contains(&(10 * major + minor))),
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
        assert_eq!(compile(nvrtc, text, (8, 0), &[&option]).unwrap().kernels.len(), 1);
    }
}

#[test]
fn the_same_text_gives_the_same_code() {
    let Some(nvrtc) = nvrtc("the_same_text_gives_the_same_code") else { return };
    let bytes = |_| compile(nvrtc, SPILLS, (8, 0), &[]).unwrap().bytes;
    let [first, second] = [0, 1].map(bytes);
    assert!(first == second && first.starts_with(b"\x7fELF"));
}

#[test]
fn a_wrong_place_is_told() {
    let fault = nvrtc::Nvrtc::at(Path::new("no/such/folder")).unwrap_err();
    assert_eq!(fault.code, Code::Absent);
    assert!(
        fault.what.contains("no/such/folder")
            && fault.hint.unwrap().contains("pip install nvidia-cuda-nvrtc")
    );
}
