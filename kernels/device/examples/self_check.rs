//! self_check: exercises everything this crate offers on a GPU, compares the results and prints
//! rates. Fails at the first wrong result.
//!
//! usage     cargo run --release -p warploom-device --example self_check -- [CUBIN]
//!           self_check --write CUBIN [MAJOR.MINOR]    compiles its kernels (for 9.0 by default)
//!           for a machine without NVRTC, and needs no GPU
//! promises  exits with 0 only if every check passed, and with 1 otherwise; says which checks it
//!           skipped because no compiler was found
//! never     leaves a file behind, except the CUBIN that was asked for
//! limits    1 GiB of device memory, 512 MiB of pinned host memory; its last step breaks the CUDA
//!           context of this process, on purpose
#![allow(unsafe_code)]
use std::{error::Error, fs::File, io::Write, process::ExitCode, time::Instant};

use warploom_device::{
    Capability, Code, Cubin, Fault, Gpu, Nvrtc,
    gpu::{ArgumentValue, Grid, Kernel, Memory, Module, Parameter, ParameterKind, Piece, Start},
    nvrtc::Source,
};

const TEXT: &str = r#"
extern "C" __global__ void saxpy(float* __restrict__ y, const float* __restrict__ x, float a, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
// Reverses n numbers through dynamic shared memory.
extern "C" __global__ void turn(float* y, unsigned n) {
  extern __shared__ float kept[];
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x) kept[i] = y[i];
  __syncthreads();
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x) y[i] = kept[n - 1 - i];
}
extern "C" __global__ void kinds(double* out, unsigned a, unsigned long long b, int c, float d, double e) {
  out[0] = a + e; out[1] = (double)b; out[2] = c; out[3] = d;
}
"#;

/// Bytes of the transfers.
const BYTES: usize = 256 << 20;
/// Numbers that saxpy works on: as many floats as there are bytes.
const NUMBERS: u32 = (BYTES / 4) as u32;
/// Numbers that are reversed: 80,000 bytes of shared memory.
const TURNED: u32 = 20_000;

type Done = Result<(), Box<dyn Error>>;

