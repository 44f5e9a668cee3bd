//! statement_text: prints statements as CUDA.
//!
//! promises  the text of a statement names only what the statement declares that it reads, the
//!           lane's places (`c`, `own`, `part`), and what every kernel defines
//! never     creates a statement, or inspects emitted text
//!
//! A statement covers all places of a lane (`EACH`), each vector of `V` (`EACH_Q`) or a single
//! place, as the spread of its value requires.
use super::lane_layout::{Lanes, Spread};
use super::operators::{cast, join_parts, register};
use super::statements::{
    AxisReduction, DrawnRow, Dropout, Expression, Form, Load, RegisterValue, RowNumber, Scope,
    Statement, Statements, Store, StoreHow, StreamNumber, SumStatement,
};
use warploom_ir::{Reduction, Type};
use warploom_launch::Element;

/// The smallest score.
const LEAST: &str = "(real)-INFINITE";

/// Which loads are conditional on their edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoadsOf {
    /// Only edges that exist are loaded.
    PresentEdges,
    /// All edges are loaded: an absent edge has number 0, and row 0 exists.
    AllEdges,
}

impl Statements {
    /// The statements, one per line; absent edges are not loaded.
    pub fn text(&self) -> String {
        self.text_with(LoadsOf::PresentEdges)
    }

    /// The same on one line.
    pub fn line(&self) -> String {
        self.0.iter().map(|statement| statement.text(LoadsOf::PresentEdges)).collect()
    }

    /// The statements, with this rule for absent edges.
    pub fn text_with(&self, loads: LoadsOf) -> String {
        self.0.iter().map(|statement| format!("{}\n", statement.text(loads))).collect()
    }
}

impl Statement {
    fn text(&self, loads: LoadsOf) -> String {
        match self {
            Statement::Make { value, made } => {
                define(value, &for_places(value, &format!("{} = {};", value.at(), made.text())))
            }
            Statement::Remember { value, of } => {
                define(value, &for_places(value, &format!("{} = {};", value.at(), of.at())))
            }
            Statement::Divide { value, dividend, divisor } => define(
                value,
                &format!(
                    "EACH_Q divide({}[q], {}[q], {});",
                    value.name,
                    dividend.name,
                    divisor.at()
                ),
            ),
            Statement::Load(load) => load.text(loads),
            Statement::LoadLying { buffer, start } => format!(
                "real of_row[1][V]; EACH_Q load<V>(of_row[q], {} + {start} + c[q]);",
                pointer(buffer)
            ),
            Statement::FindPlace { name, buffer, index } => {
                format!("const real* {name} = {} + {index}; keep({name});", pointer(buffer))
            }
            Statement::ReduceAxis(reduction) => reduction.text(),
            Statement::DropOut(dropout) => dropout.text(),
            Statement::Store(store) => store.text(),
            Statement::StoreLying { buffer, start, value } => format!(
                "EACH_Q if (own[q]) store<V>({} + {start} + c[q], {}[q]);",
                output(buffer),
                value.name
            ),
            Statement::Sum(of_sum) => of_sum.text(loads),
        }
    }
}

impl SumStatement {
    fn text(&self, loads: LoadsOf) -> String {
        match self {
            SumStatement::Reduce { sum, reduction, holds, message } => {
                let holds: Vec<String> = std::iter::once("here".to_owned())
                    .chain(holds.iter().map(Expression::text))
                    .collect();
                let joined = join_parts(*reduction, sum.kind, &sum.at(), &message.text());
                for_places(sum, &format!("if ({}) {} = {joined};", holds.join(" && "), sum.at()))
            }
            SumStatement::AddOwn { sum, made } => {
                let into = sum.at();
                format!("if (here_mine) {into} = {into} + {};", made.text())
            }
            SumStatement::JoinLanes { value, reduction } => {
                let at = value.at();
                let joined =
                    join_parts(*reduction, value.kind, &at, &format!("across({at}, distance)"));
                format!(
                    "UNROLL for (int distance = 1; distance < B; distance *= 2) {at} = {joined};"
                )
            }
            SumStatement::Join { value, reduction, other } => {
                let at = value.at();
                format!("{at} = {};", join_parts(*reduction, value.kind, &at, &other.at()))
            }
            SumStatement::ScoreEdges { score, statements, made } => {
                let line = format!("{} = here ? {} : {LEAST};", score.at(), made.text());
                format!(
                    "{}\nUNROLL for (int k = 0; k < B; k++) {{\nconst bool here = ALL || \
                     here_[k];\n{}{}\n}}",
                    declare(score),
                    statements.text_with(loads),
                    for_places(score, &line)
                )
            }
            SumStatement::JoinScores { largest, score } => {
                let at = largest.at();
                let joined = join_parts(Reduction::Maximum, Type::Real, &at, &score.at());
                format!(
                    "UNROLL for (int k = 0; k < B; k++) {}",
                    for_places(largest, &format!("{at} = {joined};"))
                )
            }
            SumStatement::Grow { scale, before, largest } => {
                let growth = format!("grown({}, {})", before.at(), largest.at());
                let line = for_places(scale, &format!("{} = {growth};", scale.at()));
                define(scale, &format!("if (begun) {line}"))
            }
            // The sum is empty before the first edges.
            SumStatement::Rescale { sum, scale } => {
                let into = sum.at();
                let line = format!("{into} = {into} * {};", scale.at());
                format!("if (begun) {}", for_places(sum, &line))
            }
        }
    }
}

