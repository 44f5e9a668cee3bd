//! cubin_cache: compiled kernels (cubin) of a launch list, found in the store or compiled and
//! stored.
//!
//! promises  the key has the source without comments, the architecture, the options and the version
//!           of the compiler; a cubin that is damaged, or that the driver rejects, is compiled
//!           again and replaced; without a compiler, a cubin of any version of it is taken; a store
//!           that cannot be written is a warning, and the next start compiles again
//! never     keys code by anything that a compiler puts into it; needs a GPU
use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use warploom_contract::{
    Artifact, Context, Digest, KeyDocument, Kind, Manifest, Provenance, StageError, Store,
    manifest::{Producer, utc_timestamp},
};
use warploom_device::{
    Capability, Cause, Code, Cubin, Facts, Fault, Nvrtc,
    nvrtc::{self, Source, architecture},
};

/// The file of the cubin.
const CODE: &str = "kernels.cubin";
/// The file of its key request, and of what the compiler reports for each kernel.
const BUILD: &str = "build.json";
/// The file of the CUDA source, for people.
const SOURCE: &str = "kernels.cu";
/// Version of this compilation step.
const VERSION: u32 = 1;

/// Where a cubin came from.
#[derive(Clone, Debug)]
pub struct CubinOrigin {
    /// Time that it took.
    pub took: Duration,
    /// Whether it was in the store.
    pub found: bool,
    /// Its key in the store.
    pub key: String,
}

/// The cubin of a source for an architecture: from the store, else compiled now and stored. `take`
/// loads its bytes; a stored cubin that `take` refuses is compiled again. Without a compiler only
/// the store is looked at.
pub fn load_or_compile<T>(
    context: &Context,
    nvrtc: &Result<Nvrtc, Fault>,
    capability: Capability,
    source: &str,
    take: impl Fn(&[u8], &str) -> Result<T, Fault>,
) -> Result<(T, CubinOrigin), Fault> {
    match nvrtc {
        Ok(nvrtc) => load_or_compile_with(context, nvrtc, capability, source, take),
        Err(absent) => load_kept(context, absent, capability, source, take),
    }
}

/// Whether the store has code for the architecture of a device, which a run may use without a
/// compiler.
pub fn has_code(store: &Store, device: &Facts) -> bool {
    let Some(capability) = device.capability() else { return false };
    let wanted = Value::from(architecture(capability));
    let kept = store.list(Kind::Cubin);
    kept.iter().any(|cubin| cubin.manifest.key_document.request["architecture"] == wanted)
}

/// The cubin of a source that some version of the compiler made, the newest first.
fn load_kept<T>(
    context: &Context,
    absent: &Fault,
    capability: Capability,
    source: &str,
    take: impl Fn(&[u8], &str) -> Result<T, Fault>,
) -> Result<(T, CubinOrigin), Fault> {
    let begun = Instant::now();
    let compiled = strip_comments(source);
    let asked = Source { name: SOURCE, text: &compiled, capability, options: &[] };
    let wanted = key_request(&asked, None);
    let is_same = |request: &Value| {
        ["source", "options", "architecture"].iter().all(|name| request[name] == wanted[name])
    };
    let mut kept = context.store.list(Kind::Cubin);
    kept.retain(|cubin| is_same(&cubin.manifest.key_document.request));
    kept.sort_by_key(|cubin| {
        std::cmp::Reverse(version_numbers(&cubin.manifest.key_document.request["nvrtc"]))
    });
    let mut refused = String::new();
    for cubin in kept {
        match load_stored(&cubin, &take) {
            Ok(taken) => {
                context.store.mark_used(&cubin);
                let key = cubin.manifest.key.to_string();
                return Ok((taken, CubinOrigin { took: begun.elapsed(), found: true, key }));
            }
            Err(Some(fault)) if fault.cause() != Cause::Code => return Err(fault),
            Err(Some(fault)) => refused = format!("; what is kept does not load: {fault}"),
            Err(None) => "; what is kept is damaged".clone_into(&mut refused),
        }
    }
    if refused.is_empty() {
        "; the store has no compiled kernels for this plan".clone_into(&mut refused);
    }
    Err(Fault { what: format!("{absent}{refused}"), ..absent.clone() })
}

/// `(13, 5)` for `13.5`.
fn version_numbers(version: &Value) -> (u32, u32) {
    let (major, minor) = version.as_str().and_then(|text| text.split_once('.')).unwrap_or_default();
    (major.parse().unwrap_or(0), minor.parse().unwrap_or(0))
}

/// Loads a stored cubin; no fault where its file is damaged.
fn load_stored<T>(
    cubin: &Artifact,
    take: impl Fn(&[u8], &str) -> Result<T, Fault>,
) -> Result<T, Option<Fault>> {
    cubin.manifest.check_digests(&cubin.path).map_err(|_| None)?;
    let bytes = fs::read(cubin.file(CODE)).map_err(|_| None)?;
    take(&bytes, CODE).map_err(Some)
}

