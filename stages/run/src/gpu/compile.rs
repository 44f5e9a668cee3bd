//! compile: the source of a list as code of the device, found in the store or made and put there.
//!
//! promises  code is found by the source, the architecture and the compiler that would make it, never by less; code that is damaged, or
//!           that the driver does not take, is made anew; a store that cannot be written costs a warning and the next start the same time
//! never     keys code by anything that a compiler puts into it
use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

use serde_json::json;
use warploom_contract::{
    Context, KeyDocument, Kind, Manifest, Provenance, StageError,
    manifest::{Producer, now_text},
};
use warploom_device::gpu::Module;
use warploom_device::{Cubin, Facts, Gpu, Nvrtc, nvrtc::Source};
use warploom_vertex::emit::cuda::{self, Emitted, Target};
use warploom_vertex::launch::LaunchList;

use super::failed;
use crate::precision::Precision;

/// The code.
const CODE: &str = "kernels.cubin";
/// What it was made of, and what the compiler says of each kernel.
const BUILD: &str = "build.json";
/// The source, to be read.
const SOURCE: &str = "kernels.cu";
/// Version of how code is made of a source.
const VERSION: u32 = 1;

/// Source, and what it was made for.
pub struct Ready {
    emitted: Emitted,
    /// Processors of the device.
    pub processors: u32,
}

impl std::ops::Deref for Ready {
    type Target = Emitted;

    fn deref(&self) -> &Emitted {
        &self.emitted
    }
}

/// How the code came to be.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// Time that it took.
    pub took: Duration,
    /// Whether it was there.
    pub found: bool,
    /// Its key in the store.
    pub key: String,
}

/// The source of a list.
pub fn emit<T: Precision>(list: &LaunchList, facts: &Facts) -> Result<Ready, StageError> {
    let (processors, shared_bytes) = facts.grid.as_ref().map_or((1, 48 << 10), |grid| (grid.processors, grid.shared_bytes_most));
    let target = Target { bytes_per_real: size_of::<T>() as u64, processors, shared_bytes };
    let emitted = cuda::emit(list, target).map_err(|refused| StageError::defect(format!("the plan has a launch without a kernel: {refused}")))?;
    Ok(Ready { emitted, processors })
}

/// Code for the device: what lies in the store, else compiled now and kept.
pub fn load(context: &Context, gpu: &Gpu, ready: &Ready) -> Result<(Module, Compiled), StageError> {
    let begun = Instant::now();
    let arch = gpu.facts().capability;
    let nvrtc = Nvrtc::find().map_err(failed)?;
    let source = Source { name: SOURCE, text: &ready.source, arch, options: &[] };
    let request = json!({
        "source": blake3_of(&ready.source), "options": source.options,
        "nvrtc": format!("{}.{}", nvrtc.version.0, nvrtc.version.1), "architecture": format!("sm_{}{}", arch.0, arch.1),
    });
    let document = KeyDocument::new("compile", VERSION, &[Kind::Cubin], request);
    let key = document.key();
    if let Ok(Some(artifact)) = context.store.find(Kind::Cubin, &key)
        && artifact.manifest.check_digests(&artifact.path).is_ok()
        && let Ok(bytes) = fs::read(artifact.file(CODE))
        && let Ok(module) = gpu.load(&bytes, CODE)
    {
        context.store.mark_used(&artifact);
        return Ok((module, Compiled { took: begun.elapsed(), found: true, key: key.to_string() }));
    }
    context.progress.note("compiling kernels");
    let cubin = nvrtc.compile(&source).map_err(failed)?;
    let module = gpu.load(&cubin.bytes, CODE).map_err(failed)?;
    if let Err(error) = keep(context, &document, (&cubin, &ready.source)) {
        context.progress.warn(&format!("the compiled kernels could not be kept: {}", error.what));
    }
    Ok((module, Compiled { took: begun.elapsed(), found: false, key: key.to_string() }))
}

fn blake3_of(text: &str) -> String {
    warploom_contract::Digest::of(text.as_bytes()).to_string()
}

/// Puts code into the store.
fn keep(context: &Context, document: &KeyDocument, (cubin, source): (&Cubin, &str)) -> Result<(), StageError> {
    let key = document.key();
    let draft = context.store.begin(Kind::Cubin, &key)?;
    let kernels: Vec<_> = cubin
        .kernels
        .iter()
        .map(|kernel| json!({"name": kernel.name, "registers": kernel.registers, "stack": kernel.stack, "spill_stores": kernel.spill_stores, "spill_loads": kernel.spill_loads}))
        .collect();
    let build = serde_json::to_vec_pretty(&json!({"request": document.request, "kernels": kernels})).map_err(|error| StageError::defect(error.to_string()))?;
    for (name, bytes) in [(CODE, cubin.bytes.as_slice()), (BUILD, &build), (SOURCE, source.as_bytes())] {
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
        digest: warploom_contract::Digest::of(&[]),
        files: Vec::new(),
        counts: BTreeMap::new(),
        facts: BTreeMap::new(),
        provenance: Provenance::Real,
        made_up: Vec::new(),
        created: now_text(),
        self_digest: None,
    };
    let sealed = draft.seal(manifest)?;
    context.store.publish(sealed, false).map(drop)
}
