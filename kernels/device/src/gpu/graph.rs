//! graph: CUDA graphs (work captured once and replayed) and events.
//!
//! promises  a capture that fails, by an error or a panic, is ended, and the stream accepts work
//!           again; modules that a graph runs stay loaded as long as the graph lives; nodes are
//!           uploaded to the device before the first replay
//! never     runs anything during a capture
//! limits    transfers, waiting, allocation and events are refused during a capture; a replay
//!           writes to the captured addresses, whose memory the caller keeps alive
#![allow(unsafe_code)]
use std::{
    ptr,
    sync::{Arc, Mutex},
};

use cudarc::driver::sys::{
    self, CUevent, CUgraph, CUgraphEdgeData, CUgraphExec, CUgraphNode,
    CUstreamCaptureMode_enum as Mode, CUstreamCaptureStatus_enum,
    CUstreamUpdateCaptureDependencies_flags_enum,
};

use super::{
    Gpu,
    context::{Capture, Context, Loaded, lock_mutex},
};
use crate::gpu_error::Fault;

/// Event flags with timing.
const TIMED: u32 = 0;

/// A captured and instantiated CUDA graph.
pub struct Graph {
    context: Arc<Context>,
    /// The driver allows one thread at a time.
    raw: Mutex<CUgraphExec>,
    nodes: usize,
    /// Dropped last.
    _modules: Vec<Arc<Loaded>>,
}

// SAFETY: a handle of the driver, used by one thread at a time.
unsafe impl Send for Graph {}
// SAFETY: the handle is behind a lock.
unsafe impl Sync for Graph {}

impl Graph {
    /// Its launches, fills and copies.
    pub fn nodes(&self) -> usize {
        self.nodes
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        let raw = *lock_mutex(&self.raw);
        if self.context.capture().is_none() {
            let _nobody_to_tell = self.context.wait("wait before dropping a graph");
        }
        let _ = self.context.bind();
        // SAFETY: created once, destroyed once.
        let _nobody_to_tell = unsafe { sys::cuGraphExecDestroy(raw) };
    }
}

/// The nodes that the next captured launch, fill or copy depends on: it begins once all of them are
/// done.
#[derive(Clone, Default)]
pub struct Behind {
    nodes: Vec<(CUgraphNode, CUgraphEdgeData)>,
}

impl Behind {
    /// The nodes of both.
    #[must_use]
    pub fn and(&self, other: &Behind) -> Behind {
        let mut both = self.clone();
        both.nodes.extend(
            other
                .nodes
                .iter()
                .filter(|(node, _)| self.nodes.iter().all(|(known, _)| known != node)),
        );
        both
    }
}

/// A capture that has to be ended in any case.
struct Open<'a> {
    context: &'a Context,
    is_open: bool,
}

/// A captured graph that is not instantiated yet.
struct Recorded(CUgraph);

impl Drop for Recorded {
    fn drop(&mut self) {
        if !self.0.is_null() {
            // SAFETY: it came from the end of a capture and is destroyed once.
            let _nobody_to_tell = unsafe { sys::cuGraphDestroy(self.0) };
        }
    }
}

impl<'a> Open<'a> {
    fn begin(context: &'a Context) -> Result<Self, Fault> {
        let mut capture = context.capture();
        if capture.is_some() {
            return Err(Fault::misuse("capture a graph: a capture is going on already"));
        }
        // Relaxed: calls that a capture forbids are refused by us, before the driver sees them and
        // invalidates the capture.
        let mode = Mode::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: the stream lives as long as the context.
        context.call(
            || "begin to capture a graph".to_owned(),
            || unsafe { sys::cuStreamBeginCapture_v2(context.work, mode) },
        )?;
        *capture = Some(Capture { thread: std::thread::current().id(), modules: Vec::new() });
        Ok(Open { context, is_open: true })
    }