fn load_or_compile_with<T>(
    context: &Context,
    nvrtc: &Nvrtc,
    capability: Capability,
    source: &str,
    take: impl Fn(&[u8], &str) -> Result<T, Fault>,
) -> Result<(T, CubinOrigin), Fault> {
    let begun = Instant::now();
    let compiled = strip_comments(source);
    let asked = Source { name: SOURCE, text: &compiled, capability, options: &[] };
    let document =
        KeyDocument::new("compile", VERSION, &[Kind::Cubin], key_request(&asked, Some(nvrtc)));
    let key = document.key();
    // A cubin that cannot be read, or does not load, is compiled again.
    if let Ok(Some(artifact)) = context.store.find(Kind::Cubin, &key) {
        match load_stored(&artifact, &take) {
            Ok(taken) => {
                context.store.mark_used(&artifact);
                let key = key.to_string();
                return Ok((taken, CubinOrigin { took: begun.elapsed(), found: true, key }));
            }
            // Other code would meet the same device.
            Err(Some(fault)) if fault.cause() != Cause::Code && fault.code != Code::Misuse => {
                return Err(fault);
            }
            Err(_) => context.progress.warn("kept kernels do not load: they are compiled again"),
        }
    }
    context.progress.note("compiling kernels");
    let cubin = nvrtc.compile(&asked)?;
    let taken = take(&cubin.bytes, CODE)?;
    if let Err(error) = store_cubin(context, &document, &cubin, source) {
        context.progress.warn(&format!("the compiled kernels could not be stored: {}", error.what));
    }
    Ok((taken, CubinOrigin { took: begun.elapsed(), found: false, key: key.to_string() }))
}

/// Everything that a cubin depends on; the version is null without a compiler.
fn key_request(source: &Source, nvrtc: Option<&Nvrtc>) -> Value {
    let version = nvrtc.map(|Nvrtc { version: (major, minor), .. }| format!("{major}.{minor}"));
    json!({
        "source": Digest::from_bytes(source.text.as_bytes()).to_string(),
        "options": nvrtc::options(source),
        "nvrtc": version, "architecture": architecture(source.capability),
    })
}

/// The source without comments. Comments describe one graph, and the cubin serves every graph with
/// the same kernels.
fn strip_comments(source: &str) -> String {
    source
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .flat_map(|line| [line, "\n"])
        .collect()
}

/// Stores a cubin.
fn store_cubin(
    context: &Context,
    document: &KeyDocument,
    cubin: &Cubin,
    source: &str,
) -> Result<(), StageError> {
    let key = document.key();
    let draft = context.store.begin(Kind::Cubin, &key)?;
    let kernels: Vec<_> = cubin
        .kernels
        .iter()
        .map(|kernel| json!({"name": kernel.name, "registers": kernel.registers, "stack": kernel.stack, "spill_stores": kernel.spill_stores, "spill_loads": kernel.spill_loads}))
        .collect();
    let build =
        serde_json::to_vec_pretty(&json!({"request": document.request, "kernels": kernels}))
            .map_err(|error| StageError::defect(error.to_string()))?;
    for (name, bytes) in
        [(CODE, cubin.bytes.as_slice()), (BUILD, &build), (SOURCE, source.as_bytes())]
    {
        let path = draft.file(name);
        fs::write(&path, bytes).map_err(|error| StageError::io("write", &path, &error))?;
    }
    let manifest = Manifest {
        kind: Kind::Cubin.name().to_owned(),
        format: Kind::Cubin.version(),
        key,
        key_document: document.clone(),
        producer: Producer { stage: document.stage.clone(), version: document.version },
        inputs: Vec::new(),
        inputs_verified: None,
        digest: Digest::from_bytes(&[]),
        files: Vec::new(),
        counts: BTreeMap::new(),
        facts: BTreeMap::new(),
        provenance: Provenance::Real,
        made_up: Vec::new(),
        record: None,
        created: utc_timestamp(),
        self_digest: None,
    };
    let sealed = draft.seal(manifest, &|_| {})?;
    // What is there was not usable.
    context.store.publish(sealed, true).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_the_options_that_the_compiler_is_given() {
        let source = Source {
            name: SOURCE,
            text: "",
            capability: Capability::new(9, 0),
            options: &["-DA=1".to_owned()],
        };
        let request = key_request(&source, Some(&Nvrtc { version: (13, 0), file: None }));
        assert_eq!(
            request["options"],
            json!([
                "--gpu-architecture=sm_90a",
                "--std=c++17",
                "-default-device",
                "--ptxas-options=-v",
                "--fmad=true",
                "-DA=1"
            ])
        );
        assert_eq!(
            (&request["nvrtc"], &request["architecture"]),
            (&json!("13.0"), &json!("sm_90a"))
        );
    }

    #[test]
    fn remarks_are_not_compiled() {
        assert_eq!(
            strip_comments("// of 5 nodes\nint a; // kept\n  // gone\nint b;"),
            "int a; // kept\nint b;\n"
        );
    }
}