impl Load {
    fn text(&self, loads: LoadsOf) -> String {
        let Load { value, scope, element, vectors, is_changing, .. } = self;
        let address = self.address();
        let line = match vectors {
            Some(vectors) => {
                let many = if value.many { "[k]" } else { "" };
                let how = if *is_changing { "load_now" } else { "load" };
                format!("EACH_Q {how}<{vectors}>({}{many}[q], {address});", value.name)
            }
            None => {
                let loaded = if *is_changing {
                    format!("now(*({address}))")
                } else {
                    format!("__ldg({address})")
                };
                let loaded = cast_stored(*element, value.kind, &loaded);
                for_places(value, &format!("{} = {loaded};", value.at()))
            }
        };
        let present = |condition: &str| match loads {
            LoadsOf::PresentEdges => format!("if ({condition}) "),
            LoadsOf::AllEdges => String::new(),
        };
        let open = declare(value);
        match scope {
            Scope::Row(_) => format!("{open} {line}"),
            Scope::Lane(_) => format!("{open}\n{}{{ {line} }}", present("here_mine")),
            Scope::Edge(_) => format!(
                "{open}\nUNROLL for (int k = 0; k < B; k++) {}{{ {line} }}",
                present("ALL || here_[k]")
            ),
        }
    }

    /// The address of the element.
    fn address(&self) -> String {
        let Load { buffer, row, stride, index, found, scope, .. } = self;
        let pointer = pointer(buffer);
        let Some(row) = row.text() else { return format!("{pointer} + {index}") };
        match (stride, found, scope) {
            (1, ..) => format!("{pointer} + {row} + {index}"),
            (_, Some(found), _) => format!("{found} + (offset_t){row} * {stride}"),
            (_, None, Scope::Row(_)) => format!("{pointer} + (offset_t){row} * {stride} + {index}"),
            (_, None, _) => format!("{pointer} + {index} + (offset_t){row} * {stride}"),
        }
    }
}

impl RowNumber {
    /// None if there is only one row.
    fn text(self) -> Option<String> {
        Some(match self {
            RowNumber::Only => return None,
            RowNumber::Own => "v".to_owned(),
            RowNumber::Near => "near".to_owned(),
            RowNumber::Far => "far".to_owned(),
            RowNumber::Graph => "graph".to_owned(),
            RowNumber::OfEdge(number) => number.text(),
        })
    }
}

impl StreamNumber {
    /// The name of its stream's numbers.
    pub fn name(self) -> String {
        if self.is_far { "u".to_owned() } else { format!("stream_{}", self.stream) }
    }

    pub fn text(self) -> String {
        let name = self.name();
        if self.of_lane { format!("{name}_mine") } else { format!("{name}[k]") }
    }
}

impl AxisReduction {
    fn text(&self) -> String {
        let AxisReduction { value, reduction, begin, made, around, doubles } = self;
        let (into, kind) = (value.at(), value.kind);
        let mut lines = vec![
            declare(value),
            for_places(value, &format!("{into} = {begin};")),
            format!("EACH {into} = {};", join_parts(*reduction, kind, &into, &made.text())),
        ];
        if *doubles {
            let distances = (0..usize::BITS).map(|power| 1 << power);
            for distance in distances.take_while(|distance| distance < around) {
                let other = format!("across({into}, {distance})");
                let joined = join_parts(*reduction, kind, &into, &other);
                lines.push(for_places(value, &format!("{into} = {joined};")));
            }
        } else {
            lines.push(self.in_turn());
        }
        lines.join("\n")
    }

