//! register_estimate: the registers that a thread needs for a walk over edges, and the edges in
//! flight and the blocks per SM that these leave room for.
//!
//! promises  follows from statements as data: what is loaded, made and kept
//! never     reads text, or chooses a schedule
use super::edge_sums::Sum;
use super::lane_layout::widest_vector;
use super::statements::{Elements, Stream};
use super::walk_lowering::WalkLowering;
use warploom_launch::Element;
use warploom_tuning as tuning;

/// Registers that a thread needs for a walk over edges, by use.
#[derive(Clone, Copy, Debug)]
pub(super) struct RegisterEstimate {
    /// Registers loaded per edge, and the number of rows that they come from.
    loaded: usize,
    reads: usize,
    /// Registers per edge from the edge lists; lanes per group; elements per vector; whether the
    /// row fills all lanes; vectors per lane.
    listed: usize,
    lanes: usize,
    vector: usize,
    fills: bool,
    chunks: usize,
    /// Registers computed from the loaded ones, per edge.
    made: usize,
    /// Registers of the sums, and of the row's own values that the pass reads.
    kept: usize,
    /// The number of sums.
    sums: usize,
    /// Whether lanes draw dropout for their edges, and for values of their row.
    draws: bool,
    draws_of_row: bool,
    /// Whether values of the row are computed before its edges are walked. They may be needed after
    /// the walk.
    waits: bool,
    /// Whether `low_degree_rows.rs` chose the schedule: few operations per edge, however many
    /// vectors a lane has.
    is_few: bool,
    bytes_per_real: u64,
}

impl RegisterEstimate {
    pub fn new(lowering: &WalkLowering, pass: usize) -> RegisterEstimate {
        let bytes_per_real = lowering.walk.bytes_per_real;
        let sums = |sum: &Sum| {
            let mut elements = Elements::default();
            elements.add(sum.kind(), sum.elements(&lowering.lanes));
            elements.registers(bytes_per_real)
        };
        let of_pass = &lowering.passes[pass];
        let listed = lowering.streams.iter().map(|stream| match stream {
            Stream::Given(leaf) if lowering.walk.leaves[*leaf].element == Element::Real => {
                bytes_per_real as usize / 4
            }
            Stream::Given(_) => 2,
            Stream::Far | Stream::Edge | Stream::Relation | Stream::Kept(..) => 1,
        });
        let (listed, lanes) = (listed.sum(), lowering.lanes.lanes);
        let kept = of_pass.sums.iter().map(sums).sum::<usize>()
            + lowering.row_elements(pass).registers(bytes_per_real);
        RegisterEstimate {
            loaded: of_pass.loaded(&lowering.lanes).registers(bytes_per_real),
            reads: of_pass.count_of_rows(),
            listed,
            lanes,
            vector: lowering.lanes.vector,
            fills: lowering.lanes.places >= lanes * lowering.lanes.vector * lowering.lanes.chunks,
            chunks: lowering.lanes.chunks,
            made: of_pass.made(&lowering.lanes).registers(bytes_per_real),
            kept,
            sums: of_pass.sums.len(),
            waits: !lowering.rows[pass - 1].is_empty(),
            is_few: false,
            draws: lowering.streams.iter().any(|stream| matches!(stream, Stream::Kept(..))),
            draws_of_row: lowering.walk.draws(),
            bytes_per_real,
        }
    }

    /// The same, where `low_degree_rows.rs` may have chosen the schedule.
    pub fn with_few(self, is_few: bool) -> RegisterEstimate {
        RegisterEstimate { is_few, ..self }
    }

    /// Registers per thread, with this many edges in flight.
    fn registers(self, in_flight: usize) -> usize {
        let place = if self.bytes_per_real == 8 {
            tuning::registers_of_place() + tuning::registers_of_doubles()
        } else {
            tuning::registers_of_place()
        };
        // This chunk of the edge lists and the next; an address for each row.
        let lists = 2 * in_flight.div_ceil(self.lanes) * self.listed;
        place
            + lists
            + in_flight * (self.loaded + self.reads.saturating_sub(1))
            + self.made
            + self.kept
    }

    /// Edges in flight per lane group: more if each loads less, and as many as two blocks per SM
    /// leave registers for.
    pub fn edges_in_flight(self) -> usize {
        if self.is_wide() {
            return tuning::wide_edges();
        }
        if self.is_scored() {
            return tuning::head_edges();
        }
        if self.lanes == 1 && self.is_plain() {
            return tuning::lane_edges();
        }
        let most = match self.loaded {
            // Several sums keep a group busy with four.
            few if few <= tuning::eight_edge_registers()
                && self.sums <= tuning::eight_edge_sums() =>
            {
                8
            }
            some if some <= tuning::four_edge_registers() => 4,
            many if many <= tuning::two_edge_registers() => 2,
            _ => 1,
        };
        [8, 4, 2]
            .into_iter()
            .find(|edges| *edges <= most && self.registers(*edges) <= self.register_limit())
            .unwrap_or(1)
    }