    fn end(&mut self) -> Result<(Recorded, Vec<Arc<Loaded>>), Fault> {
        self.is_open = false;
        let capture = self.context.capture().take();
        let mut recorded = Recorded(ptr::null_mut());
        // SAFETY: the stream lives as long as the context; the graph outlives the call.
        self.context.call(
            || "end the capture of a graph".to_owned(),
            || unsafe { sys::cuStreamEndCapture(self.context.work, &mut recorded.0) },
        )?;
        Ok((recorded, capture.map(|capture| capture.modules).unwrap_or_default()))
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if self.is_open {
            let _given_up = self.end();
        }
    }
}

impl Gpu {
    /// Captures what `work` enqueues instead of running it. If `work` fails, its error comes back,
    /// and nothing ran.
    pub fn capture(&self, work: impl FnOnce(&Gpu) -> Result<(), Fault>) -> Result<Graph, Fault> {
        let mut open = Open::begin(&self.context)?;
        let done = work(self);
        let ended = open.end();
        done?;
        let (recorded, modules) = ended?;
        let mut nodes = 0;
        // SAFETY: without room for nodes they are only counted.
        self.context.call(
            || "count the nodes of a graph".to_owned(),
            || unsafe { sys::cuGraphGetNodes(recorded.0, ptr::null_mut(), &mut nodes) },
        )?;
        let mut raw: CUgraphExec = ptr::null_mut();
        let what = || format!("instantiate a graph of {nodes} nodes");
        // SAFETY: `recorded` is a complete graph; `raw` outlives the call and is destroyed by
        // `Graph`.
        self.context
            .call(what, || unsafe { sys::cuGraphInstantiateWithFlags(&mut raw, recorded.0, 0) })?;
        let graph = Graph {
            context: Arc::clone(&self.context),
            raw: Mutex::new(raw),
            nodes,
            _modules: modules,
        };
        // SAFETY: graph and stream are alive.
        self.context.call(what, || unsafe { sys::cuGraphUpload(raw, self.context.work) })?;
        Ok(graph)
    }

    /// What the next captured node depends on: the last one, unless `follow` said otherwise.
    pub fn behind(&self) -> Result<Behind, Fault> {
        let what = || "query the last captured nodes".to_owned();
        self.context.require_own_capture("query the last captured nodes")?;
        let mut status = CUstreamCaptureStatus_enum::CU_STREAM_CAPTURE_STATUS_NONE;
        let (mut nodes, mut edges, mut count) = (ptr::null(), ptr::null(), 0);
        // SAFETY: the stream lives as long as the context; all outputs outlive the call.
        self.context.call(what, || unsafe {
            sys::cuStreamGetCaptureInfo_v3(
                self.context.work,
                &mut status,
                ptr::null_mut(),
                ptr::null_mut(),
                &mut nodes,
                &mut edges,
                &mut count,
            )
        })?;
        // SAFETY: the driver keeps that many nodes until the next call on the stream, which no
        // other thread makes meanwhile; where it returns no edge data, all edges are plain.
        let node = |number: usize| unsafe {
            let plain = CUgraphEdgeData { from_port: 0, to_port: 0, type_: 0, reserved: [0; 5] };
            (*nodes.add(number), if edges.is_null() { plain } else { *edges.add(number) })
        };
        Ok(Behind { nodes: (0..count).map(node).collect() })
    }

    /// Makes the next captured node depend on these nodes instead of the last one; later nodes
    /// follow it in turn.
    pub fn follow(&self, behind: &Behind) -> Result<(), Fault> {
        self.context.require_own_capture("set the dependencies of a capture")?;
        let (mut nodes, edges): (Vec<CUgraphNode>, Vec<CUgraphEdgeData>) =
            behind.nodes.iter().copied().unzip();
        let count = nodes.len();
        let what = || format!("make a capture depend on {count} nodes");
        let replaces =
            CUstreamUpdateCaptureDependencies_flags_enum::CU_STREAM_SET_CAPTURE_DEPENDENCIES as u32;
        let first = nodes.as_mut_ptr();
        // SAFETY: the nodes belong to the graph that this stream captures, which lives until the
        // capture ends; the driver reads them before it returns.
        self.context.call(what, || unsafe {
            sys::cuStreamUpdateCaptureDependencies_v2(
                self.context.work,
                first,
                edges.as_ptr(),
                count,
                replaces,
            )
        })
    }

