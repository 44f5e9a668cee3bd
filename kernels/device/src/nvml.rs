//! nvml: the part of NVIDIA's management library that records need: release of the driver, and
//! energy of a device.
//!
//! promises  whatever fails (no library, no permission, a device without a counter) gives none
//! never     changes a device; is linked: the library is loaded when it is needed
#![allow(unsafe_code)]
use std::{
    ffi::{CStr, CString, c_char, c_int, c_uint, c_ulonglong, c_void},
    ptr,
};

use libloading::Library;

/// The library's file.
const FILE: &str = "libnvidia-ml.so.1";
/// Room for the release of a driver, as the library wants it.
const RELEASE_BYTES: usize = 80;

/// The library, initialised until it is dropped.
pub struct Nvml {
    library: Library,
}

/// A device of the library.
#[derive(Clone, Copy)]
pub struct Handle(*mut c_void);

// SAFETY: the library may be called by any thread, with any of its devices.
unsafe impl Send for Handle {}

impl Nvml {
    /// Loads and initialises the library.
    pub fn open() -> Option<Self> {
        // SAFETY: the constructors of this library are meant to run when it is loaded.
        let library = unsafe { Library::new(FILE) }.ok()?;
        // SAFETY: the signature is that of `nvml.h`.
        let done =
            unsafe { library.get::<unsafe extern "C" fn() -> c_int>(b"nvmlInit_v2").ok()?() };
        (done == 0).then_some(Nvml { library })
    }

    /// The release of the driver: `580.95.05`.
    pub fn driver_release(&self) -> Option<String> {
        type Call = unsafe extern "C" fn(*mut c_char, c_uint) -> c_int;
        let mut text = [0 as c_char; RELEASE_BYTES];
        // SAFETY: the signature is that of `nvml.h`; the library writes at most the given length.
        let done = unsafe {
            let call = self.library.get::<Call>(b"nvmlSystemGetDriverVersion").ok()?;
            call(text.as_mut_ptr(), RELEASE_BYTES as c_uint)
        };
        text[RELEASE_BYTES - 1] = 0;
        // SAFETY: the text ends with a 0.
        let text = unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy().into_owned();
        (done == 0 && !text.is_empty()).then_some(text)
    }

    /// The device with this UUID, as `nvidia-smi -L` prints it.
    pub fn device(&self, uuid: &str) -> Option<Handle> {
        type Call = unsafe extern "C" fn(*const c_char, *mut *mut c_void) -> c_int;
        let uuid = CString::new(uuid).ok()?;
        let mut device = ptr::null_mut();
        // SAFETY: the signature is that of `nvml.h`; both outlive the call.
        let done = unsafe {
            let call = self.library.get::<Call>(b"nvmlDeviceGetHandleByUUID").ok()?;
            call(uuid.as_ptr(), &mut device)
        };
        (done == 0 && !device.is_null()).then_some(Handle(device))
    }

    /// Energy that a device used since its driver was loaded, in millijoules.
    pub fn millijoules(&self, Handle(device): Handle) -> Option<u64> {
        type Call = unsafe extern "C" fn(*mut c_void, *mut c_ulonglong) -> c_int;
        let mut energy = 0;
        // SAFETY: the signature is that of `nvml.h`; the device came from this library, which is
        // initialised as long as `self` lives.
        let done = unsafe {
            let call = self.library.get::<Call>(b"nvmlDeviceGetTotalEnergyConsumption").ok()?;
            call(device, &mut energy)
        };
        (done == 0).then_some(energy)
    }
}

impl Drop for Nvml {
    fn drop(&mut self) {
        type Call = unsafe extern "C" fn() -> c_int;
        // SAFETY: the signature is that of `nvml.h`; initialised once, ended once.
        if let Ok(call) = unsafe { self.library.get::<Call>(b"nvmlShutdown") } {
            // SAFETY: as above.
            let _nobody_to_tell = unsafe { call() };
        }
    }
}
