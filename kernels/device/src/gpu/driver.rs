//! driver: the NVIDIA driver: whether it is installed, which devices it has, and its error texts.
//!
//! promises  no driver function is called before the library is known to be loaded and new enough:
//!           a missing function would panic
//! never     creates a context: looking at devices takes no memory on them
//! limits    drivers from CUDA 12.8 on; the driver is probed once per process
#![allow(unsafe_code)]
use std::{
    ffi::{CStr, c_char, c_int},
    ptr,
    sync::OnceLock,
};

use cudarc::driver::sys::{self, CUdevice, CUdevice_attribute_enum as Attribute, CUresult};

use super::Device;
use crate::capability::Capability;
use crate::gpu_error::Fault;

/// The functions called here exist from CUDA 12.8 on: `cuFuncGetParamInfo` came with 12.4,
/// `cuEventElapsedTime_v2` with 12.8.
const VERSION_LEAST: u32 = 12_080;

/// The hint where no driver is found.
const MEND: &str = "install the driver of NVIDIA (release 580 or newer for CUDA 13)";

/// The initialised driver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Driver {
    /// The newest CUDA version it supports, as 1000 * major + 10 * minor.
    pub(super) version: u32,
    /// Devices visible to this process.
    pub(super) count: usize,
}

/// Initialises the driver once; the result does not change while the process runs.
pub(super) fn start() -> Result<Driver, Fault> {
    static STARTED: OnceLock<Result<Driver, Fault>> = OnceLock::new();
    STARTED.get_or_init(start_once).clone()
}

fn start_once() -> Result<Driver, Fault> {
    // SAFETY: it only opens and closes libraries by name; the constructors of the driver's library
    // are meant to run so.
    if !unsafe { sys::is_culib_present() } {
        return Err(Fault::absent("no NVIDIA driver: `libcuda.so.1` does not load", MEND));
    }
    let mut version: c_int = 0;
    // SAFETY: the library is loaded, and the version may be queried before `cuInit`.
    let asked = unsafe { sys::cuDriverGetVersion(&mut version) };
    if asked != CUresult::CUDA_SUCCESS {
        return Err(Fault::absent(
            format!("no working NVIDIA driver: {}", error_text(asked)),
            MEND,
        ));
    }
    let version = u32::try_from(version).unwrap_or(0);
    if version < VERSION_LEAST {
        let what = format!(
            "the NVIDIA driver is too old: it speaks CUDA {}, expected {} or newer",
            version_text(version),
            version_text(VERSION_LEAST)
        );
        return Err(Fault::absent(what, MEND));
    }
    // SAFETY: the library is loaded.
    match unsafe { sys::cuInit(0) } {
        CUresult::CUDA_SUCCESS => {}
        CUresult::CUDA_ERROR_NO_DEVICE => return Ok(Driver { version, count: 0 }),
        other => {
            let what =
                format!("start the NVIDIA driver, which speaks CUDA {}", version_text(version));
            return Err(Fault::driver(what, other as u32, error_text(other)));
        }
    }
    let mut count: c_int = 0;
    // SAFETY: the driver is initialised, and `count` outlives the call.
    plain("count devices", unsafe { sys::cuDeviceGetCount(&mut count) })?;
    Ok(Driver { version, count: usize::try_from(count).unwrap_or(0) })
}

/// `13.0` for 13000.
pub(super) fn version_text(version: u32) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}

/// The driver's name and description of an error.
pub(super) fn error_text(result: CUresult) -> String {
    let text = |ask: unsafe fn(CUresult, *mut *const c_char) -> CUresult| {
        let mut text: *const c_char = ptr::null();
        // SAFETY: the library is loaded, since it returned the error; the string it returns is
        // static.
        let found = unsafe { ask(result, &mut text) } == CUresult::CUDA_SUCCESS && !text.is_null();
        // SAFETY: as above.
        found.then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
    };
    match (text(sys::cuGetErrorName), text(sys::cuGetErrorString)) {
        (Some(name), Some(words)) => format!("{name}: {words}"),
        (Some(name), None) => name,
        _ => format!("{result:?}"),
    }
}

/// Checks a call that goes through no context.
pub(super) fn plain(what: &str, result: CUresult) -> Result<(), Fault> {
    if result == CUresult::CUDA_SUCCESS {
        Ok(())
    } else {
        Err(Fault::driver(what, result as u32, error_text(result)))
    }
}

