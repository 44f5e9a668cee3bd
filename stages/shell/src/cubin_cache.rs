//! cubin_cache: the source of a list as code of a device, found in the store or made and put there.
//!
//! promises  code is found by the source without its remarks, the architecture, the options and the
//!           compiler that would make it, never by less; code that is damaged, or that is not
//!           taken, is made anew; a store that cannot be written costs a warning and the next start
//!           the same time
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
    Cubin, Fault, Nvrtc,
    nvrtc::{self, Source, architecture},
};

/// The code.
const CODE: &str = "kernels.cubin";
/// What it was made of, and what the compiler says of each kernel.
const BUILD: &str = "build.json";
/// The source, to be read.
const SOURCE: &str = "kernels.cu";
/// Version of how code is made of a source.
const VERSION: u32 = 1;

/// How code came to be.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// Time that it took.
    pub took: Duration,
    /// Whether it was there.
    pub found: bool,
    /// Its key in the store.
    pub key: String,
}

/// Code for an architecture, by the compiler that is here: what lies in the store, else compiled
/// now and kept. `take` makes of its bytes what is wanted of them; what it refuses is made anew.
pub fn code<T>(
    context: &Context,
    (nvrtc, arch): (&Nvrtc, (u32, u32)),
    source: &str,
    take: impl Fn(&[u8], &str) -> Result<T, Fault>,
) -> Result<(T, Compiled), Fault> {
    let begun = Instant::now();
    let compiled = without_remarks(source);
    let asked = Source { name: SOURCE, text: &compiled, arch, options: &[] };
    let document =
        KeyDocument::new("compile", VERSION, &[Kind::Cubin], request(&asked, nvrtc.version));
    let key = document.key();
    // Code that cannot be read is compiled again, to the same bytes.
    if let Ok(Some(artifact)) = context.store.find(Kind::Cubin, &key)
        && artifact.manifest.check_digests(&artifact.path).is_ok()
        && let Ok(bytes) = fs::read(artifact.file(CODE))
        && let Ok(taken) = take(&bytes, CODE)
    {
        context.store.mark_used(&artifact);
        return Ok((taken, Compiled { took: begun.elapsed(), found: true, key: key.to_string() }));
    }
    context.progress.note("compiling kernels");
    let cubin = nvrtc.compile(&asked)?;
    let taken = take(&cubin.bytes, CODE)?;
    if let Err(error) = keep(context, &document, &cubin, source) {
        context.progress.warn(&format!("the compiled kernels could not be kept: {}", error.what));
    }
    Ok((taken, Compiled { took: begun.elapsed(), found: false, key: key.to_string() }))
}

/// All that code follows from.
fn request(source: &Source, (major, minor): (u32, u32)) -> Value {
    json!({
        "source": Digest::from_bytes(source.text.as_bytes()).to_string(), "options": nvrtc::options(source),
        "nvrtc": format!("{major}.{minor}"), "architecture": architecture(source.arch),
    })
}

/// What of a source is compiled: remarks tell of one graph, and the code serves all that have the
/// same kernels.
fn without_remarks(source: &str) -> String {
    source
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .flat_map(|line| [line, "\n"])
        .collect()
}

/// Puts code into the store.
fn keep(
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
        let source =
            Source { name: SOURCE, text: "", arch: (9, 0), options: &["-DA=1".to_owned()] };
        let request = request(&source, (13, 0));
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
            without_remarks("// of 5 nodes\nint a; // kept\n  // gone\nint b;"),
            "int a; // kept\nint b;\n"
        );
    }
}
