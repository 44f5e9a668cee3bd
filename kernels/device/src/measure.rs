//! measure: measures the rates of a GPU of this machine with kernels of our own (`rates.cu`), as
//! facts for planning.
//!
//! promises  each rate is the median of several runs after a warm-up, timed by events, with L2
//!           flushed before each (uploads: by the host's clock); a kernel's run is lengthened until
//!           it takes a millisecond or reaches its size limit; rates are rounded so that most noise
//!           gives the same figure: another figure is another device to a plan
//! never     measures unless asked; stores anything (`measured_facts` does)
//! limits    half of the free memory and at most 2.6 GB of it, as much pinned memory as the file
//!           has bytes, some seconds; tables that do not fit are left out; clocks are not fixed
use std::time::{Duration, Instant};

use crate::{
    detected_gpu,
    facts::{Facts, Flops, Gather, Measurement},
    gpu::{
        ArgumentValue, Event, Gpu, Grid, Kernel, Memory, Module, Parameter, ParameterKind, Pinned,
        Start,
    },
    gpu_error::{Code, Fault, size},
    nvrtc::{Nvrtc, Source},
    shipped_facts,
};

/// The kernels.
pub const KERNELS: &str = include_str!("rates.cu");

/// Timed runs, of which the median counts.
pub const ROUNDS: usize = 7;
/// The minimum time of a run.
const SECONDS_LEAST: f64 = 1e-3;
/// Warm-up before anything is timed, so that clocks have risen.
const WARM_UP: Duration = Duration::from_millis(300);
/// Bytes of the first run of copies or gathers, and of the largest gather.
const BYTES_FIRST: u64 = 8 << 20;
const BYTES_GATHERED: u64 = 4 << 30;
/// Rows per sum; bytes of an index.
const ROWS_OF_SUM: u64 = 16;
const INDEX: u64 = 4;
/// Bytes that a block of `copy` moves.
const BYTES_OF_BLOCK: u64 = 16 << 10;
/// Threads per block, and blocks per SM of a grid-stride kernel.
const THREADS: u32 = 256;
const BLOCKS_OF_PROCESSOR: u32 = 8;
/// Operations of a thread per round.
const OPERATIONS: u64 = 16;
/// Rounds of a thread: at first, and at most.
const ROUNDS_FIRST: u64 = 64;
const ROUNDS_MOST: u64 = 1 << 16;
/// Launches in the graph that measures launch overhead.
const LAUNCHES: u32 = 200;
/// Steps per power of ten that rates are rounded to.
const STEPS: u64 = 20;

/// Facts of an open GPU with every rate measured. `maps` are mappings of one file, each of which is
/// uploaded once, along with pinned memory of the same bytes: one for warm-up, then `ROUNDS`.
pub fn measure(gpu: &Gpu, nvrtc: &Nvrtc, maps: &[&[u8]]) -> Result<Facts, Fault> {
    let device = gpu.facts();
    let expected = detected_gpu::expected(&device)
        .ok_or_else(|| Fault::misuse("the facts file of the H200 cannot be parsed"))?;
    let cubin = nvrtc.compile(&Source {
        name: "rates.cu",
        text: KERNELS,
        capability: device.capability,
        options: &[],
    })?;
    let bench = Bench::new(
        gpu,
        gpu.load(&cubin.bytes, "rates.cu")?,
        maps.first().map_or(0, |map| map.len()) as u64,
    )?;
    bench.warm_up()?;
    let bytes_per_second = rounded(bench.copied()?);
    let flops_per_second = Flops {
        f32: rounded(bench.arithmetic(
            "arithmetic_f32",
            ArgumentValue::F32(1.0),
            ParameterKind::F32,
        )?),
        f64: rounded(bench.arithmetic(
            "arithmetic_f64",
            ArgumentValue::F64(1.0),
            ParameterKind::F64,
        )?),
    };
    let launch_nanoseconds = rounded(bench.launched()? * 1e9);
    let gather = bench.gathers()?;
    let transfers = bench.transfers(maps)?;
    let measured = Measurement {
        device: device.name,
        driver: device.driver,
        clock_khz: device.clock_khz,
        memory_clock_khz: device.memory_clock_khz,
        memory_bus_bits: device.memory_bus_bits,
        pinned_bytes_per_second: transfers.pinned as u64,
        upload_bytes_per_second: transfers.uploaded as u64,
    };
    let host_bytes_per_second = Some(rounded(transfers.read));
    let rates = Facts {
        bytes_per_second,
        flops_per_second,
        launch_nanoseconds,
        gather,
        host_bytes_per_second,
        ..expected
    };
    Ok(Facts { is_estimated: false, measured: Some(measured), ..rates })
}