/// What the driver reports of a device, without a context on it.
pub(super) fn look(ordinal: usize) -> Result<(CUdevice, Device), Fault> {
    let driver = start()?;
    if ordinal >= driver.count {
        let visible = std::env::var("CUDA_VISIBLE_DEVICES").ok();
        return Err(absent_device(ordinal, driver.count, visible.as_deref()));
    }
    let what = format!("ask for facts of device {ordinal}");
    let mut raw: CUdevice = 0;
    // SAFETY: the driver has this device; `raw` outlives the call.
    plain(&what, unsafe {
        sys::cuDeviceGet(&mut raw, c_int::try_from(ordinal).unwrap_or(c_int::MAX))
    })?;
    let ask = |attribute| {
        let mut value: c_int = 0;
        // SAFETY: `raw` is a device of the driver; `value` outlives the call.
        plain(&what, unsafe { sys::cuDeviceGetAttribute(&mut value, attribute, raw) })
            .map(|()| u32::try_from(value).unwrap_or(0))
    };
    let mut name = [0 as c_char; 256];
    // SAFETY: the driver writes at most 255 characters and a 0.
    plain(&what, unsafe { sys::cuDeviceGetName(name.as_mut_ptr(), 256, raw) })?;
    let name: Vec<u8> =
        name.iter().map(|character| *character as u8).take_while(|byte| *byte != 0).collect();
    let mut uuid = sys::CUuuid { bytes: [0; 16] };
    // SAFETY: 16 bytes are written, and there are as many.
    plain(&what, unsafe { sys::cuDeviceGetUuid_v2(&mut uuid, raw) })?;
    let mut memory: usize = 0;
    // SAFETY: `memory` outlives the call.
    plain(&what, unsafe { sys::cuDeviceTotalMem_v2(&mut memory, raw) })?;
    let device = Device {
        ordinal,
        name: String::from_utf8_lossy(&name).trim().to_owned(),
        uuid: uuid_text(uuid.bytes.map(|byte| byte as u8)),
        capability: Capability::new(
            ask(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            ask(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        ),
        processors: ask(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        lanes: ask(Attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE)?,
        threads_most: ask(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
        shared_bytes_most: ask(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
        registers: ask(Attribute::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR)?,
        cache_bytes: u64::from(ask(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?),
        memory_bytes: memory as u64,
        memory_free_bytes: None,
        clock_khz: ask(Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE)?,
        memory_clock_khz: ask(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE)?,
        memory_bus_bits: ask(Attribute::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH)?,
        driver: version_text(driver.version),
    };
    Ok((raw, device))
}

/// The fault of an ordinal that the driver does not see, with what the variable
/// CUDA_VISIBLE_DEVICES has to do with it.
fn absent_device(ordinal: usize, count: usize, visible: Option<&str>) -> Fault {
    const LIST: &str = "`nvidia-smi -L` lists devices";
    let (what, hint) = match (count, visible) {
        (0, None) => (
            "no NVIDIA GPU: the driver sees no device".to_owned(),
            format!("{LIST}; in a batch job, ask for one:  --gres=gpu:1"),
        ),
        (0, Some("")) => (
            "no NVIDIA GPU: CUDA_VISIBLE_DEVICES is empty, which hides all devices".to_owned(),
            format!("unset CUDA_VISIBLE_DEVICES  , or name devices in it; {LIST}"),
        ),
        (0, Some(names)) => (
            format!(
                "no NVIDIA GPU: CUDA_VISIBLE_DEVICES is `{names}`, whose first entry names no \
                 device of this host"
            ),
            format!("unset CUDA_VISIBLE_DEVICES  , or take an index or a UUID that exists; {LIST}"),
        ),
        (count, names) => {
            let by = names
                .map_or_else(String::new, |names| format!(" as CUDA_VISIBLE_DEVICES is `{names}`"));
            (
                format!("no device {ordinal}: the driver sees {count}{by}, numbered from 0"),
                format!("take one that is visible:  --device cuda:{}  ; {LIST}", count - 1),
            )
        }
    };
    Fault::absent(what, hint)
}

/// As `nvidia-smi -L` prints it.
fn uuid_text(bytes: [u8; 16]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!(
        "GPU-{}-{}-{}-{}-{}",
        &digits[..8],
        &digits[8..12],
        &digits[12..16],
        &digits[16..20],
        &digits[20..]
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hides_a_device_is_named() {
        let words = |ordinal, count, visible| {
            let fault = absent_device(ordinal, count, visible);
            format!("{fault}; {}", fault.hint.as_deref().unwrap())
        };
        assert!(words(0, 0, None).contains("--gres=gpu:1"));
        assert!(words(0, 0, Some("")).contains("CUDA_VISIBLE_DEVICES is empty"));
        let unknown = words(0, 0, Some("GPU-7"));
        assert!(unknown.contains("CUDA_VISIBLE_DEVICES is `GPU-7`, whose first entry names no"));
        let second = words(1, 1, Some("1"));
        assert!(
            second.contains("no device 1: the driver sees 1 as CUDA_VISIBLE_DEVICES is `1`")
                && second.contains("--device cuda:0"),
            "{second}"
        );
        assert!(!words(3, 2, None).contains("CUDA_VISIBLE_DEVICES"));
    }
}
