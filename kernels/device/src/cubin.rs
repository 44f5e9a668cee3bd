//! cubin: machine code for one GPU architecture, and what its compiler reported of it.
//!
//! promises  bytes that are truncated or no CUBIN are detected before the driver reads them
//! never     changes a byte
//! limits    a device function that is called and not inlined is not listed; the log names it. Only
//!           section headers are checked, not their contents
/// Machine code for one architecture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cubin {
    /// What `Gpu::load` takes.
    pub bytes: Vec<u8>,
    /// What the compiler reported. It contains times, so it differs between compilations.
    pub log: String,
    /// Its kernels, in the order of the log.
    pub kernels: Vec<CompiledKernel>,
}

/// A kernel, as its compiler reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompiledKernel {
    /// As `Module::kernel` takes it.
    pub name: String,
    /// Registers per thread.
    pub registers: u32,
    /// Bytes of stack per thread.
    pub stack: u32,
    /// Bytes of registers spilled to the stack.
    pub spill_stores: u32,
    /// Bytes of spilled registers loaded back.
    pub spill_loads: u32,
}

/// Registers, stack and spills of each kernel in the log (`--ptxas-options=-v`).
pub(crate) fn kernels(log: &str) -> Vec<CompiledKernel> {
    let mut found = Vec::new();
    let mut entry: Option<CompiledKernel> = None;
    // Functions that are not kernels have such lines too, some of them between two of a kernel.
    let mut is_of_entry = false;
    for line in log.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            let name = rest.split('\'').next().unwrap_or("").to_owned();
            entry = Some(CompiledKernel {
                name,
                registers: 0,
                stack: 0,
                spill_stores: 0,
                spill_loads: 0,
            });
        } else if let Some((_, name)) = line.split_once("Function properties for ") {
            is_of_entry = entry.as_ref().is_some_and(|entry| entry.name == name.trim());
        } else if let (true, Some(entry), Some(stack)) =
            (is_of_entry, &mut entry, number_before(line, " bytes stack frame"))
        {
            entry.stack = stack;
            entry.spill_stores = number_before(line, " bytes spill stores").unwrap_or(0);
            entry.spill_loads = number_before(line, " bytes spill loads").unwrap_or(0);
        } else if let Some(registers) =
            number_before(line, " registers").filter(|_| line.contains(": Used "))
        {
            found.extend(entry.take().map(|entry| CompiledKernel { registers, ..entry }));
        }
    }
    found
}

/// The number before these words.
fn number_before(line: &str, words: &str) -> Option<u32> {
    line.split_once(words)?.0.rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// Whether these bytes are a 64-bit CUDA ELF file that contains all of its sections: the driver
/// trusts the headers.
pub(crate) fn is_whole(bytes: &[u8]) -> bool {
    look(bytes) == Some(true)
}

fn look(file: &[u8]) -> Option<bool> {
    const CUDA: u64 = 190;
    const WITHOUT_BYTES: u64 = 8;
    let number = |at: u64, bytes: usize| {
        let at = usize::try_from(at).ok()?;
        let field = file.get(at..at.checked_add(bytes)?)?;
        Some(field.iter().rev().fold(0_u64, |number, byte| (number << 8) | u64::from(*byte)))
    };
    let inside =
        |at: u64, bytes: u64| at.checked_add(bytes).is_some_and(|end| end <= file.len() as u64);
    if !file.starts_with(b"\x7fELF\x02\x01") || number(18, 2)? != CUDA {
        return Some(false);
    }
    let (segments, sections) = (number(32, 8)?, number(40, 8)?);
    let (segment_bytes, segment_count, section_bytes, section_count) =
        (number(54, 2)?, number(56, 2)?, number(58, 2)?, number(60, 2)?);
    if !inside(segments, segment_bytes * segment_count)
        || !inside(sections, section_bytes * section_count)
        || section_bytes < 64
    {
        return Some(false);
    }
    for index in 0..section_count {
        let at = sections + index * section_bytes;
        let (kind, offset, bytes) = (number(at + 4, 4)?, number(at + 24, 8)?, number(at + 32, 8)?);
        if kind != WITHOUT_BYTES && !inside(offset, bytes) {
            return Some(false);
        }
    }
    Some(section_count > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As NVRTC 13.5 writes it, with a function that was not put inline.
    const LOG: &str = "ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'calls' for 'sm_80'
ptxas info    : Function properties for helper
ptxas         .     512 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads
ptxas info    : Function properties for calls
ptxas         .     6768 bytes stack frame, 9316 bytes spill stores, 14712 bytes spill loads
ptxas info    : Used 32 registers, used 0 barriers, 6768 bytes cumulative stack size, 372 bytes cmem[0]
ptxas info    : Compile time = 5.844 ms
ptxas info    : Compiling entry function 'plain' for 'sm_80'
ptxas info    : Function properties for plain
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 0 barriers, 364 bytes cmem[0]
";

    #[test]
    fn a_log_is_read_kernel_by_kernel() {
        let plain = CompiledKernel {
            name: "plain".to_owned(),
            registers: 8,
            stack: 0,
            spill_stores: 0,
            spill_loads: 0,
        };
        let calls = CompiledKernel {
            name: "calls".to_owned(),
            registers: 32,
            stack: 6768,
            spill_stores: 9316,
            spill_loads: 14712,
        };
        assert_eq!(kernels(LOG), [calls, plain]);
        assert_eq!(kernels(""), []);
    }

    #[test]
    fn what_is_no_cubin_is_told() {
        let mut file = vec![0_u8; 128];
        file[..6].copy_from_slice(b"\x7fELF\x02\x01");
        (file[18], file[40], file[58], file[60]) = (190, 64, 64, 1);
        assert!(is_whole(&file));
        for cut in 0..128 {
            assert!(!is_whole(&file[..cut]), "{cut}");
        }
        let changed = |at: usize, byte: u8| {
            let mut other = file.clone();
            other[at] = byte;
            is_whole(&other)
        };
        // Another machine, more sections than there are, a section beyond the end, and sections far
        // beyond.
        assert!(
            !changed(18, 62)
                && !changed(60, 2)
                && !changed(64 + 32, 200)
                && !changed(47, 255)
                && !changed(64 + 31, 255)
        );
        assert!(!is_whole(b"//\n.version 9.5\n.target sm_90\n"));
    }
}
