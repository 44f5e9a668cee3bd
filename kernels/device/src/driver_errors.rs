//! driver_errors: what each error of the CUDA driver means for a user: one table of numbers,
//! causes, words and hints.
//!
//! promises  an error of a program (a wrong address, a wrong argument) is never taken for one of
//!           the device, which would be worth another start; an unlisted number counts as one of
//!           the device
//! never     decides how a program ends: the caller maps a cause to an exit code
/// Where an error comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The device failed, or others hold it: the same command may succeed later or elsewhere.
    Device,
    /// The installation: driver, compiler, licence, or which devices are visible.
    Setup,
    /// The driver cannot load the code: other code for the same source may load.
    Code,
    /// Too little device memory.
    Memory,
    /// A kernel or a call of this program is wrong.
    Program,
}

/// An error of the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DriverError {
    /// Its number (`CUresult`).
    pub number: u32,
    /// Its name in `cuda.h`.
    pub name: &'static str,
    /// Where it comes from.
    pub cause: Cause,
    /// What it means.
    pub meaning: &'static str,
    /// What to do; empty for an error of this program.
    pub hint: &'static str,
}

/// For a device that failed.
const LOST: &str = "the same command goes on from the last checkpoint: start it again, on another \
    node if it fails again; `dmesg` (Xid) and `nvidia-smi -q` describe the fault";
/// For a device that others hold.
const BUSY: &str = "the same command may succeed later, or on another device; `nvidia-smi` lists \
    the processes on this one";
/// For a driver that is not ready.
const STARTING: &str = "the same command may succeed later, or on another node; `nvidia-smi` and \
    `systemctl status nvidia-fabricmanager nvidia-persistenced` say what is missing";
/// For a driver that is too old.
const DRIVER: &str = "install a newer driver of NVIDIA, or an NVRTC of its CUDA version or older; \
    `warploom doctor` prints both versions";
/// For code that does not load.
const CODE: &str = "`warploom store gc` removes kept code that no plan needs; NVRTC compiles it \
    again";
/// For devices that are not visible.
const VISIBLE: &str = "`nvidia-smi -L` lists devices; CUDA_VISIBLE_DEVICES may hide some";
/// For too little memory.
const ROOM: &str = "`nvidia-smi` lists the processes that hold memory";

const fn row(
    number: u32,
    name: &'static str,
    cause: Cause,
    meaning: &'static str,
    hint: &'static str,
) -> DriverError {
    DriverError { number, name, cause, meaning, hint }
}