    /// Reduces in order over the lanes that share the axis, where their number is no power of two.
    fn in_turn(&self) -> String {
        let AxisReduction { value, reduction, begin, around, .. } = self;
        let (name, of) = (&value.name, register(value.kind));
        let joined = join_parts(*reduction, value.kind, "all", "told");
        format!(
            "{{
{of} own_{name}[Q]; EACH_Q own_{name}[q] = {name}[q];
EACH_Q {{
const unsigned first = (q * L + part) / {around}u * {around}u;
{of} all = {begin};
UNROLL for (int i = 0; i < {around}; i++) {{
const unsigned unit = first + i;
{of} told = from_lane(own_{name}[0], group * L + unit % L);
UNROLL for (int other = 1; other < Q; other++) {{ const {of} from_other = \
             from_lane(own_{name}[other], group * L + unit % L); if (unit / L == other) told = \
             from_other; }}
all = {joined};
}}
{name}[q] = all;
}}
}}"
        )
    }
}

impl Dropout {
    fn text(&self) -> String {
        let Dropout { value, of, kept, scale, draws_vectors, .. } = self;
        let (at, of, arguments) = (value.at(), of.text(), self.arguments());
        let line = if *draws_vectors {
            format!(
                "EACH_Q {{ bool {kept}[V]; UNROLL for (int j = 0; j < V; j++) {kept}[j] = true; if \
                 (training) keeps<V>({kept}, {arguments}); UNROLL for (int j = 0; j < V; j++) {at} \
                 = !training ? {of} : {kept}[j] ? {of} * {scale} : (real)0; }}"
            )
        } else {
            let one = format!(
                "{{ bool {kept}[1] = {{true}}; if (training) keeps<1>({kept}, {arguments}); {at} = \
                 !training ? {of} : {kept}[0] ? {of} * {scale} : (real)0; }}"
            );
            for_places(value, &one)
        };
        define(value, &line)
    }

    /// Row and column that are drawn for, and the state that the draw needs.
    fn arguments(&self) -> String {
        let Dropout { column, site, threshold, .. } = self;
        let place = match self.row {
            DrawnRow::Table(Some(columns)) => {
                format!("(unsigned)({column}) / {columns}u, (unsigned)({column}) % {columns}u")
            }
            DrawnRow::Table(None) => format!("0u, {column}"),
            DrawnRow::Vertex => format!("row_in_graph, {column}"),
            DrawnRow::Walked => format!("(unsigned)v, {column}"),
            DrawnRow::Edge(number) => format!("{}, {column}", number.text()),
        };
        format!("{place}, clock->epoch, {site}u, seed, {threshold}u")
    }
}

impl Store {
    fn text(&self) -> String {
        let Store { buffer, value, stride, how } = self;
        let (out, name) = (output(buffer), &value.name);
        let base = match stride {
            None => String::new(),
            Some(1) => "v + ".to_owned(),
            Some(stride) => format!("(offset_t)v * {stride} + "),
        };
        match how {
            StoreHow::Vectors(vectors) => {
                format!("EACH_Q if (own[q]) store<{vectors}>({out} + {base}c[q], {name}[q]);")
            }
            StoreHow::Elements { index, owner } => {
                let at = value.at();
                let stored = if value.kind == Type::Real { at } else { format!("(whole)({at})") };
                format!("EACH if ({owner}) {out}[{base}{index}] = {stored};")
            }
        }
    }
}

impl RegisterValue {
    /// Whether it has an element for each place.
    pub fn is_run(&self) -> bool {
        self.spread.is_run()
    }

    /// The element at a place, inside a statement for all places.
    pub fn at(&self) -> String {
        if let Some(number) = self.of_stream {
            return number.text();
        }
        let many = if self.many { "[k]" } else { "" };
        match self.spread {
            Spread::All => format!("{}{many}", self.name),
            Spread::Group => format!("{}{many}[q]", self.name),
            Spread::Run | Spread::Each => format!("{}{many}[q][j]", self.name),
        }
    }
}

