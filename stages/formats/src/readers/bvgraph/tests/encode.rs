//! Writes BVGraphs, as plainly as can be: an independent road to what the decoder reads.
use crate::readers::bvgraph::{bit_codes::Code, properties::Properties};

/// A stream of bits.
#[derive(Default)]
pub struct Writer {
    bits: Vec<bool>,
}

impl Writer {
    /// The lowest `count` bits, the highest first; of little streams the lowest first.
    fn plain(&mut self, value: u64, count: u32, little: bool) {
        let order: Vec<u32> =
            if little { (0..count).collect() } else { (0..count).rev().collect() };
        self.bits.extend(order.into_iter().map(|bit| value >> bit & 1 == 1));
    }

    pub fn number(&mut self, code: Code, value: u64, little: bool) {
        let bits = (value + 1).ilog2();
        match code {
            Code::Unary => {
                (0..value).for_each(|_| self.bits.push(false));
                self.bits.push(true);
            }
            Code::Gamma => {
                self.number(Code::Unary, bits.into(), little);
                self.plain(value + 1, bits, little);
            }
            Code::Delta => {
                self.number(Code::Gamma, bits.into(), little);
                self.plain(value + 1, bits, little);
            }
            Code::Zeta(k) => {
                // Interval h holds the numbers from 2^(hk) to 2^((h+1)k) - 1, counted from 1.
                let height = bits / k;
                self.number(Code::Unary, height.into(), little);
                let left = 1u64 << (height * k);
                let (offset, short) = (value + 1 - left, left);
                if offset < short {
                    self.plain(offset, height * k + k - 1, little);
                } else {
                    let long = offset + short;
                    self.plain(long >> 1, height * k + k - 1, little);
                    self.plain(long & 1, 1, little);
                }
            }
            Code::Nibble => {
                let groups = (64 - value.leading_zeros()).div_ceil(3).max(1);
                for group in (0..groups).rev() {
                    self.bits.push(group == 0);
                    self.plain(value >> (3 * group) & 7, 3, little);
                }
            }
        }
    }

    pub fn bytes(&self, little: bool) -> Vec<u8> {
        let byte = |bits: &[bool]| {
            bits.iter().enumerate().fold(0u8, |byte, (at, &bit)| {
                byte | u8::from(bit) << if little { at } else { 7 - at }
            })
        };
        self.bits.chunks(8).map(byte).collect()
    }
}

fn unsigned(value: i64) -> u64 {
    if value >= 0 { 2 * value as u64 } else { (-value) as u64 * 2 - 1 }
}

/// Encodes lists; `choose` says how far back each list refers.
pub fn encode(
    lists: &[Vec<u32>],
    properties: &Properties,
    mut choose: impl FnMut(usize) -> usize,
) -> Vec<u8> {
    let mut writer = Writer::default();
    for (node, list) in lists.iter().enumerate() {
        let mut put = |code: Code, value: u64| writer.number(code, value, properties.little);
        put(properties.outdegrees, list.len() as u64);
        if list.is_empty() {
            continue;
        }
        let mut rest = list.clone();
        if properties.window > 0 {
            let back = choose(node).min(node).min(properties.window as usize);
            put(properties.references, back as u64);
            if back > 0 {
                rest.retain(|successor| !lists[node - back].contains(successor));
                // Lengths of runs that are copied and passed over in turn; the last run is not
                // written.
                let mut runs = vec![0u64];
                let mut copies = true;
                for successor in &lists[node - back] {
                    if list.contains(successor) != copies {
                        copies = !copies;
                        runs.push(0);
                    }
                    *runs.last_mut().unwrap() += 1;
                }
                runs.pop();
                put(properties.block_counts, runs.len() as u64);
                runs.iter()
                    .enumerate()
                    .for_each(|(at, &run)| put(properties.blocks, run - u64::from(at > 0)));
            }
        }
        if rest.is_empty() {
            continue;
        }
        if properties.interval_least > 0 {
            let runs = rest
                .chunk_by(|a, b| a + 1 == *b)
                .filter(|run| run.len() as u64 >= properties.interval_least)
                .map(<[u32]>::to_vec)
                .collect::<Vec<_>>();
            put(properties.intervals, runs.len() as u64);
            let mut next = None;
            for run in &runs {
                let start = next.map_or_else(
                    || unsigned(i64::from(run[0]) - node as i64),
                    |next: u64| u64::from(run[0]) - next - 1,
                );
                put(properties.intervals, start);
                put(properties.intervals, run.len() as u64 - properties.interval_least);
                next = Some(u64::from(run[0]) + run.len() as u64);
            }
            rest.retain(|successor| !runs.iter().any(|run| run.contains(successor)));
        }
        let mut before = None;
        for &successor in &rest {
            let gap = before.map_or_else(
                || unsigned(i64::from(successor) - node as i64),
                |before: u32| u64::from(successor - before - 1),
            );
            put(properties.residuals, gap);
            before = Some(successor);
        }
    }
    writer.bytes(properties.little)
}