/// The errors that the calls of this crate can return, by number.
#[rustfmt::skip]
pub const DRIVER_ERRORS: [DriverError; 48] = {
    use Cause::{Code, Device, Memory, Program, Setup};
    [
        row(1, "CUDA_ERROR_INVALID_VALUE", Program, "a wrong argument", ""),
        row(2, "CUDA_ERROR_OUT_OF_MEMORY", Memory, "too little device memory", ROOM),
        row(3, "CUDA_ERROR_NOT_INITIALIZED", Device, "the driver was not started, or ended", LOST),
        row(4, "CUDA_ERROR_DEINITIALIZED", Device, "the driver is shutting down", LOST),
        row(34, "CUDA_ERROR_STUB_LIBRARY", Setup, "a stub in place of the driver", DRIVER),
        row(36, "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER", Setup, "the driver is too old", DRIVER),
        row(46, "CUDA_ERROR_DEVICE_UNAVAILABLE", Device, "the device is held exclusively", BUSY),
        row(100, "CUDA_ERROR_NO_DEVICE", Setup, "no device is visible", VISIBLE),
        row(101, "CUDA_ERROR_INVALID_DEVICE", Setup, "no such device is visible", VISIBLE),
        row(102, "CUDA_ERROR_DEVICE_NOT_LICENSED", Setup, "the device has no licence", VISIBLE),
        row(200, "CUDA_ERROR_INVALID_IMAGE", Code, "the code is damaged or of a newer CUDA", CODE),
        row(201, "CUDA_ERROR_INVALID_CONTEXT", Program, "a call without a context", ""),
        row(209, "CUDA_ERROR_NO_BINARY_FOR_GPU", Code, "the code is for another device", CODE),
        row(214, "CUDA_ERROR_ECC_UNCORRECTABLE", Device, "an error in device memory", LOST),
        row(218, "CUDA_ERROR_INVALID_PTX", Code, "the code is damaged", CODE),
        row(220, "CUDA_ERROR_NVLINK_UNCORRECTABLE", Device, "an error of NVLink", LOST),
        row(221, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND", Setup, "parts of the driver lack", DRIVER),
        row(222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", Code, "the code is of a newer CUDA", DRIVER),
        row(226, "CUDA_ERROR_CONTAINED", Device, "an error in device memory", LOST),
        row(304, "CUDA_ERROR_OPERATING_SYSTEM", Device, "the system refused the driver", LOST),
        row(400, "CUDA_ERROR_INVALID_HANDLE", Program, "a wrong handle", ""),
        row(500, "CUDA_ERROR_NOT_FOUND", Program, "a kernel that the code lacks", ""),
        row(700, "CUDA_ERROR_ILLEGAL_ADDRESS", Program, "a kernel reads a wrong address", ""),
        row(701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", Program, "a kernel needs too much", ""),
        row(702, "CUDA_ERROR_LAUNCH_TIMEOUT", Device, "the display's time limit ended it", LOST),
        row(709, "CUDA_ERROR_CONTEXT_IS_DESTROYED", Device, "the device was reset", LOST),
        row(710, "CUDA_ERROR_ASSERT", Program, "a kernel found a wrong value", ""),
        row(714, "CUDA_ERROR_HARDWARE_STACK_ERROR", Program, "a kernel damaged its stack", ""),
        row(715, "CUDA_ERROR_ILLEGAL_INSTRUCTION", Program, "a kernel has a wrong instruction", ""),
        row(716, "CUDA_ERROR_MISALIGNED_ADDRESS", Program, "a kernel reads across a boundary", ""),
        row(717, "CUDA_ERROR_INVALID_ADDRESS_SPACE", Program, "a kernel mixes memories", ""),
        row(718, "CUDA_ERROR_INVALID_PC", Program, "a kernel jumped out of its code", ""),
        row(719, "CUDA_ERROR_LAUNCH_FAILED", Device, "the device ended a kernel (Xid)", LOST),
        row(800, "CUDA_ERROR_NOT_PERMITTED", Setup, "the driver does not permit it", VISIBLE),
        row(801, "CUDA_ERROR_NOT_SUPPORTED", Setup, "the driver does not support it", DRIVER),
        row(802, "CUDA_ERROR_SYSTEM_NOT_READY", Device, "services are not started", STARTING),
        row(803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", Setup,
            "the driver's library and its kernel module are of different releases", DRIVER),
        row(804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", Setup,
            "the compatibility library does not support the device", DRIVER),
        row(805, "CUDA_ERROR_MPS_CONNECTION_FAILED", Device, "MPS does not answer", STARTING),
        row(806, "CUDA_ERROR_MPS_RPC_FAILURE", Device, "MPS does not answer", LOST),
        row(807, "CUDA_ERROR_MPS_SERVER_NOT_READY", Device, "MPS is starting", STARTING),
        row(808, "CUDA_ERROR_MPS_MAX_CLIENTS_REACHED", Device, "MPS has enough clients", BUSY),
        row(809, "CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED", Device, "MPS has enough clients", BUSY),
        row(810, "CUDA_ERROR_MPS_CLIENT_TERMINATED", Device, "MPS ended this process", LOST),
        row(900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", Program, "no call for a capture", ""),
        row(904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", Program, "a capture leaves work", ""),
        row(911, "CUDA_ERROR_EXTERNAL_DEVICE", Device, "another device failed", LOST),
        row(999, "CUDA_ERROR_UNKNOWN", Device, "the driver knows no more", LOST),
    ]
};

/// The row of a number; one of the device for an unlisted number.
pub fn driver_error(number: u32) -> DriverError {
    let listed = DRIVER_ERRORS.iter().find(|row| row.number == number).copied();
    listed.unwrap_or(row(number, "unlisted", Cause::Device, "an error that has no row", LOST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_order_and_only_errors_of_the_program_lack_a_hint() {
        assert!(DRIVER_ERRORS.windows(2).all(|pair| pair[0].number < pair[1].number));
        for row in DRIVER_ERRORS {
            assert_eq!(row.hint.is_empty(), row.cause == Cause::Program, "{row:?}");
        }
    }

    #[test]
    fn lost_devices_are_worth_another_start_and_wrong_addresses_are_not() {
        for number in [3, 46, 214, 719, 802, 999, 12345] {
            assert_eq!(driver_error(number).cause, Cause::Device, "{number}");
        }
        for number in [1, 700, 716] {
            assert_eq!(driver_error(number).cause, Cause::Program, "{number}");
        }
        assert_eq!([200, 209, 222].map(|number| driver_error(number).cause), [Cause::Code; 3]);
        assert_eq!([100, 803, 804].map(|number| driver_error(number).cause), [Cause::Setup; 3]);
    }
}
