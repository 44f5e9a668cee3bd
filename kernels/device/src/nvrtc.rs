//! nvrtc: NVRTC, NVIDIA's run-time compiler: CUDA C++ to CUBIN, without a GPU or a toolkit.
//!
//! promises  no function of the library is called before it is known to be loaded; a compile error
//!           comes with the compiler's log and the lines around the first error; an unknown
//!           architecture with the known ones
//! never     produces PTX, which a driver would compile again; caches anything
//! limits    one NVRTC per process, of CUDA 12 or newer; `#include` takes the headers beside the
//!           library, else (from 13.3 on) those bundled in it, unpacked once into the user's cache
//!           folder
#![allow(unsafe_code)]
use std::{
    env,
    error::Error,
    ffi::{CString, OsString, c_char, c_int},
    fs,
    os::unix::fs::{DirBuilderExt, MetadataExt},
    path::{Path, PathBuf},
    ptr,
    sync::{Mutex, PoisonError},
};

use cudarc::nvrtc::{
    result,
    sys::{self, nvrtcProgram, nvrtcResult},
};

use crate::{
    capability::Capability,
    cubin::{self, Cubin},
    gpu_error::{Code, Fault},
};

/// Names the library, or its folder.
const VARIABLE: &str = "WARPLOOM_NVRTC";
/// The file name in the PyPI package.
const FILE: &str = "libnvrtc.so.13";
/// Attempts at a private folder's name.
const PRIVATE_TRIES: u32 = 100;
/// Source lines shown before and after an error.
const AROUND: usize = 3;

/// The loaded compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nvrtc {
    /// Major and minor version: those of its CUDA.
    pub version: (u32, u32),
    /// The library's file, if the system reports it.
    pub file: Option<PathBuf>,
}

/// A source to compile.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Its name for the compiler: `gcn.cu`.
    pub name: &'a str,
    /// CUDA C++ 17; functions without a qualifier are `__device__`.
    pub text: &'a str,
    /// Compute capability to compile for.
    pub capability: Capability,
    /// Further options: `-DWIDTH=8`.
    pub options: &'a [String],
}

/// What `find` and `open_at` loaded; cudarc keeps the first library it finds.
static LOADED: Mutex<Option<Nvrtc>> = Mutex::new(None);

/// The value of `WARPLOOM_NVRTC`.
fn named() -> Option<OsString> {
    env::var_os(VARIABLE).filter(|place| !place.is_empty())
}

/// The hint where none is found.
fn mend() -> String {
    let place = r#"python3 -c 'import nvidia.cu13 as n; print(n.__path__[0] + "/lib")'"#;
    format!("pip install nvidia-cuda-nvrtc, then  export {VARIABLE}=\"$({place})\"")
}

impl Nvrtc {
    /// Loads the library of `WARPLOOM_NVRTC` (a file, or its folder), else that of the system's
    /// search path.
    pub fn find() -> Result<Nvrtc, Fault> {
        if let Some(place) = named() {
            return Nvrtc::open_at(Path::new(&place));
        }
        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(nvrtc) = &*loaded {
            return Ok(nvrtc.clone());
        }
        // SAFETY: it only opens and closes libraries by name.
        if !unsafe { sys::is_culib_present() } {
            return Err(Fault::absent(
                format!(
                    "no NVRTC: `{FILE}` is nowhere the system looks for libraries, and {VARIABLE} \
                     is not set"
                ),
                mend(),
            ));
        }
        Ok(loaded.insert(Nvrtc { version: version()?, file: mapped() }).clone())
    }

    /// Whether `WARPLOOM_NVRTC` is set.
    pub fn is_named() -> bool {
        named().is_some()
    }