    /// Whether half as many lanes compute each score.
    fn is_scored(self) -> bool {
        self.vector > widest_vector(self.bytes_per_real)
    }

    /// Whether loads are unconditional: an absent edge loads row 0.
    pub fn is_mixed(self) -> bool {
        self.bytes_per_real == 4 && !self.is_plain()
    }

    /// Maximum registers per thread with two blocks per SM.
    fn register_limit(self) -> usize {
        if self.is_mixed() {
            tuning::registers_two_blocks_mixed()
        } else {
            tuning::registers_two_blocks()
        }
    }

    /// Minimum resident blocks per SM.
    pub fn blocks_per_sm(self, in_flight: usize) -> u32 {
        if self.is_scored() {
            return tuning::head_blocks();
        }
        if self.is_mixed() {
            // Dropout bits and several lists take registers for a while. A sum of rows weighted by
            // one number each, with several vectors per lane, does not fit three blocks: features
            // that are summed once.
            let is_in_pieces = self.listed > 1 && self.chunks > 1 && self.sums == 1 && !self.draws;
            return if self.registers(in_flight) > tuning::registers_four_blocks_mixed()
                || is_in_pieces
            {
                tuning::mixed_blocks_crowded()
            } else if self.draws || self.listed > 1 {
                tuning::mixed_blocks_listed()
            } else {
                tuning::mixed_blocks()
            };
        }
        if self.is_wide() {
            // A weighted row with several vectors per lane does not fit five blocks. With four
            // vectors (columns that no vector divides) it does not fit four.
            return match (self.waits, self.listed) {
                (_, 2..) if self.chunks > 2 => tuning::wide_blocks_weighted_many(),
                (true, _) => tuning::wide_blocks_waiting(),
                (false, 2..) if self.chunks > 1 => tuning::wide_blocks_weighted_pieces(),
                (false, ..=1) => tuning::wide_blocks(),
                (false, _) => tuning::wide_blocks_weighted(),
            };
        }
        // With eight short rows in flight, four blocks per SM are worth more than registers. A
        // chunk of the lists is then one iteration of the loop and takes few registers, unless
        // dropout follows. Four lanes have two chunks, which do not fit together with a row that
        // ends before its lanes do.
        let is_one_turn = (in_flight / 2..=in_flight).contains(&self.lanes)
            && (self.fills || self.lanes == in_flight);
        if self.is_plain()
            && in_flight == 8
            && is_one_turn
            && !self.draws_of_row
            && self.registers(in_flight) <= tuning::registers_four_blocks()
        {
            return tuning::plain_blocks();
        }
        let of_three = if self.is_plain() {
            tuning::registers_three_blocks_plain()
        } else {
            tuning::registers_three_blocks()
        };
        match self.registers(in_flight) {
            registers if registers <= of_three => 3,
            registers if registers <= tuning::registers_two_blocks() => 2,
            _ => 1,
        }
    }

    /// Minimum resident blocks per SM if a group processes several consecutive rows
    /// (`consecutive_rows.rs`); none if that does not pay. Where a row's own values are read before
    /// its edges, the group would wait for them at each row.
    pub fn consecutive_blocks_per_sm(self) -> Option<u32> {
        let is_plain = self.reads == 1
            && self.sums == 1
            && self.loaded <= 4 * self.chunks
            && self.made <= 4 * self.chunks;
        if !is_plain
            || self.waits
            || self.draws
            || self.lanes < 32
            || self.chunks > 2
            || self.listed > 2
        {
            return None;
        }
        Some(if self.chunks == 1 && self.listed == 1 {
            tuning::consecutive_blocks()
        } else {
            tuning::consecutive_blocks_weighted()
        })
    }

    /// Whether whole rows of a plain sum span many lanes: few edges in flight, and many warps.
    fn is_wide(self) -> bool {
        self.is_plain()
            && self.lanes
                >= if self.waits { tuning::wide_lanes_waiting() } else { tuning::wide_lanes() }
    }

    /// 32-bit numbers that the edge lists hold per edge.
    pub fn list_count(self) -> usize {
        self.listed
    }

    /// Whether values of the row are computed before its edges are walked.
    pub fn waits(self) -> bool {
        self.waits
    }

    /// Whether each edge loads one short row and does little with it, so that the edge loop may be
    /// unrolled.
    pub fn is_plain(self) -> bool {
        self.is_few
            || self.bytes_per_real == 4
                && self.reads <= 1
                && self.loaded <= tuning::plain_read_registers()
                && self.made <= tuning::plain_made_registers()
                && self.kept <= tuning::plain_kept_registers()
    }
}