    /// Replays a graph after all work queued before it, without waiting for its end.
    pub fn replay(&self, graph: &Graph) -> Result<(), Fault> {
        let what = || format!("replay a graph of {} nodes", graph.nodes);
        self.context.require_no_capture("replay a graph")?;
        self.require_this_device(&graph.context, what)?;
        let raw = lock_mutex(&graph.raw);
        // SAFETY: graph and stream are alive, and the modules are loaded.
        self.context.call(what, || unsafe { sys::cuGraphLaunch(*raw, self.context.work) })
    }

    /// Creates an event, for `record`.
    pub fn event(&self) -> Result<Event, Fault> {
        Event::new(&self.context, TIMED)
    }

    /// Records an event after all work queued before it.
    pub fn record(&self, event: &Event) -> Result<(), Fault> {
        self.context.require_no_capture("record an event")?;
        self.require_this_device(&event.context, || "record an event".to_owned())?;
        event.record(self.context.work)
    }

    /// Milliseconds between two recorded events; waits for the second. The resolution is about half
    /// a microsecond.
    pub fn elapsed_ms(&self, from: &Event, to: &Event) -> Result<f64, Fault> {
        self.context.require_no_capture("read the time between events")?;
        for event in [from, to] {
            self.require_this_device(&event.context, || "read the time between events".to_owned())?;
        }
        to.wait()?;
        let mut milliseconds = 0.0_f32;
        let what = || "read the time between events".to_owned();
        // SAFETY: both events are alive; the number outlives the call.
        self.context.call(what, || unsafe {
            sys::cuEventElapsedTime_v2(&mut milliseconds, from.raw, to.raw)
        })?;
        Ok(f64::from(milliseconds))
    }

    fn require_this_device(
        &self,
        context: &Arc<Context>,
        what: impl Fn() -> String,
    ) -> Result<(), Fault> {
        if Arc::ptr_eq(context, &self.context) {
            Ok(())
        } else {
            Err(Fault::misuse(format!("{}: it is that of another device", what())))
        }
    }
}

/// A point in the work of a device.
pub struct Event {
    context: Arc<Context>,
    raw: CUevent,
}

// SAFETY: a driver handle, which any thread may use.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

impl Event {
    /// With the driver's flags.
    pub(super) fn new(context: &Arc<Context>, flags: u32) -> Result<Self, Fault> {
        let mut raw: CUevent = ptr::null_mut();
        // SAFETY: `raw` outlives the call; the event is destroyed once, below.
        context.call(
            || "make an event".to_owned(),
            || unsafe { sys::cuEventCreate(&mut raw, flags) },
        )?;
        Ok(Event { context: Arc::clone(context), raw })
    }

    /// Records it after all work queued on the stream.
    pub(super) fn record(&self, stream: sys::CUstream) -> Result<(), Fault> {
        // SAFETY: event and stream are of one context, which `self` keeps.
        self.context.call(
            || "record an event".to_owned(),
            || unsafe { sys::cuEventRecord(self.raw, stream) },
        )
    }

    /// Makes the stream wait for it.
    pub(super) fn hold(&self, stream: sys::CUstream) -> Result<(), Fault> {
        // SAFETY: event and stream are of one context, which `self` keeps.
        self.context.call(
            || "wait for an event in a stream".to_owned(),
            || unsafe { sys::cuStreamWaitEvent(stream, self.raw, 0) },
        )
    }

    /// Waits for it; returns at once if it was never recorded.
    pub(super) fn wait(&self) -> Result<(), Fault> {
        // SAFETY: the event is alive.
        self.context.call(
            || "wait for an event".to_owned(),
            || unsafe { sys::cuEventSynchronize(self.raw) },
        )
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        let _ = self.context.bind();
        // SAFETY: created once, destroyed once; if it is still pending the driver completes it
        // first.
        let _nobody_to_tell = unsafe { sys::cuEventDestroy_v2(self.raw) };
    }
}