impl Expression {
    pub fn text(&self) -> String {
        match self {
            Expression::Text(text) => text.clone(),
            Expression::Value(value) => value.at(),
            Expression::Stream(number) => number.text(),
            Expression::Apply(form, operands) => {
                let operands: Vec<String> = operands.iter().map(Expression::text).collect();
                form.text(&operands)
            }
        }
    }
}

impl Form {
    fn text(&self, operands: &[String]) -> String {
        let of = |number: usize| operands.get(number).map_or("", String::as_str);
        let (a, b) = (of(0), of(1));
        match self {
            Form::Cast(from, to) => cast(*from, *to, a),
            Form::Unary(operator) => operator.cuda(a),
            Form::Binary(operator, is_real) => operator.cuda(*is_real, a, b),
            Form::Select => format!("{a} ? {b} : {}", of(2)),
            Form::ExponentialOfShare => format!("exponential_of_share({a})"),
            Form::ExponentialOfDifference => format!("exponential_of_share({a} - {b})"),
            Form::Join(reduction, kind) => join_parts(*reduction, *kind, a, b),
            Form::Grouped => format!("({a})"),
            Form::WhenTraining => format!("training ? {a} : {b}"),
            Form::AtPlaces(condition) => format!("({condition}) ? {a} : {b}"),
            Form::GroupedAtPlaces(condition) => format!("({condition} ? {a} : {b})"),
            Form::Kept { column, scale } => {
                format!("!training ? {a} : {b} >> {column} & 1 ? {a} * {scale} : (real)0")
            }
            Form::FromLane => format!("from_lane({a}, group * L + k)"),
            Form::Growth => format!("grown({a}, {b})"),
            Form::OfLaneEdge => format!("here_mine ? {a} : {LEAST}"),
            Form::FiniteOrZero => format!("{a} == {LEAST} ? (real)0 : {a}"),
            Form::IsRelation(relation) => format!("{a} == {relation}u"),
        }
    }
}

/// Declares the registers of a value, uninitialised.
pub(super) fn declare(value: &RegisterValue) -> String {
    let RegisterValue { name, spread, many, kind, .. } = value;
    let many = if *many { "[B]" } else { "" };
    let size = match spread {
        Spread::All => "",
        Spread::Group => "[Q]",
        Spread::Run | Spread::Each => "[Q][V]",
    };
    format!("{} {name}{many}{size};", register(*kind))
}

/// Declares them, with the statement that fills them.
pub(super) fn define(value: &RegisterValue, line: &str) -> String {
    format!("{} {line}", declare(value))
}

/// A statement for every place that a value has.
pub(super) fn for_places(value: &RegisterValue, line: &str) -> String {
    match value.spread {
        Spread::All => line.to_owned(),
        Spread::Group => format!("EACH_Q {line}"),
        Spread::Run | Spread::Each => format!("EACH {line}"),
    }
}

/// The template arguments of `load` and `store` for a lane's places.
pub(super) fn vectors(lanes: &Lanes) -> String {
    if lanes.overlaps() { format!("V, {}", lanes.aligned()) } else { "V".to_owned() }
}

/// Encodes a name as part of a CUDA identifier. Different names stay different.
fn plain_name(name: &str) -> String {
    let plain = |letter: char| match letter {
        '.' => "_".to_owned(),
        '_' => "__".to_owned(),
        letter if letter.is_ascii_alphanumeric() => letter.to_string(),
        other => format!("_{:x}_", u32::from(other)),
    };
    name.chars().map(plain).collect()
}

/// The name of the pointer to a buffer that a kernel reads.
pub(super) fn pointer(buffer: &str) -> String {
    format!("b_{}", plain_name(buffer))
}

/// The name of the pointer to a buffer that a kernel writes.
pub(super) fn output(buffer: &str) -> String {
    format!("o_{}", plain_name(buffer))
}

/// The name of the pointer to values of edges, in the order of the walk.
pub(super) fn slots(buffer: &str) -> String {
    format!("slots_{}", plain_name(buffer))
}

fn cast_stored(element: Element, kind: Type, loaded: &str) -> String {
    match (element, kind) {
        (Element::Real | Element::Half(_), _) => loaded.to_owned(),
        (_, Type::Bool) => format!("{loaded} != 0"),
        _ => loaded.to_owned(),
    }
}
