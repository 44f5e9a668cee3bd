//! cubin_cache: compiled kernels (cubin) of a launch list, found in the store or compiled and
//! stored.
//!
//! promises  the key has the source without comments, the architecture, the options and the version
//!           of the compiler; a cubin that is damaged, or that the driver rejects, is compiled
//!           again; a store that cannot be written is a warning, and the next start compiles again
//! never     keys code by anything that a compiler puts into it; needs a GPU
use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use warploom_contract::{
    Context, Digest, KeyDocument, Kind, Manifest, Provenance, StageError,
    manifest::{Producer, utc_timestamp},
};
use warploom_device::{
    Capability, Cubin, Fault, Nvrtc,
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
/// loads its bytes; a stored cubin that `take` refuses is compiled again.
pub fn load_or_compile<T>(
    context: &Context,
    nvrtc: &Nvrtc,
    capability: Capability,
    source: &str,
    take: impl Fn(&[u8], &str) -> Result<T, Fault>,
) -> Result<(T, CubinOrigin), Fault> {
    let begun = Instant::now();
    let compiled = strip_comments(source);
    let asked = Source { name: SOURCE, text: &compiled, capability, options: &[] };
    let document = KeyDocument::new("compile", VERSION, &[Kind::Cubin], key_request(&asked, nvrtc));
    let key = document.key();
    // A cubin that cannot be read is compiled again, to the same bytes.
    if let Ok(Some(artifact)) = context.store.find(Kind::Cubin, &key)
        && artifact.manifest.check_digests(&artifact.path).is_ok()
        && let Ok(bytes) = fs::read(artifact.file(CODE))
        && let Ok(taken) = take(&bytes, CODE)
    {
        context.store.mark_used(&artifact);
        return Ok((
            taken,
            CubinOrigin { took: begun.elapsed(), found: true, key: key.to_string() },
        ));
    }
    context.progress.note("compiling kernels");
    let cubin = nvrtc.compile(&asked)?;
    let taken = take(&cubin.bytes, CODE)?;
    if let Err(error) = store_cubin(context, &document, &cubin, source) {
        context.progress.warn(&format!("the compiled kernels could not be stored: {}", error.what));
    }
    Ok((taken, CubinOrigin { took: begun.elapsed(), found: false, key: key.to_string() }))
}

/// Everything that a cubin depends on.
fn key_request(source: &Source, nvrtc: &Nvrtc) -> Value {
    let (major, minor) = nvrtc.version;
    json!({
        "source": Digest::from_bytes(source.text.as_bytes()).to_string(),
        "options": nvrtc::options(source),
        "nvrtc": format!("{major}.{minor}"), "architecture": architecture(source.capability),
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
        created: utc_timestamp(),
        self_digest: None,
    };
    let sealed = draft.seal(manifest, &|_| {})?;
    context.store.publish(sealed, false).map(drop)
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
        let request = key_request(&source, &Nvrtc { version: (13, 0), file: None });
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