/// Bytes of host memory per second.
struct Transfers {
    /// Pinned memory, copied by the driver.
    pinned: f64,
    /// Pinned memory, read by a kernel.
    read: f64,
    /// A mapped file, uploaded as a run does it, by the host's clock.
    uploaded: f64,
}

/// A GPU with the buffers for measuring.
struct Bench<'a> {
    gpu: &'a Gpu,
    module: Module,
    from: Event,
    to: Event,
    processors: u32,
    /// Copied, gathered from, uploaded to.
    table: Memory,
    index: Memory,
    sums: Memory,
    /// The most bytes of rows that a run gathers.
    gathered_most: u64,
    /// Bytes of a host transfer.
    host_bytes: u64,
}

impl<'a> Bench<'a> {
    fn new(gpu: &'a Gpu, module: Module, file_bytes: u64) -> Result<Self, Fault> {
        let device = gpu.facts();
        let tables = tables();
        let (least, most) =
            (tables.iter().min().copied().unwrap_or(0), tables.iter().max().copied().unwrap_or(0));
        let free = device.memory_free_bytes.unwrap_or(0);
        // In addition to what `flush_l2` writes.
        let room = free.saturating_sub(2 * device.cache_bytes) / 2;
        let gathered_most = BYTES_GATHERED.min(1 << room.max(1).ilog2()).max(BYTES_FIRST);
        // For the narrowest rows: an index for each, and one result row for every sixteen.
        let beside = gathered_most / 64 * INDEX + gathered_most / ROWS_OF_SUM;
        let table_bytes = room.saturating_sub(beside).min(most.next_multiple_of(BYTES_OF_BLOCK))
            / BYTES_OF_BLOCK
            * BYTES_OF_BLOCK;
        if table_bytes < least.next_multiple_of(BYTES_OF_BLOCK) {
            let wanted = 2 * (least + beside + device.cache_bytes);
            return Err(Fault {
                what: "measure rates".to_owned(),
                code: Code::Memory { wanted, free, total: device.memory_bytes, held: 0 },
                hint: None,
            });
        }
        let sums_bytes = (gathered_most / ROWS_OF_SUM)
            .max(8 * u64::from(device.processors * BLOCKS_OF_PROCESSOR * THREADS));
        let [table, index, sums] = [
            gpu.allocate(table_bytes)?,
            gpu.allocate(gathered_most / 64 * INDEX)?,
            gpu.allocate(sums_bytes)?,
        ];
        gpu.fill(&table, 0, table_bytes, 1)?;
        let (from, to) = (gpu.event()?, gpu.event()?);
        Ok(Bench {
            gpu,
            module,
            from,
            to,
            processors: device.processors,
            table,
            index,
            sums,
            gathered_most,
            host_bytes: file_bytes.min(table_bytes),
        })
    }

    fn kernel(&self, name: &str, kinds: &[ParameterKind]) -> Result<Kernel, Fault> {
        let parameters: Vec<Parameter> = kinds
            .iter()
            .enumerate()
            .map(|(number, kind)| Parameter::new(number.to_string(), *kind))
            .collect();
        self.module.kernel(name, &parameters)
    }

    fn launch(&self, kernel: &Kernel, blocks: u64, values: &[ArgumentValue]) -> Result<(), Fault> {
        let blocks = u32::try_from(blocks)
            .map_err(|_| Fault::misuse(format!("launch `{}` on {blocks} blocks", kernel.name())))?;
        self.gpu.launch(
            kernel,
            Grid { blocks: [blocks, 1, 1], threads: THREADS, shared: 0, start: Start::InOrder },
            values,
        )
    }

    /// Blocks of a grid-stride launch: a full device.
    fn shared_blocks(&self) -> u64 {
        u64::from(self.processors) * u64::from(BLOCKS_OF_PROCESSOR)
    }

    /// Seconds of some work, with a cold L2.
    fn seconds(&self, work: impl Fn() -> Result<(), Fault>) -> Result<f64, Fault> {
        self.gpu.flush_l2()?;
        self.gpu.record(&self.from)?;
        work()?;
        self.gpu.record(&self.to)?;
        Ok((self.gpu.elapsed_ms(&self.from, &self.to)? / 1e3).max(1e-9))
    }

