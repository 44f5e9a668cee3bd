//! parameters: the parameters of a kernel, checked against the loaded code, and at each launch.
//!
//! promises  a list that does not match the kernel is refused when the kernel is looked up, with
//!           the parameter, what was expected and what was found; a launch with values of other
//!           kinds is refused before the driver is called
//! never     converts a number
//! limits    the driver knows offsets and sizes only, so that an `f32` in place of a `u32` is not
//!           detected; structs by value have no kind
use crate::gpu_error::Fault;

/// A parameter of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name in the kernel, for error messages.
    pub name: String,
    /// Its type.
    pub kind: ParameterKind,
}

/// The type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    /// A device address.
    Pointer,
    /// A 32-bit unsigned integer.
    U32,
    /// A 64-bit unsigned integer.
    U64,
    /// A 32-bit signed integer.
    I32,
    /// A 32-bit float.
    F32,
    /// A 64-bit float.
    F64,
}

/// The value of a parameter at a launch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ArgumentValue {
    /// A device address.
    Pointer(u64),
    /// A 32-bit unsigned integer.
    U32(u32),
    /// A 64-bit unsigned integer.
    U64(u64),
    /// A 32-bit signed integer.
    I32(i32),
    /// A 32-bit float.
    F32(f32),
    /// A 64-bit float.
    F64(f64),
}

impl Parameter {
    /// A parameter of this name and kind.
    pub fn new(name: impl Into<String>, kind: ParameterKind) -> Self {
        Parameter { name: name.into(), kind }
    }
}

impl ParameterKind {
    /// Its size, which is also its alignment.
    pub fn bytes(self) -> usize {
        match self {
            ParameterKind::U32 | ParameterKind::I32 | ParameterKind::F32 => 4,
            ParameterKind::Pointer | ParameterKind::U64 | ParameterKind::F64 => 8,
        }
    }

    fn name(self) -> &'static str {
        match self {
            ParameterKind::Pointer => "pointer",
            ParameterKind::U32 => "u32",
            ParameterKind::U64 => "u64",
            ParameterKind::I32 => "i32",
            ParameterKind::F32 => "f32",
            ParameterKind::F64 => "f64",
        }
    }
}

impl ArgumentValue {
    /// Its type.
    pub fn kind(self) -> ParameterKind {
        match self {
            ArgumentValue::Pointer(_) => ParameterKind::Pointer,
            ArgumentValue::U32(_) => ParameterKind::U32,
            ArgumentValue::U64(_) => ParameterKind::U64,
            ArgumentValue::I32(_) => ParameterKind::I32,
            ArgumentValue::F32(_) => ParameterKind::F32,
            ArgumentValue::F64(_) => ParameterKind::F64,
        }
    }

    /// Its bytes, little-endian, so that a 32-bit value is where the driver reads it.
    pub(super) fn bits(self) -> u64 {
        match self {
            ArgumentValue::Pointer(bits) | ArgumentValue::U64(bits) => bits,
            ArgumentValue::U32(number) => u64::from(number),
            ArgumentValue::I32(number) => u64::from(number.cast_unsigned()),
            ArgumentValue::F32(number) => u64::from(number.to_bits()),
            ArgumentValue::F64(number) => number.to_bits(),
        }
    }
}

/// Offset and size of each parameter of the loaded code.
pub(super) type ParameterSlots = [(usize, usize)];

/// Checks that a list matches the loaded code.
pub(super) fn agree(
    kernel: &str,
    parameters: &[Parameter],
    found: &ParameterSlots,
) -> Result<(), Fault> {
    let mut end = 0_usize;
    for (index, parameter) in parameters.iter().enumerate() {
        let bytes = parameter.kind.bytes();
        let offset = end.next_multiple_of(bytes);
        let what = format!(
            "kernel `{kernel}`: parameter {index} `{}`: expected {} of {bytes} bytes at {offset}",
            parameter.name,
            parameter.kind.name()
        );
        match found.get(index) {
            None => {
                return Err(Fault::misuse(format!(
                    "{what}, found no more parameters: the code has {}, the list {}",
                    found.len(),
                    parameters.len()
                )));
            }
            Some((at, size)) if (*at, *size) != (offset, bytes) => {
                return Err(Fault::misuse(format!("{what}, found {size} bytes at {at}")));
            }
            Some(_) => end = offset + bytes,
        }
    }
    match found.get(parameters.len()) {
        None => Ok(()),
        Some((at, size)) => {
            let (listed, there) = (parameters.len(), found.len());
            Err(Fault::misuse(format!(
                "kernel `{kernel}`: expected {listed} parameters, found {there}: the next is \
                 {size} bytes at {at}"
            )))
        }
    }
}