    /// Loads the library in this file, or in this folder or its `lib`.
    pub fn open_at(place: &Path) -> Result<Nvrtc, Fault> {
        let places = [place.to_path_buf(), place.join(FILE), place.join("lib").join(FILE)];
        let absent = || {
            Fault::absent(
                format!("no NVRTC: there is no `{FILE}` at `{}`", place.display()),
                mend(),
            )
        };
        let file = places
            .iter()
            .find(|place| place.is_file())
            .and_then(|file| file.canonicalize().ok())
            .ok_or_else(absent)?;
        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        match &*loaded {
            Some(nvrtc) if nvrtc.file.as_ref() == Some(&file) => return Ok(nvrtc.clone()),
            Some(nvrtc) => {
                return Err(Fault::misuse(format!(
                    "load `{}`: this process has another NVRTC already: {nvrtc:?}",
                    file.display()
                )));
            }
            None => {}
        }
        // SAFETY: the constructors of this library are meant to run when it is loaded.
        let library = unsafe { libloading::Library::new(&file) };
        let library = library.map_err(|error| {
            let why = error.source().map_or_else(|| error.to_string(), ToString::to_string);
            Fault::absent(format!("no NVRTC: `{}` does not load: {why}", file.display()), mend())
        })?;
        // Never unloaded: the loader now resolves the name that cudarc opens to it.
        let library: &'static libloading::Library = Box::leak(Box::new(library));
        // SAFETY: as in `find`; after it, `culib` finds what it found.
        let taken = unsafe { sys::is_culib_present() }.then(|| unsafe { sys::culib() });
        let place_of = |library: &libloading::Library| {
            // SAFETY: the symbol is used as an address and never called.
            unsafe {
                library.get::<*const ()>(b"nvrtcVersion").ok().map(|symbol| symbol.try_as_raw_ptr())
            }
        };
        if place_of(library).is_none() || taken.and_then(place_of) != place_of(library) {
            let what = format!(
                "no NVRTC: `{}` is loaded, but another library of that name comes first",
                file.display()
            );
            return Err(Fault::absent(what, "take the other one off LD_LIBRARY_PATH"));
        }
        Ok(loaded.insert(Nvrtc { version: version()?, file: Some(file) }).clone())
    }

    /// Architectures it supports, as 10 * major + minor.
    pub fn architectures(&self) -> Result<Vec<u32>, Fault> {
        let what = "ask NVRTC for its architectures";
        let mut count: c_int = 0;
        // SAFETY: the library is loaded, since `self` exists; `count` outlives the call.
        check(what, unsafe { sys::nvrtcGetNumSupportedArchs(&mut count) })?;
        let mut found = vec![0; usize::try_from(count).unwrap_or(0)];
        // SAFETY: there is room for the reported count.
        check(what, unsafe { sys::nvrtcGetSupportedArchs(found.as_mut_ptr()) })?;
        Ok(found.into_iter().filter_map(|arch| u32::try_from(arch).ok()).collect())
    }

    /// Compiles a source for one architecture.
    pub fn compile(&self, source: &Source) -> Result<Cubin, Fault> {
        let what = format!("compile `{}` for {}", source.name, architecture(source.capability));
        let known = self.architectures()?;
        if !known.iter().any(|number| Capability::from_number(*number) == source.capability) {
            let names: Vec<String> = known.iter().map(|arch| format!("sm_{arch}")).collect();
            let (major, minor) = self.version;
            let what = format!("{what}: NVRTC {major}.{minor} knows {}", names.join(", "));
            return Err(Fault::absent(what, mend()));
        }
        let zero = |_| {
            Fault::misuse(format!("{what}: the source, its name or an option contains a NUL byte"))
        };
        let (text, name) =
            (CString::new(source.text).map_err(zero)?, CString::new(source.name).map_err(zero)?);
        let options = self
            .options(source)
            .into_iter()
            .map(CString::new)
            .collect::<Result<Vec<_>, _>>()
            .map_err(zero)?;
        let places: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        let program = Program(
            result::create_program(&text, Some(&name))
                .map_err(|error| Fault::library(&what, format!("{:?}", error.0)))?,
        );
        // SAFETY: the program was just created, and its texts and the options end with a 0 and
        // outlive it.
        let done =
            unsafe { sys::nvrtcCompileProgram(program.0, places.len() as c_int, places.as_ptr()) };
        let log = program.log();
        match done {
            nvrtcResult::NVRTC_SUCCESS => {}
            nvrtcResult::NVRTC_ERROR_COMPILATION | nvrtcResult::NVRTC_ERROR_INVALID_OPTION => {
                return Err(Fault {
                    what,
                    code: Code::Compile { log: add_source_lines(log, source) },
                    hint: None,
                });
            }
            other => return Err(Fault::library(what, format!("{other:?}: {log}"))),
        }
        let mut length = 0;
        // SAFETY: the program is compiled; `length` outlives the call.
        check(&what, unsafe { sys::nvrtcGetCUBINSize(program.0, &mut length) })?;
        let mut bytes = vec![0_u8; length];
        // SAFETY: there is room for the reported size.
        check(&what, unsafe { sys::nvrtcGetCUBIN(program.0, bytes.as_mut_ptr().cast()) })?;
        if !cubin::is_whole(&bytes) {
            return Err(Fault::library(
                what,
                format!("expected a CUBIN, found {length} other bytes"),
            ));
        }
        let kernels = cubin::kernels(&log);
        Ok(Cubin { bytes, log, kernels })
    }