    /// Amount per second: from the first amount up, until a run takes long enough or the last
    /// amount is reached.
    fn rate(
        &self,
        first: u64,
        last: u64,
        work: impl Fn(u64) -> Result<(), Fault>,
    ) -> Result<f64, Fault> {
        let mut amount = first.min(last);
        while self.seconds(|| work(amount))? < SECONDS_LEAST && amount < last {
            amount = (2 * amount).min(last);
        }
        let times = (0..ROUNDS)
            .map(|_| self.seconds(|| work(amount)))
            .collect::<Result<Vec<f64>, Fault>>()?;
        Ok(amount as f64 / median(times))
    }

    fn warm_up(&self) -> Result<(), Fault> {
        let begun = Instant::now();
        while begun.elapsed() < WARM_UP {
            self.copied_once(
                &self.kernel("copy", &COPY)?,
                BYTES_FIRST.min(self.table.bytes() / 2),
            )?;
            self.gpu.wait()?;
        }
        Ok(())
    }

    fn copied_once(&self, copy: &Kernel, bytes: u64) -> Result<(), Fault> {
        let bytes = bytes / BYTES_OF_BLOCK * BYTES_OF_BLOCK;
        let half = self.table.bytes() / 2 / BYTES_OF_BLOCK * BYTES_OF_BLOCK;
        let values = [
            ArgumentValue::Pointer(self.table.pointer() + half),
            ArgumentValue::Pointer(self.table.pointer()),
            ArgumentValue::U64(bytes / 16),
        ];
        self.launch(copy, bytes / BYTES_OF_BLOCK, &values)
    }

    /// Copy rate, bytes read plus written per second.
    fn copied(&self) -> Result<f64, Fault> {
        let copy = self.kernel("copy", &COPY)?;
        let most = self.table.bytes() / 2 / BYTES_OF_BLOCK * BYTES_OF_BLOCK;
        Ok(2.0 * self.rate(BYTES_FIRST, most, |bytes| self.copied_once(&copy, bytes))?)
    }

    /// Additions and multiplications per second.
    fn arithmetic(
        &self,
        name: &str,
        factor: ArgumentValue,
        kind: ParameterKind,
    ) -> Result<f64, Fault> {
        let kernel = self.kernel(name, &[ParameterKind::Pointer, kind, ParameterKind::U32])?;
        let blocks = self.shared_blocks();
        let work = |rounds: u64| {
            self.launch(
                &kernel,
                blocks,
                &[
                    ArgumentValue::Pointer(self.sums.pointer()),
                    factor,
                    ArgumentValue::U32(rounds as u32),
                ],
            )
        };
        Ok(self.rate(ROUNDS_FIRST, ROUNDS_MOST, work)?
            * (blocks * u64::from(THREADS) * OPERATIONS) as f64)
    }

    /// Seconds of one launch among many in one CUDA graph.
    fn launched(&self) -> Result<f64, Fault> {
        let kernel = self.kernel("start", &[ParameterKind::Pointer])?;
        let one = || {
            self.launch(
                &kernel,
                u64::from(self.processors),
                &[ArgumentValue::Pointer(self.sums.pointer())],
            )
        };
        let graph = self.gpu.capture(|_| (0..LAUNCHES).try_for_each(|_| one()))?;
        let times = (0..=ROUNDS)
            .map(|_| self.seconds(|| self.gpu.replay(&graph)))
            .collect::<Result<Vec<f64>, Fault>>()?;
        Ok(median(times[1..].to_vec()) / f64::from(LAUNCHES))
    }

    /// Gather rates, for the row widths and table sizes of the facts file, as far as they fit.
    fn gathers(&self) -> Result<Vec<Gather>, Fault> {
        let draw =
            self.kernel("draw", &[ParameterKind::Pointer, ParameterKind::U32, ParameterKind::U64])?;
        let kinds = [
            ParameterKind::Pointer,
            ParameterKind::Pointer,
            ParameterKind::Pointer,
            ParameterKind::U32,
        ];
        let mut gathers = shipped_gathers();
        for gather in &mut gathers {
            let width = gather.row_bytes;
            let kernel = self.kernel(&format!("gather_{width}"), &kinds)?;
            gather.tables.retain(|[bytes, _]| *bytes <= self.table.bytes());
            for [bytes, rate] in &mut gather.tables {
                let (rows, drawn) = (*bytes / width, self.gathered_most / width);
                let given = [
                    ArgumentValue::Pointer(self.index.pointer()),
                    ArgumentValue::U32(rows as u32),
                    ArgumentValue::U64(drawn),
                ];
                self.launch(&draw, drawn.div_ceil(u64::from(THREADS)), &given)?;
                let work = |gathered: u64| {
                    let groups = gathered / width / ROWS_OF_SUM;
                    let values = [&self.sums, &self.table, &self.index]
                        .map(|memory| ArgumentValue::Pointer(memory.pointer()));
                    let blocks = (groups * (width / 16)).div_ceil(u64::from(THREADS));
                    self.launch(
                        &kernel,
                        blocks,
                        &[values[0], values[1], values[2], ArgumentValue::U32(groups as u32)],
                    )
                };
                *rate = rounded(self.rate(BYTES_FIRST, self.gathered_most, work)?);
            }
        }
        Ok(gathers)
    }

