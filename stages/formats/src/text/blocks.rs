//! Text in blocks of whole lines: one thread reads and unpacks while the others parse.
//!
//! promises  every byte comes once and in order; only the last block may lack its last line's end
//! never     holds more than three blocks; looks at what a line says
//! limits    a line of `LINE_MOST`: a longer one ends the text as `Endless`
use crate::read_error::{Read, ReadError};
use std::{path::Path, sync::mpsc, thread};

/// The longest line.
pub const LINE_MOST: usize = 64 << 20;

/// What the reading thread hands over.
pub enum BlockMessage {
    /// Whole lines; only the last block may lack the last line's end.
    Block(Vec<u8>),
    /// The beginning of a line without end.
    Endless(Vec<u8>),
    /// The text cannot be read on.
    Failed(Box<ReadError>),
}

/// Reads behind `start` with `fill`, about `bytes` at once, while `parse` takes the blocks; one
/// waits while one is parsed.
pub fn stream<R>(
    path: &Path,
    start: Vec<u8>,
    bytes: usize,
    fill: impl FnMut(&mut Vec<u8>, usize) -> Read<usize> + Send,
    parse: impl FnOnce(mpsc::Receiver<BlockMessage>) -> R,
) -> R {
    thread::scope(|scope| {
        let (send, blocks) = mpsc::sync_channel(1);
        let refusal = send.clone();
        if let Err(error) = thread::Builder::new()
            .name("reader".into())
            .spawn_scoped(scope, move || read(start, bytes, fill, &send))
        {
            let mut wrong = ReadError::from_io(path, &error).hint(
                "ask for fewer threads with  --threads N  or raise the limit that  ulimit -u  \
                 shows",
            );
            wrong.what = format!("no thread can be started to read it: {error}");
            // There is room for one message, and `parse` has not begun.
            let _cannot_fail = refusal.try_send(BlockMessage::Failed(Box::new(wrong)));
        }
        drop(refusal);
        parse(blocks)
    })
}

/// Cuts the text into blocks of whole lines until it ends, fails, or nobody listens.
fn read(
    start: Vec<u8>,
    bytes: usize,
    mut fill: impl FnMut(&mut Vec<u8>, usize) -> Read<usize>,
    send: &mpsc::SyncSender<BlockMessage>,
) {
    let mut carry = start;
    loop {
        let mut block = std::mem::take(&mut carry);
        block.reserve_exact(bytes);
        let (message, last) = match fill(&mut block, bytes) {
            Err(error) => (BlockMessage::Failed(error), true),
            Ok(0) if block.is_empty() => return,
            Ok(0) => (BlockMessage::Block(block), true),
            Ok(_) => match block.iter().rposition(|&byte| byte == b'\n') {
                Some(end) => {
                    carry = block.split_off(end + 1);
                    (BlockMessage::Block(block), false)
                }
                None if block.len() > LINE_MOST => (BlockMessage::Endless(block), true),
                None => {
                    carry = block;
                    continue;
                }
            },
        };
        if send.send(message).is_err() || last {
            return;
        }
    }
}

/// Cuts whole lines into pieces of about `bytes`, each with its first byte.
pub fn cut(text: &[u8], bytes: usize) -> Vec<(usize, &[u8])> {
    let mut pieces = Vec::with_capacity(text.len() / bytes + 1);
    let mut start = 0;
    while start < text.len() {
        let least = (start + bytes).min(text.len());
        let end = text[least - 1..]
            .iter()
            .position(|&byte| byte == b'\n')
            .map_or(text.len(), |more| least + more);
        pieces.push((start, &text[start..end]));
        start = end;
    }
    pieces
}

/// How many lines end in `text`, with one more for a last line without end.
pub fn count(text: &[u8]) -> u64 {
    let ends = text.iter().filter(|&&byte| byte == b'\n').count() as u64;
    ends + u64::from(text.last().is_some_and(|&byte| byte != b'\n'))
}