    fn options(&self, source: &Source) -> Vec<String> {
        let mut options = options(source);
        let starts = |option: &String| {
            ["-I", "--include-path", "--use-bundled-headers"]
                .iter()
                .any(|start| option.starts_with(start))
        };
        if includes(source.text) && !source.options.iter().any(starts) {
            options.extend(self.headers());
        }
        options
    }

    /// Options with the include paths of CUDA's headers.
    fn headers(&self) -> Vec<String> {
        let beside =
            self.file.as_ref().and_then(|file| Some(file.parent()?.parent()?.join("include")));
        match beside.filter(|folder| folder.join("cuda_fp16.h").is_file()) {
            Some(folder) => {
                let both = [folder.clone(), folder.join("cccl")];
                both.iter()
                    .filter(|folder| folder.is_dir())
                    .map(|folder| format!("--include-path={}", folder.display()))
                    .collect()
            }
            None if self.version >= (13, 3) => {
                vec![format!("--use-bundled-headers={}", self.unpacked().display())]
            }
            None => Vec::new(),
        }
    }

    /// Where the bundled headers of this version are unpacked; the compiler does that, once.
    fn unpacked(&self) -> PathBuf {
        let of =
            |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let cache = of("XDG_CACHE_HOME")
            .or_else(|| of("HOME").map(|home| home.join(".cache")))
            .map(|cache| cache.join("warploom"));
        let folder = cache
            .unwrap_or_else(|| private_folder(&env::temp_dir()))
            .join(format!("nvrtc-{}.{}", self.version.0, self.version.1));
        // If the folder cannot be created, the compiler reports it.
        let _said_by_the_compiler = folder.parent().map(fs::create_dir_all);
        folder
    }
}

/// A folder below one that all users can write, into which no other user can have put anything:
/// headers are code. It is `warploom-<user>` if it belongs to this user and no other may write it,
/// else a new one, for this process alone.
fn private_folder(shared: &Path) -> PathBuf {
    let own = rustix::process::geteuid().as_raw();
    // `mkdir` follows no link and fails if the name exists.
    let make = |folder: &Path| fs::DirBuilder::new().mode(0o700).create(folder);
    let is_own = |folder: &Path| {
        fs::symlink_metadata(folder)
            .is_ok_and(|facts| facts.is_dir() && facts.uid() == own && facts.mode() & 0o077 == 0)
    };
    let lasting = shared.join(format!("warploom-{own}"));
    if make(&lasting).is_ok() || is_own(&lasting) {
        return lasting;
    }
    let number = std::process::id();
    let fresh =
        (0..PRIVATE_TRIES).map(|round| shared.join(format!("warploom-{own}-{number}-{round}")));
    // If none can be created, the compiler reports that this one is missing.
    let never = shared.join(format!("warploom-{own}-{number}-none/none"));
    fresh.into_iter().find(|folder| make(folder).is_ok()).unwrap_or(never)
}

/// The compiler's options, except the include paths of CUDA's headers: those follow from its
/// version, and differ between machines.
pub fn options(source: &Source) -> Vec<String> {
    let mut options = vec![format!("--gpu-architecture={}", architecture(source.capability))];
    options.extend(
        ["--std=c++17", "-default-device", "--ptxas-options=-v", "--fmad=true"].map(str::to_owned),
    );
    options.extend_from_slice(source.options);
    options
}