    /// Host transfers: the same bytes from pinned memory, by the driver and by a kernel, and from
    /// the file.
    fn transfers(&self, maps: &[&[u8]]) -> Result<Transfers, Fault> {
        let bytes = self.host_bytes / 16 * 16;
        let files: Vec<&[u8]> = maps
            .iter()
            .filter_map(|map| map.get(..bytes as usize))
            .filter(|file| !file.is_empty())
            .collect();
        if files.len() < 2 {
            return Err(Fault::misuse(format!(
                "measure transfers: expected two maps of a file and more, found {} of {}",
                files.len(),
                size(bytes)
            )));
        }
        let mut pinned = self.gpu.pin(bytes)?;
        pinned.contents()?.copy_from_slice(files[0]);
        let mut times = Vec::new();
        for file in files {
            self.gpu.wait()?;
            let begun = Instant::now();
            self.gpu.upload(&self.table, 0, file)?;
            self.gpu.wait()?;
            times.push(begun.elapsed().as_secs_f64().max(1e-9));
        }
        let uploaded = bytes as f64 / median(times.split_off(1));
        Ok(Transfers { pinned: self.sent(&pinned)?, read: self.read(&pinned)?, uploaded })
    }

    fn sent(&self, pinned: &Pinned) -> Result<f64, Fault> {
        self.rate(pinned.bytes(), pinned.bytes(), |bytes| {
            self.gpu.copy_pinned(pinned, &self.table, 0, bytes)
        })
    }

    fn read(&self, pinned: &Pinned) -> Result<f64, Fault> {
        let total = self.kernel("total", &COPY)?;
        let values = |bytes: u64| {
            [
                ArgumentValue::Pointer(self.sums.pointer()),
                ArgumentValue::Pointer(pinned.pointer()),
                ArgumentValue::U64(bytes / 16),
            ]
        };
        self.rate(pinned.bytes(), pinned.bytes(), |bytes| {
            self.launch(&total, self.shared_blocks(), &values(bytes))
        })
    }
}

/// Parameters of the kernels that read sequentially.
const COPY: [ParameterKind; 3] =
    [ParameterKind::Pointer, ParameterKind::Pointer, ParameterKind::U64];

/// Row widths and table sizes of the shipped facts.
fn shipped_gathers() -> Vec<Gather> {
    shipped_facts("h200").map_or_else(Vec::new, |facts| facts.gather)
}

/// All table sizes.
fn tables() -> Vec<u64> {
    shipped_gathers()
        .iter()
        .flat_map(|gather| gather.tables.iter().map(|[bytes, _]| *bytes))
        .collect()
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Rounded to a twentieth of its leading power of ten: 2.947e12 is 2.95e12.
fn rounded(rate: f64) -> u64 {
    // At least 1: a rate of 0 would be refused.
    let rate = (rate.round() as u64).clamp(1, 100_000_000_000_000_000);
    let step = (10_u64.pow(rate.ilog10()) / STEPS).max(1);
    ((rate + step / 2) / step * step).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_rounded_so_that_noise_does_not_matter() {
        assert_eq!(
            [2.947e12, 2.931e12, 9.97e9, 1.0e10, 53.4, 7.2, 0.0].map(rounded),
            [2_950_000_000_000, 2_950_000_000_000, 9_950_000_000, 10_000_000_000, 53, 7, 1]
        );
        assert_eq!(rounded(f64::NAN), 1);
        for rate in [1.004e12, 4.4e10, 1.73e3] {
            assert!((rounded(rate) as f64 / rate - 1.0).abs() <= 0.025, "{rate}");
        }
    }

    #[test]
    fn the_one_in_the_middle_counts() {
        assert_eq!(median(vec![9.0, 1.0, 2.0]), 2.0);
        assert!(median(Vec::new()).is_nan());
    }
}