fn main() -> ExitCode {
    match check() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn check() -> Done {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if let ["--write", file, rest @ ..] = words.as_slice() {
        let (major, minor) =
            rest.first().unwrap_or(&"9.0").split_once('.').ok_or("expected MAJOR.MINOR")?;
        let cubin = compile(&Nvrtc::find()?, Capability::new(major.parse()?, minor.parse()?))?;
        std::fs::write(file, &cubin.bytes)?;
        println!("wrote {file}: {} bytes, {:?}", cubin.bytes.len(), cubin.kernels);
        return Ok(());
    }
    println!("devices: {}, the driver speaks CUDA {}", Gpu::count()?, Gpu::driver_version()?);
    let start = Instant::now();
    let gpu = Gpu::open(0)?;
    println!("opened in {:.0} ms: {:#?}", milliseconds(start), gpu.facts());
    println!(
        "facts for a plan: {:?}",
        warploom_device::resolve("cuda", warploom_device::Best::Cpu)
    );
    let [x, y] = [gpu.allocate(BYTES as u64)?, gpu.allocate(BYTES as u64)?];
    expect("an address at a multiple of 256", x.pointer() % 256 == 0 && y.pointer() % 256 == 0)?;
    transfers(&gpu, &x)?;
    sent(&gpu, &y)?;
    bounds(&gpu, &x)?;
    match code(&gpu, words.first().copied())? {
        None => println!(
            "LEFT OUT: everything with kernels, for there is no NVRTC and no CUBIN was named"
        ),
        Some(bytes) => {
            let module = gpu.load(&bytes, "self_check")?;
            parameters(&module)?;
            let saxpy = module.kernel("saxpy", &saxpy_parameters())?;
            println!(
                "saxpy: {:?}, {} blocks of 256 threads a multiprocessor",
                saxpy.facts(),
                saxpy.blocks_per_sm(256, 0)?
            );
            kinds(&gpu, &module)?;
            turn(&gpu, &module)?;
            launches(&gpu, &saxpy, &x, &y)?;
            graphs(&gpu, &saxpy, &x, &y)?;
            pinned(&gpu, &saxpy, &x, &y)?;
            refused(&gpu, &saxpy, &bytes)?;
            too_large(&gpu)?;
            broken(&gpu, &saxpy)?;
        }
    }
    println!("all is well");
    Ok(())
}

fn milliseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

fn expect(what: &str, holds: bool) -> Done {
    if holds { Ok(()) } else { Err(format!("expected {what}").into()) }
}

/// Expects a fault, and prints it.
fn fault<T>(what: &str, result: Result<T, Fault>) -> Result<Fault, Box<dyn Error>> {
    let fault = result.err().ok_or_else(|| format!("{what}: expected a fault"))?;
    println!(
        "as it should be, {what}: {fault}{}",
        fault.hint.as_ref().map(|hint| format!(" (hint: {hint})")).unwrap_or_default()
    );
    Ok(fault)
}

fn compile(nvrtc: &Nvrtc, capability: Capability) -> Result<Cubin, Fault> {
    nvrtc.compile(&Source { name: "self_check.cu", text: TEXT, capability, options: &[] })
}

/// The CUBIN of the file, else compiled now if a compiler is found.
fn code(gpu: &Gpu, file: Option<&str>) -> Result<Option<Vec<u8>>, Box<dyn Error>> {
    if let Some(file) = file {
        return Ok(Some(std::fs::read(file)?));
    }
    match Nvrtc::find() {
        Err(fault) => {
            println!("{fault}");
            Ok(None)
        }
        Ok(nvrtc) => {
            let start = Instant::now();
            let cubin = compile(&nvrtc, gpu.facts().capability)?;
            println!("{nvrtc:?} compiled in {:.0} ms: {:?}", milliseconds(start), cubin.kernels);
            Ok(Some(cubin.bytes))
        }
    }
}

fn transfers(gpu: &Gpu, memory: &Memory) -> Done {
    // Whole numbers below 2^24, so that sums of a few of them are exact.
    let numbers: Vec<u8> = (0..NUMBERS)
        .flat_map(|index| ((index.wrapping_mul(2_654_435_761) >> 12) as f32).to_le_bytes())
        .collect();
    let mut file = tempfile::tempfile()?;
    file.write_all(&numbers)?;
    // SAFETY: no other process can change a file without a name.
    let map = unsafe { memmap2::Mmap::map(&file as &File)? };
    for round in 0..5 {
        let start = Instant::now();
        gpu.upload(memory, 0, &map)?;
        gpu.wait()?;
        println!(
            "upload of a mapped file, {round}: {:.1} GB/s",
            BYTES as f64 / milliseconds(start) / 1e6
        );
    }
    let hot = &numbers[..1 << 20];
    let start = Instant::now();
    for part in 0..BYTES >> 20 {
        gpu.upload(memory, (part << 20) as u64, hot)?;
    }
    gpu.wait()?;
    println!(
        "upload of 1 MiB, again and again: {:.1} GB/s",
        BYTES as f64 / milliseconds(start) / 1e6
    );
    gpu.upload(memory, 0, &map)?;
    let mut back = vec![0_u8; BYTES];
    for round in 0..3 {
        let start = Instant::now();
        gpu.download(memory, 0, &mut back)?;
        println!("download, {round}: {:.1} GB/s", BYTES as f64 / milliseconds(start) / 1e6);
        expect("the bytes that were uploaded", back == numbers)?;
        back.fill(0);
    }
    // Odd offsets and lengths, across staging buffers.
    for (offset, length) in
        [(0, 1), (3, 5), (4095, 70_001), ((1 << 20) - 1, (3 << 20) + 7), (17, (33 << 20) + 1)]
    {
        gpu.fill(memory, 0, BYTES as u64, 0x5A)?;
        gpu.upload(memory, offset as u64, &numbers[..length])?;
        let mut around = vec![0_u8; length + 2];
        let first = offset.max(1) - 1;
        gpu.download(memory, first as u64, &mut around)?;
        let before = offset - first;
        let is_right = around[before..before + length] == numbers[..length]
            && around[before + length..].iter().all(|byte| *byte == 0x5A);
        expect(
            &format!("{length} bytes at {offset} and nothing beside them"),
            is_right && (before == 0 || around[0] == 0x5A),
        )?;
    }
    gpu.fill(memory, 0, BYTES as u64, 0)?;
    gpu.upload_made(memory, 4, BYTES - 4, |at, piece| {
        piece.copy_from_slice(&numbers[at + 4..][..piece.len()])
    })?;
    gpu.download(memory, 0, &mut back)?;
    expect("bytes that are made on the way", back[..4] == [0; 4] && back[4..] == numbers[4..])?;
    let mut bytes = [0_u8; 8];
    gpu.upload(memory, 0, &[1, 2, 3, 4, 5, 6, 7, 8])?;
    gpu.copy(memory, 0, memory, 1000, 4)?;
    gpu.fill(memory, 1002, 1, 0xFF)?;
    gpu.download(memory, 998, &mut bytes)?;
    expect("copies and fills in order", bytes[2..6] == [1, 2, 0xFF, 4])?;
    gpu.upload(memory, 0, &map)?;
    Ok(())
}

fn bounds(gpu: &Gpu, memory: &Memory) -> Done {
    let end = memory.bytes();
    let misuses = [
        fault("a fill beyond the end", gpu.fill(memory, end, 1, 0))?,
        fault("an upload that wraps round", gpu.upload(memory, u64::MAX, &[1, 2]))?,
        fault("a download beyond the end", gpu.download(memory, end - 1, &mut [0, 0]))?,
        fault("a copy onto itself", gpu.copy(memory, 0, memory, 4, 8))?,
        fault("waiting inside of a capture", gpu.capture(|gpu| gpu.wait()))?,
    ];
    expect("misuses", misuses.iter().all(|fault| fault.code == Code::Misuse))?;
    gpu.fill(memory, end, 0, 0)?;
    expect("an empty stretch without an address", gpu.allocate(0)?.pointer() == 0)?;
    gpu.upload(memory, 0, &[])?;
    gpu.wait()?;
    Ok(())
}

fn saxpy_parameters() -> Vec<Parameter> {
    use ParameterKind::{F32, Pointer, U32};
    [("y", Pointer), ("x", Pointer), ("a", F32), ("n", U32)]
        .map(|(name, kind)| Parameter::new(name, kind))
        .to_vec()
}

fn parameters(module: &Module) -> Done {
    let right = saxpy_parameters();
    let mut wider = right.clone();
    wider[2].kind = ParameterKind::F64;
    let longer = [right.clone(), vec![Parameter::new("more", ParameterKind::U32)]].concat();
    let lists = [
        ("a wider parameter", wider),
        ("one parameter less", right[..3].to_vec()),
        ("one parameter more", longer),
        ("no parameter", Vec::new()),
    ];
    for (what, list) in lists {
        let fault = fault(what, module.kernel("saxpy", &list))?;
        expect(
            "a misuse that names the kernel",
            fault.code == Code::Misuse && fault.what.contains("`saxpy`"),
        )?;
    }
    let fault = fault("a kernel that is not there", module.kernel("no_such_kernel", &right))?;
    expect(
        "the driver's word",
        matches!(&fault.code, Code::Driver { words, .. } if words.contains("NOT_FOUND"))
            && fault.what.contains("no_such_kernel"),
    )
}

fn kinds(gpu: &Gpu, module: &Module) -> Done {
    use ParameterKind::{F32, F64, I32, Pointer, U32, U64};
    let list = [("out", Pointer), ("a", U32), ("b", U64), ("c", I32), ("d", F32), ("e", F64)]
        .map(|(name, kind)| Parameter::new(name, kind));
    let kernel = module.kernel("kinds", &list)?;
    let out = gpu.allocate(32)?;
    let values = [
        ArgumentValue::Pointer(out.pointer()),
        ArgumentValue::U32(u32::MAX),
        ArgumentValue::U64(1 << 40),
        ArgumentValue::I32(-7),
        ArgumentValue::F32(0.5),
        ArgumentValue::F64(0.25),
    ];
    gpu.launch(
        &kernel,
        Grid { blocks: [1, 1, 1], threads: 1, shared: 0, start: Start::InOrder },
        &values,
    )?;
    let mut bytes = [0_u8; 32];
    gpu.download(&out, 0, &mut bytes)?;
    let numbers: Vec<f64> =
        bytes.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect();
    expect(
        "every kind as it was given",
        numbers == [4_294_967_295.25, (1_u64 << 40) as f64, -7.0, 0.5],
    )
}

fn turn(gpu: &Gpu, module: &Module) -> Done {
    let list =
        [Parameter::new("y", ParameterKind::Pointer), Parameter::new("n", ParameterKind::U32)];
    let kernel = module.kernel("turn", &list)?;
    let shared = 4 * TURNED;
    println!(
        "turn: {:?}, {} blocks with {shared} bytes a multiprocessor",
        kernel.facts(),
        kernel.blocks_per_sm(1024, shared)?
    );
    let memory = gpu.allocate(u64::from(shared))?;
    let numbers: Vec<u8> = (0..TURNED).flat_map(|index| (index as f32).to_le_bytes()).collect();
    gpu.upload(&memory, 0, &numbers)?;
    gpu.launch(
        &kernel,
        Grid { blocks: [1, 1, 1], threads: 1024, shared, start: Start::InOrder },
        &[ArgumentValue::Pointer(memory.pointer()), ArgumentValue::U32(TURNED)],
    )?;
    let mut back = vec![0_u8; numbers.len()];
    gpu.download(&memory, 0, &mut back)?;
    expect(
        "numbers turned round through shared memory",
        back.as_chunks::<4>().0.iter().rev().flatten().eq(&numbers),
    )?;
    let most = gpu.facts().shared_bytes_most;
    let fault = fault("more shared memory than there is", kernel.blocks_per_sm(32, most + 1))?;
    expect("a misuse", fault.code == Code::Misuse)
}

fn grid() -> Grid {
    Grid { blocks: [NUMBERS.div_ceil(256), 1, 1], threads: 256, shared: 0, start: Start::InOrder }
}

fn values(x: &Memory, y: &Memory) -> [ArgumentValue; 4] {
    [
        ArgumentValue::Pointer(y.pointer()),
        ArgumentValue::Pointer(x.pointer()),
        ArgumentValue::F32(1.0),
        ArgumentValue::U32(NUMBERS),
    ]
}

/// Whether y is this many times x. Products and sums are small multiples of integers below 2^24,
/// which are exact.
fn is_times(gpu: &Gpu, x: &Memory, y: &Memory, times: f32) -> Result<bool, Fault> {
    let [mut left, mut right] = [vec![0_u8; BYTES], vec![0_u8; BYTES]];
    gpu.download(x, 0, &mut left)?;
    gpu.download(y, 0, &mut right)?;
    let number = |bytes: &[u8; 4]| f32::from_le_bytes(*bytes);
    let (left, right) = (left.as_chunks::<4>().0, right.as_chunks::<4>().0);
    Ok(left.iter().zip(right).all(|(x, y)| number(x) * times == number(y)))
}

fn launches(gpu: &Gpu, saxpy: &Kernel, x: &Memory, y: &Memory) -> Done {
    gpu.fill(y, 0, BYTES as u64, 0)?;
    gpu.launch(saxpy, grid(), &values(x, y))?;
    gpu.launch(saxpy, Grid { blocks: [0, 1, 1], ..grid() }, &values(x, y))?;
    expect("y = x after one launch and one on no blocks", is_times(gpu, x, y, 1.0)?)?;
    let [from, to] = [gpu.event()?, gpu.event()?];
    for round in 0..3 {
        gpu.flush_l2()?;
        gpu.record(&from)?;
        gpu.launch(saxpy, grid(), &values(x, y))?;
        gpu.record(&to)?;
        let time = gpu.elapsed_ms(&from, &to)?;
        println!("saxpy, {round}: {time:.4} ms, {:.0} GB/s", 3.0 * BYTES as f64 / time / 1e6);
        expect("a time", time > 0.0)?;
    }
    Ok(())
}

/// The same numbers, read by a kernel over PCIe.
fn pinned(gpu: &Gpu, saxpy: &Kernel, x: &Memory, y: &Memory) -> Done {
    expect("a misuse", fault("no bytes to pin", gpu.pin(0))?.code == Code::Misuse)?;
    let mut host = gpu.pin(BYTES as u64)?;
    expect("zeros", host.contents()?.iter().all(|byte| *byte == 0))?;
    gpu.download(x, 0, host.contents()?)?;
    gpu.fill(y, 0, BYTES as u64, 0)?;
    let given = [
        ArgumentValue::Pointer(y.pointer()),
        ArgumentValue::Pointer(host.pointer()),
        ArgumentValue::F32(1.0),
        ArgumentValue::U32(NUMBERS),
    ];
    let [from, to] = [gpu.event()?, gpu.event()?];
    for round in 0..3 {
        gpu.record(&from)?;
        gpu.launch(saxpy, grid(), &given)?;
        gpu.record(&to)?;
        let time = gpu.elapsed_ms(&from, &to)?;
        println!(
            "saxpy of pinned memory, {round}: {time:.4} ms, {:.1} GB/s over the bus",
            BYTES as f64 / time / 1e6
        );
    }
    expect("y = 3 x after three launches", is_times(gpu, x, y, 3.0)?)?;
    gpu.record(&from)?;
    gpu.copy_pinned(&host, y, 0, BYTES as u64)?;
    gpu.record(&to)?;
    println!("copy of pinned memory: {:.1} GB/s", BYTES as f64 / gpu.elapsed_ms(&from, &to)? / 1e6);
    expect("y = x after a copy", is_times(gpu, x, y, 1.0)?)?;
    expect(
        "a misuse",
        fault("more than is pinned", gpu.copy_pinned(&host, y, 0, BYTES as u64 + 1))?.code
            == Code::Misuse,
    )
}

/// A copy to the host has the bytes of that moment, whatever overwrites the source later.
fn sent(gpu: &Gpu, y: &Memory) -> Done {
    let [longest, few] = [BYTES as u64, 1000];
    let mut landing = gpu.landing(longest + few)?;
    expect("zeros", landing.contents()?.iter().all(|byte| *byte == 0))?;
    gpu.fill(y, 0, longest, 7)?;
    let [from, to] = [gpu.event()?, gpu.event()?];
    gpu.record(&from)?;
    gpu.land(
        y,
        &[
            Piece { offset: 0, bytes: longest, at: few },
            Piece { offset: longest - few, bytes: few, at: 0 },
        ],
        &mut landing,
    )?;
    gpu.record(&to)?;
    gpu.fill(y, 0, longest, 8)?;
    expect("what was there when it was sent", landing.contents()?.iter().all(|byte| *byte == 7))?;
    println!("sent to the host: {:.1} GB/s", BYTES as f64 / gpu.elapsed_ms(&from, &to)? / 1e6);
    let beyond = [
        Piece { offset: 0, bytes: few, at: longest + 1 },
        Piece { offset: longest, bytes: 1, at: 0 },
    ];
    for piece in beyond {
        expect(
            "a misuse",
            fault("beyond an end", gpu.land(y, &[piece], &mut landing))?.code == Code::Misuse,
        )?;
    }
    expect("a misuse", fault("no room", gpu.landing(0))?.code == Code::Misuse)
}

fn graphs(gpu: &Gpu, saxpy: &Kernel, x: &Memory, y: &Memory) -> Done {
    gpu.fill(y, 0, BYTES as u64, 0)?;
    let graph =
        gpu.capture(|gpu| (0..10).try_for_each(|_| gpu.launch(saxpy, grid(), &values(x, y))))?;
    expect("10 nodes", graph.nodes() == 10)?;
    expect("nothing done by the capture", is_times(gpu, x, y, 0.0)?)?;
    let [from, to] = [gpu.event()?, gpu.event()?];
    gpu.record(&from)?;
    gpu.replay(&graph)?;
    gpu.record(&to)?;
    println!("a graph of 10 launches: {:.4} ms", gpu.elapsed_ms(&from, &to)?);
    expect("y = 10 x after a replay", is_times(gpu, x, y, 10.0)?)?;
    let tiny = gpu.capture(|gpu| {
        (0..10).try_for_each(|_| {
            gpu.launch(saxpy, Grid { blocks: [1, 1, 1], ..grid() }, &values(x, y))
        })
    })?;
    gpu.record(&from)?;
    (0..100).try_for_each(|_| gpu.replay(&tiny))?;
    gpu.record(&to)?;
    println!("a graph of 10 tiny launches: {:.2} us", gpu.elapsed_ms(&from, &to)? * 10.0);
    fault(
        "a capture that fails",
        gpu.capture(|_| Err(Fault { what: "given up".to_owned(), code: Code::Misuse, hint: None })),
    )?;
    fault("an upload inside of a capture", gpu.capture(|gpu| gpu.upload(x, 0, &[1])))?;
    fault("a capture inside of a capture", gpu.capture(|gpu| gpu.capture(|_| Ok(())).map(|_| ())))?;
    let empty = gpu.capture(|_| Ok(()))?;
    gpu.replay(&empty)?;
    gpu.wait()?;
    Ok(())
}

fn refused(gpu: &Gpu, saxpy: &Kernel, code: &[u8]) -> Done {
    let nothing = [
        ArgumentValue::Pointer(0),
        ArgumentValue::Pointer(0),
        ArgumentValue::U32(1),
        ArgumentValue::U32(0),
    ];
    let misuses = [
        fault("a value of another kind", gpu.launch(saxpy, grid(), &nothing))?,
        fault("too few values", gpu.launch(saxpy, grid(), &nothing[..2]))?,
        fault(
            "too many threads",
            gpu.launch(
                saxpy,
                Grid { threads: 2048, ..grid() },
                &[nothing[0], nothing[1], ArgumentValue::F32(0.0), nothing[3]],
            ),
        )?,
        fault("half a CUBIN", gpu.load(&code[..code.len() / 2], "half").map(|_| ()))?,
        fault("no CUBIN", gpu.load(b".version 9.0", "text").map(|_| ()))?,
    ];
    expect("misuses", misuses.iter().all(|fault| fault.code == Code::Misuse))
}

fn too_large(gpu: &Gpu) -> Done {
    let wanted = gpu.facts().memory_bytes + (1 << 30);
    let fault = fault("more memory than there is", gpu.allocate(wanted))?;
    expect(
        "a fault of memory",
        matches!(fault.code, Code::Memory { wanted: said, free, total, .. } if said == wanted && free > 0 && total >= free),
    )?;
    gpu.wait()?;
    Ok(())
}

/// Writes to an unmapped address. The last step, since it breaks the context.
fn broken(gpu: &Gpu, saxpy: &Kernel) -> Done {
    let nowhere = [
        ArgumentValue::Pointer(256),
        ArgumentValue::Pointer(256),
        ArgumentValue::F32(1.0),
        ArgumentValue::U32(1),
    ];
    gpu.launch(saxpy, Grid { blocks: [1, 1, 1], ..grid() }, &nowhere)?;
    let first = fault("a write to nowhere", gpu.wait())?;
    expect("the kernel's name", first.what.contains("`saxpy`"))?;
    let later = fault("an allocation after it", gpu.allocate(256))?;
    expect(
        "the first fault from every later call",
        first == later && gpu.event().err() == Some(first),
    )
}