/// The architecture that code for this capability is compiled for: with `a`, its own instructions
/// too, which later devices lack.
pub fn architecture(capability: Capability) -> String {
    let all = if capability == Capability::new(9, 0) { "a" } else { "" };
    capability.architecture() + all
}

/// A program of the library, destroyed when dropped.
struct Program(nvrtcProgram);

impl Program {
    /// The compiler's log.
    fn log(&self) -> String {
        // SAFETY: the program is there, and the library writes as much as it says.
        let log = unsafe { result::get_program_log(self.0) }.unwrap_or_default();
        let bytes: Vec<u8> =
            log.iter().map(|character| *character as u8).take_while(|byte| *byte != 0).collect();
        String::from_utf8_lossy(&bytes).trim_end().to_owned()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: created once, destroyed once.
        let _nobody_to_tell = unsafe { result::destroy_program(self.0) };
    }
}

fn check(what: &str, result: nvrtcResult) -> Result<(), Fault> {
    if result == nvrtcResult::NVRTC_SUCCESS {
        Ok(())
    } else {
        Err(Fault::library(what, format!("{result:?}")))
    }
}

/// The version of the library that cudarc opens, which has to be loaded.
fn version() -> Result<(u32, u32), Fault> {
    let (mut major, mut minor): (c_int, c_int) = (0, 0);
    // SAFETY: the library is loaded; both numbers outlive the call.
    check("ask NVRTC for its version", unsafe {
        sys::nvrtcVersion(ptr::from_mut(&mut major), ptr::from_mut(&mut minor))
    })?;
    let version = (u32::try_from(major).unwrap_or(0), u32::try_from(minor).unwrap_or(0));
    if version < (12, 0) {
        Err(Fault::absent(
            format!("NVRTC {major}.{minor} is too old: expected 12.0 or newer"),
            mend(),
        ))
    } else {
        Ok(version)
    }
}

/// The file that the loader mapped, as Linux reports it.
fn mapped() -> Option<PathBuf> {
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    let path = maps
        .lines()
        .filter_map(|line| line.find('/').map(|at| &line[at..]))
        .find(|path| path.contains("/libnvrtc.so"))?;
    Some(PathBuf::from(path))
}

/// Whether a source includes a header.
fn includes(text: &str) -> bool {
    text.lines().any(|line| {
        line.trim_start()
            .strip_prefix('#')
            .is_some_and(|rest| rest.trim_start().starts_with("include"))
    })
}

/// The log, with the source lines around its first error.
fn add_source_lines(mut log: String, source: &Source) -> String {
    let number = |line: &str| {
        let (number, rest) =
            line.strip_prefix(source.name)?.strip_prefix('(')?.split_once("): ")?;
        if rest.contains("error") { number.parse::<usize>().ok() } else { None }
    };
    if let Some(wrong) = log.lines().find_map(number) {
        log += &format!("\n{}, around the first error:", source.name);
        for (index, line) in source
            .text
            .lines()
            .enumerate()
            .skip(wrong.saturating_sub(AROUND + 1))
            .take(2 * AROUND + 1)
        {
            log += &format!(
                "\n{} {:>5} | {line}",
                if index + 1 == wrong { '>' } else { ' ' },
                index + 1
            );
        }
    }
    log
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn headers_go_into_a_folder_that_nobody_else_prepared() {
        let shared = tempfile::tempdir().unwrap();
        let lasting = private_folder(shared.path());
        assert_eq!(fs::metadata(&lasting).unwrap().mode() & 0o777, 0o700);
        assert_eq!(private_folder(shared.path()), lasting);
        // Another may write it now, or it leads elsewhere.
        fs::set_permissions(&lasting, fs::Permissions::from_mode(0o777)).unwrap();
        let fresh = private_folder(shared.path());
        assert!(fresh != lasting && fs::metadata(&fresh).unwrap().mode() & 0o777 == 0o700);
        fs::remove_dir(&lasting).unwrap();
        symlink(&fresh, &lasting).unwrap();
        assert!(![&lasting, &fresh].contains(&&private_folder(shared.path())));
    }
}