/// Checks that values match the parameters.
pub(super) fn fit(
    kernel: &str,
    parameters: &[Parameter],
    values: &[ArgumentValue],
) -> Result<(), Fault> {
    if parameters.len() != values.len() {
        return Err(Fault::misuse(format!(
            "launch `{kernel}`: expected {} values, found {}",
            parameters.len(),
            values.len()
        )));
    }
    for (index, (parameter, value)) in parameters.iter().zip(values).enumerate() {
        let (expected, found) = (parameter.kind, value.kind());
        if expected != found {
            let name = &parameter.name;
            return Err(Fault::misuse(format!(
                "launch `{kernel}`: parameter {index} `{name}`: expected {}, found {}",
                expected.name(),
                found.name()
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn saxpy() -> Vec<Parameter> {
        use ParameterKind::{F32, Pointer, U32};
        [("y", Pointer), ("x", Pointer), ("a", F32), ("n", U32)]
            .map(|(name, kind)| Parameter::new(name, kind))
            .to_vec()
    }

    #[test]
    fn a_list_is_compared_with_the_code_place_by_place() {
        let said = |parameters: &[Parameter], found: &ParameterSlots| {
            agree("saxpy", parameters, found).unwrap_err().to_string()
        };
        let code = [(0, 8), (8, 8), (16, 4), (20, 4)];
        assert_eq!(agree("saxpy", &saxpy(), &code), Ok(()));
        assert_eq!(agree("empty", &[], &[]), Ok(()));
        let mut wrong = saxpy();
        wrong[2].kind = ParameterKind::F64;
        assert_eq!(
            said(&wrong, &code),
            "kernel `saxpy`: parameter 2 `a`: expected f64 of 8 bytes at 16, found 4 bytes at 16"
        );
        // A gap that alignment makes is no mistake; one that it does not make is.
        wrong = vec![
            Parameter::new("n", ParameterKind::U32),
            Parameter::new("x", ParameterKind::Pointer),
        ];
        assert_eq!(agree("gap", &wrong, &[(0, 4), (8, 8)]), Ok(()));
        assert!(
            said(&wrong, &[(0, 4), (4, 8)])
                .contains("expected pointer of 8 bytes at 8, found 8 bytes at 4")
        );
        assert!(
            said(&saxpy(), &code[..3])
                .contains("found no more parameters: the code has 3, the list 4")
        );
        assert!(
            said(&saxpy()[..3], &code)
                .contains("expected 3 parameters, found 4: the next is 4 bytes at 20")
        );
    }

    #[test]
    fn a_launch_is_compared_with_the_list_kind_by_kind() {
        let values = [
            ArgumentValue::Pointer(1),
            ArgumentValue::Pointer(2),
            ArgumentValue::F32(0.5),
            ArgumentValue::U32(3),
        ];
        assert_eq!(fit("saxpy", &saxpy(), &values), Ok(()));
        let swapped = [values[0], values[1], values[3], values[2]];
        let said = fit("saxpy", &saxpy(), &swapped).unwrap_err().to_string();
        assert_eq!(said, "launch `saxpy`: parameter 2 `a`: expected f32, found u32");
        assert!(
            fit("saxpy", &saxpy(), &values[..3])
                .unwrap_err()
                .to_string()
                .contains("expected 4 values, found 3")
        );
        assert_eq!(
            (ArgumentValue::I32(-1).bits(), ArgumentValue::F32(1.0).bits()),
            (0xFFFF_FFFF, 0x3F80_0000)
        );
    }
}
