//! The first lines of an edge list: what separates, what ids are, what columns mean, and whether
//! the list is counted.
//!
//! promises  decides by the comments before the first line and by the first two lines; nothing
//!           later changes it
//! never     takes a line of names for an edge without saying so: names that mean nothing are an
//!           error where numbers follow
use super::{
    field_lines::{self, EdgeColumns, Width},
    number_lines::{DICTIONARY, DICTIONARY_AS_TARGET, DICTIONARY_HINT, NumberColumns},
    third_column::ThirdColumn,
};
use crate::{
    options::{Ids, Options},
    text::{
        comments::first_lines,
        field_fault::FieldFault,
        fields::{Field, Separator, detect_separator, split_fields},
        number_columns::first_columns,
        numbers::{is_padded, looks_like_number, parse_whole, unquoted},
    },
};

/// From here on, weights that are all whole numbers may be times: seconds since 1970 have been
/// above since 1973.
pub const TIME_LEAST: f32 = 1e8;

/// How every line is read.
#[derive(Clone, Debug)]
pub enum LineFormat {
    Numbers(NumberColumns),
    Fields(EdgeColumns),
}

/// What the first lines say.
pub struct ListHeader {
    pub how: LineFormat,
    /// Bytes before the first line that may be an edge: that of names, or that of counts.
    pub skip: usize,
    /// Nodes and edges from a first line that can be nothing else.
    pub counted: Option<[u64; 2]>,
    /// Columns that mean nothing to us.
    pub passed_over: Vec<String>,
    /// What the column of directions says on the first line.
    pub directed: Option<bool>,
    /// The id with zeros before it that makes words of ids that look like numbers.
    pub padded: Option<String>,
    /// What a third column was taken for that has no name and stands behind words.
    pub third: Option<ThirdColumn>,
    /// Whether the first line is two numbers and nothing else, which may be an edge or counts; and
    /// whether the next one has more.
    pub is_pair: bool,
    pub is_narrower: bool,
}

impl ListHeader {
    /// A layout that is known beforehand.
    pub fn from_layout(layout: EdgeColumns) -> ListHeader {
        ListHeader::read(LineFormat::Fields(layout), 0)
    }

    /// Of lines that are read so, behind so many bytes.
    fn read(how: LineFormat, skip: usize) -> ListHeader {
        ListHeader {
            how,
            skip,
            counted: None,
            passed_over: Vec::new(),
            directed: None,
            padded: None,
            third: None,
            is_pair: false,
            is_narrower: false,
        }
    }
}

/// Whether a file that begins so is an edge list beyond doubt: lines of two or three numbers, or
/// names of columns that we know.
pub fn is_surely(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let lines = first_lines(text);
    let numbers = |line: &[u8]| {
        let (ends, columns) = first_columns(line, true);
        (2..=3).contains(&columns) && ends.iter().all(|end| parse_whole(end).is_some())
    };
    let by_sign = |line: &[u8]| {
        let (separator, mut found) = (detect_separator(line), Vec::new());
        let is_edge = !separator.is_usual()
            && split_fields(line, 0, line.len(), separator, &mut found).is_ok()
            && (2..=3).contains(&found.len());
        is_edge && found[..2].iter().all(|field| parse_whole(field.bytes).is_some())
    };
    let numbers = |line: &[u8]| numbers(line) || by_sign(line);
    let named = || decide_format(text, &Options::default(), false).is_ok_and(|head| head.skip > 0);
    !lines.is_empty() && (lines.iter().all(|(_, line)| numbers(line)) || named())
}

/// Whether text begins with a line that names the columns of statements: both ends and the
/// relation.
pub fn names_statements(text: &[u8]) -> bool {
    let head = decide_format(
        text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text),
        &Options::default(),
        false,
    );
    head.is_ok_and(|head| {
        head.skip > 0
            && matches!(&head.how, LineFormat::Fields(layout) if layout.relation.is_some())
    })
}

/// Names of the two ends, in lower case without `_`, `-`, `.` and blanks.
const ENDS: &[[&str; 2]] = &[
    ["source", "target"],
    ["source", "destination"],
    ["sourceid", "targetid"],
    ["sourcenode", "targetnode"],
    ["sourcenodeid", "targetnodeid"],
    ["from", "to"],
    ["fromid", "toid"],
    ["fromnode", "tonode"],
    ["fromnodeid", "tonodeid"],
    ["src", "dst"],
    ["src", "dest"],
    ["src", "tgt"],
    ["srcid", "dstid"],
    ["srcnid", "dstnid"],
    ["head", "tail"],
    ["headid", "tailid"],
    ["headentity", "tailentity"],
    ["subject", "object"],
    ["subj", "obj"],
    ["subjectid", "objectid"],
    ["entity1", "entity2"],
    ["start", "end"],
    ["startid", "endid"],
    ["startnode", "endnode"],
    ["u", "v"],
    ["i", "j"],
    ["node1", "node2"],
    ["id1", "id2"],
    ["nodeid1", "nodeid2"],
    ["vertex1", "vertex2"],
    ["citing", "cited"],
    ["follower", "followee"],
    ["sender", "receiver"],
];
/// Names of the two ends that mean something only beside the name of a relation.
const STATEMENTS: &[([&str; 2], &[&str])] =
    &[(["h", "t"], &["r", "rel", "relation"]), (["s", "o"], &["p", "predicate"])];
/// Names of the relation, alike; `type` is one where it holds words.
const RELATIONS: &[&str] = &[
    "relation",
    "relations",
    "rel",
    "relationid",
    "relationtype",
    "relationship",
    "predicate",
    "edgetype",
];
/// Names of the weight, alike.
const WEIGHTS: &[&str] = &["weight", "weights", "edgeweight", "w"];

fn plain_name(name: &str) -> String {
    let name = name.trim_start_matches(':');
    name.chars()
        .filter(|c| !matches!(c, '_' | '-' | '.' | ' ' | ':'))
        .flat_map(char::to_lowercase)
        .collect()
}

/// Decides by the first lines; `type_is_relation`: a column `type` names relations.
pub fn decide_format(
    text: &[u8],
    options: &Options,
    type_is_relation: bool,
) -> Result<ListHeader, FieldFault> {
    let lines = first_lines(text);
    let Some(&(start, first)) = lines.first() else {
        return Ok(ListHeader::read(
            LineFormat::Numbers(NumberColumns {
                columns: None,
                colon: false,
                exact: options.are_ids_exact(),
            }),
            text.len(),
        ));
    };
    let told = Separator::from_options(options)?;
    refuse_dictionary(start, first, options)?;
    let separator = told.unwrap_or_else(|| detect_separator(first));
    let mut found = Vec::new();
    split_fields(text, start, start + first.len(), separator, &mut found)?;
    if !options.columns.is_empty() {
        check_names(&found, start + first.len(), options)?;
        let names = options.columns.clone();
        let ends =
            named_ends(start, first, &names, options)?.ok_or_else(|| no_ends(start, &names))?;
        return NamedColumns { text, separator, names, ends, options, type_is_relation }
            .head(0, Some((start, first)));
    }
    let names: Vec<String> =
        found.iter().map(|field| String::from_utf8_lossy(&field.text()).into_owned()).collect();
    if let Some(ends) = named_ends(start, first, &names, options)? {
        return NamedColumns { text, separator, names, ends, options, type_is_relation }
            .head(start + first.len(), lines.get(1).copied());
    }
    let colon = separator == Separator::Byte(b':');
    // What is not told, and usual, is read fast (number_lines.rs).
    let is_plain = told.is_none() && separator.is_usual();
    let (ends, columns) =
        if is_plain { first_columns(first, colon) } else { first_two_fields(&found) };
    // `00260881 _hypernym 00260622`: a relation between numbers that are names.
    let unweighted = options.weight.as_deref() == Some("none");
    let third = (found.len() == 3
        && (options.weight.is_none() || options.weights_dropped)
        && options.relation.as_deref() != Some("none"))
    .then(|| ThirdColumn::from_fields([0, 1, 2].map(|column: usize| found[column].bytes)));
    let two_columns = unweighted && third != Some(ThirdColumn::Tail);
    let numbers = match options.ids {
        Ids::Number => true,
        Ids::String => false,
        Ids::Auto => {
            columns < 2
                || ends.iter().all(|word| looks_like_number(word))
                    && find_padded(ends, lines.get(1), separator).is_none()
        }
    };
    let padded = if numbers || options.ids != Ids::Auto {
        None
    } else {
        find_padded(ends, lines.get(1), separator)
    };
    let padded = padded.filter(|_| ends.iter().all(|word| looks_like_number(unquoted(word))));
    let exact = options.are_ids_exact();
    if numbers && is_plain {
        let second = lines.get(1).map(|(_, line)| first_columns(line, colon).1);
        // Two numbers above lines of three: no edge lacks its weight, so the first line counts.
        let counted = match (columns, second, options.counts) {
            (2, Some(3..), None) if !two_columns => counts_of(ends),
            (_, _, Some(true)) => counts_of(ends),
            _ => None,
        };
        let skip = if counted.is_some() { start + first.len() } else { 0 };
        let pair = columns == 2;
        let columns = if counted.is_some() { second.unwrap_or(2) } else { columns };
        let how = LineFormat::Numbers(NumberColumns {
            columns: (!two_columns).then_some(columns.clamp(2, 3)),
            colon,
            exact,
        });
        return Ok(ListHeader {
            counted,
            is_pair: pair && counted.is_none(),
            is_narrower: pair && second > Some(2),
            ..ListHeader::read(how, skip)
        });
    }
    if !numbers {
        let second = lines.get(1).map(|&(start, line)| -> Result<_, FieldFault> {
            let mut found = Vec::new();
            if !is_plain {
                split_fields(text, start, start + line.len(), separator, &mut found)?;
            }
            Ok(if is_plain { first_columns(line, false).0 } else { first_two_fields(&found).0 })
        });
        let first_ends = if is_plain { first_columns(first, false).0 } else { ends };
        let row = lines.get(1).map_or(&b""[..], |(_, line)| line);
        refuse_unknown_names(
            &UnknownNames { start, first, names: &names, row, separator },
            options,
            first_ends,
            second.transpose()?,
        )?;
    }
    refuse_mixed(&found)?;
    let head = layout_without_names(
        &found,
        NamelessFields { separator, words: !numbers, exact },
        two_columns,
        third,
    )?;
    Ok(ListHeader { padded, ..head })
}

/// Columns that are divided by a sign here and by another one there: `0 -> 1 0.5`, `0->1 0.5`.
fn refuse_mixed<'a>(found: &[Field<'a>]) -> Result<(), FieldFault> {
    let is_sign = |word: &[u8]| {
        (1..=3).contains(&word.len())
            && word.iter().all(u8::is_ascii_punctuation)
            && !word.contains(&b'"')
    };
    let decimal = |field: &Field| looks_like_number(field.bytes) && field.bytes.contains(&b'.');
    // Two numbers with a sign between; one that words have too counts only before a weight.
    let joined = |field: &Field<'a>| {
        let digits = |at: &u8| at.is_ascii_digit();
        let begin = field.bytes.iter().take_while(|byte| digits(byte)).count();
        let end = field.bytes.iter().rev().take_while(|byte| digits(byte)).count();
        let sign = field
            .bytes
            .get(begin..field.bytes.len().saturating_sub(end))
            .filter(|_| begin > 0 && end > 0)?;
        (is_sign(sign) && sign != b"." && (sign.len() > 1 || found.get(1).is_some_and(decimal)))
            .then_some(sign)
    };
    let alone = found
        .get(1)
        .filter(|field| found.len() > 2 && !field.quoted && is_sign(field.bytes))
        .map(|field| field.bytes);
    let (Some(sign), Some(first)) = (alone.or_else(|| joined(found.first()?)), found.first())
    else {
        return Ok(());
    };
    let hint = "put one sign between all columns, a blank for example:  sed 's/ *-> */ /' FILE > \
                NEW  (with your sign in place of  -> )";
    Err(FieldFault::new(first.at, "edge list has columns that are divided in two ways", hint)
        .against("one sign between all columns", sign))
}

/// What separates fields, and what ids are.
struct NamelessFields {
    separator: Separator,
    words: bool,
    exact: bool,
}

/// The first end of the first two edges that is a number with zeros before it: such numbers are
/// names.
fn find_padded(
    first: [&[u8]; 2],
    second: Option<&(usize, &[u8])>,
    separator: Separator,
) -> Option<String> {
    let second = second.map_or([&b""[..]; 2], |(_, line)| {
        let mut found = Vec::new();
        // A line that cannot be split is told of where it is read.
        split_fields(line, 0, line.len(), separator, &mut found)
            .map_or([&b""[..]; 2], |()| first_two_fields(&found).0)
    });
    let padded = first.into_iter().chain(second).map(unquoted).find(|word| is_padded(word));
    padded.map(|word| String::from_utf8_lossy(word).into_owned())
}

/// Fields without names: two ends and perhaps a weight, or a relation between them.
fn layout_without_names(
    found: &[Field],
    NamelessFields { separator, words, exact }: NamelessFields,
    two_columns: bool,
    third: Option<ThirdColumn>,
) -> Result<ListHeader, FieldFault> {
    if found.len() > 3 && !two_columns {
        if found.iter().all(|field| !looks_like_number(field.bytes)) {
            let names: Vec<String> = found
                .iter()
                .map(|field| String::from_utf8_lossy(&field.text()).into_owned())
                .collect();
            let hint = format!(
                "if these are names of columns, say in the catalogue's entry which are the ends, \
                 and the weight if there is one:  {}",
                read_of(&names, None)
            );
            let what =
                "edge list begins with more than three words: names of columns that are not known";
            return Err(FieldFault::new(found[0].at, what, hint).against(
                "columns such as `source` and `target`, or 2 or 3 columns",
                found[0].bytes,
            ));
        }
        let hint = "name them, in a first line  source,target,...  or in the catalogue's entry  \
                    read: {columns: [source, target, ...]} ; to read the first two alone:  --set \
                    ingest.weights=drop";
        return Err(FieldFault::new(
            found[3].at,
            "edge list has more than three columns and no names for them",
            hint,
        )
        .against("2 or 3 columns", found[3].bytes));
    }
    let width =
        if two_columns { Width::AtLeast(2) } else { Width::Exactly(found.len().clamp(2, 3)) };
    let weight = (!two_columns && found.len() > 2).then_some(2);
    let places = EdgeColumns {
        separator,
        width,
        names: Vec::new(),
        words,
        exact,
        source: 0,
        target: 1,
        weight,
        relation: None,
        direction: None,
        features: Vec::new(),
    };
    let third = third.filter(|_| words);
    let layout = match third {
        Some(ThirdColumn::Tail) => {
            EdgeColumns { target: 2, weight: None, relation: Some(1), ..places }
        }
        _ => places,
    };
    let directed = (third == Some(ThirdColumn::Tail)).then_some(true);
    Ok(ListHeader { third, directed, ..ListHeader::from_layout(layout) })
}

/// The first two fields, and how many there are, as far as 4.
fn first_two_fields<'a>(found: &[Field<'a>]) -> ([&'a [u8]; 2], u8) {
    let word = |place: usize| found.get(place).map_or(&b""[..], |field| field.bytes);
    ([word(0), word(1)], found.len().min(4) as u8)
}

/// As many names as the first line has columns.
fn check_names(found: &[Field], end: usize, options: &Options) -> Result<(), FieldFault> {
    let (names, hint) = (
        &options.columns,
        "mend  read: {columns: [...]}  in the catalogue's entry: a name for each column",
    );
    let expected = format!("{} columns: {}", names.len(), names.join(", "));
    match found.get(names.len()) {
        Some(further) => Err(FieldFault::new(
            further.at,
            "edge list has more columns than the catalogue's entry names",
            hint,
        )
        .against(expected, further.bytes)),
        None if found.len() < names.len() => Err(FieldFault::new(
            end,
            "edge list has fewer columns than the catalogue's entry names",
            hint,
        )
        .against(expected, b"")),
        None => Ok(()),
    }
}

fn no_ends(start: usize, names: &[String]) -> FieldFault {
    let hint = "call two of them so, or say in the catalogue's entry which they are:  read: \
                {source: NAME, target: NAME}";
    FieldFault::new(start, "no two names of columns say where an edge begins and ends", hint)
        .against("`source` and `target` among them", names.join(", ").as_bytes())
}

fn counts_of(ends: [&[u8]; 2]) -> Option<[u64; 2]> {
    let counts = [parse_whole(ends[0])?, parse_whole(ends[1])?];
    counts.iter().all(|&count| count > 0).then_some(counts)
}

/// The columns of source and target, if the line names them.
fn named_ends(
    start: usize,
    line: &[u8],
    names: &[String],
    options: &Options,
) -> Result<Option<[usize; 2]>, FieldFault> {
    let plain: Vec<String> = names.iter().map(|name| plain_name(name)).collect();
    let asked = [options.source.as_ref(), options.target.as_ref()];
    let pairs = ENDS.iter().chain(
        STATEMENTS
            .iter()
            .filter(|(_, relations)| plain.iter().any(|name| relations.contains(&name.as_str())))
            .map(|(pair, _)| pair),
    );
    let known = pairs.into_iter().find_map(|pair| {
        let place = |end: usize| match asked[end] {
            Some(name) => names.iter().position(|found| found == name),
            None => plain.iter().position(|found| found == pair[end]),
        };
        Some([place(0)?, place(1)?])
    });
    match asked.iter().flatten().find(|name| !names.contains(name)) {
        None => Ok(known),
        Some(name) => {
            let hint =
                "columns are named in the catalogue's entry:  read: {source: NAME, target: NAME}";
            Err(FieldFault::new(
                start,
                format!("edge list has no column `{name}` in its first line"),
                hint,
            )
            .against(format!("`{name}`"), line))
        }
    }
}

/// What `networkx.write_edgelist` writes behind an edge, unless it is told not to.
fn refuse_dictionary(start: usize, first: &[u8], options: &Options) -> Result<(), FieldFault> {
    let is_begin = |bytes: &[u8]| matches!(bytes, [b' ' | b'\t' | b',', b'{', b'\'' | b'"' | b'}']);
    match first.windows(3).position(is_begin).filter(|_| {
        options.weight.as_deref() != Some("none") && first.trim_ascii_end().ends_with(b"}")
    }) {
        Some(at) => {
            let is_target =
                !first[..at].trim_ascii().iter().any(|byte| matches!(byte, b' ' | b'\t' | b','));
            let (what, hint, expected) = match is_target {
                true => (DICTIONARY_AS_TARGET, "write  SOURCE TARGET  on every line", "a target"),
                false => (DICTIONARY, DICTIONARY_HINT, "a weight"),
            };
            Err(FieldFault::new(start + at + 1, what, hint)
                .against(expected, first[at + 1..].trim_ascii_end()))
        }
        None => Ok(()),
    }
}

/// A first line that may name columns, and the line below it.
struct UnknownNames<'a> {
    start: usize,
    first: &'a [u8],
    names: &'a [String],
    row: &'a [u8],
    separator: Separator,
}

/// What says of columns which they are: the first two are the ends, and the first number behind
/// them, if it is no time, is the weight.
fn read_of(names: &[String], weight: Option<usize>) -> String {
    let plain = |name: &String| {
        !name.is_empty()
            && name.chars().all(|letter| letter.is_alphanumeric() || "_.-".contains(letter))
    };
    let [source, target, ..] = names else {
        return "read: {source: NAME, target: NAME}".to_owned();
    };
    if !names.iter().all(plain) {
        return "read: {source: NAME, target: NAME, weight: NAME}".to_owned();
    }
    let weight = weight.map_or_else(String::new, |column| format!(", weight: {}", names[column]));
    format!("read: {{source: {source}, target: {target}{weight}}}")
}

impl UnknownNames<'_> {
    /// The column that may be the weight.
    fn weight(&self) -> Option<usize> {
        let mut row = Vec::new();
        // A line that cannot be split is told of where it is read.
        split_fields(self.row, 0, self.row.len(), self.separator, &mut row).ok()?;
        let number = |field: &Field| {
            std::str::from_utf8(field.bytes).ok().and_then(|word| word.parse::<f32>().ok())
        };
        let is_weight = |field: &Field| {
            number(field).is_some_and(|number| number < TIME_LEAST || number.fract() != 0.0)
        };
        (2..row.len().min(self.names.len())).find(|&column| is_weight(&row[column]))
    }
}

/// A line of words above lines of numbers names columns whose meaning we do not know.
fn refuse_unknown_names(
    line: &UnknownNames,
    options: &Options,
    first_ends: [&[u8]; 2],
    second: Option<[&[u8]; 2]>,
) -> Result<(), FieldFault> {
    let Some(second_ends) = second.filter(|_| options.ids == Ids::Auto) else { return Ok(()) };
    if second_ends.iter().all(|word| looks_like_number(word))
        && !first_ends.iter().any(|word| looks_like_number(word))
    {
        let read = read_of(line.names, line.weight());
        let hint = format!(
            "say in the catalogue's entry which columns they are, such as  {read} ; if ids are \
             words:  --set ingest.ids=string"
        );
        return Err(FieldFault::new(
            line.start,
            "edge list has words above numbers: names of columns that are not known",
            hint,
        )
        .against("an edge, or columns such as `source` and `target`", line.first.trim_ascii()));
    }
    Ok(())
}

/// The column that names relations: by its name, or `type` where that is sure to be one, or holds
/// words.
fn relation_among(names: &[String], row: &[Field], type_is_relation: bool) -> Option<usize> {
    let called =
        |wanted: &[&str]| names.iter().position(|name| wanted.contains(&plain_name(name).as_str()));
    let is_word =
        |column: &usize| row.get(*column).is_some_and(|field| !looks_like_number(&field.text()));
    let of_statement = || {
        STATEMENTS
            .iter()
            .find(|(pair, _)| pair.iter().all(|end| called(&[end]).is_some()))
            .and_then(|(_, relations)| called(relations))
    };
    let types = || called(&["type"]).filter(|column| type_is_relation || is_word(column));
    types().or_else(|| called(RELATIONS)).or_else(of_statement)
}

/// A table whose first line names its columns.
struct NamedColumns<'a> {
    text: &'a [u8],
    separator: Separator,
    names: Vec<String>,
    ends: [usize; 2],
    options: &'a Options,
    type_is_relation: bool,
}

impl NamedColumns<'_> {
    fn head(self, skip: usize, second: Option<(usize, &[u8])>) -> Result<ListHeader, FieldFault> {
        let NamedColumns {
            text,
            separator,
            names,
            ends: [source, target],
            options,
            type_is_relation,
        } = self;
        let mut row: Vec<Field> = Vec::new();
        if let Some((start, line)) = second {
            split_fields(text, start, start + line.len(), separator, &mut row)?;
        }
        let find = |name: &str| {
            let hint = "columns are named in the catalogue's entry:  read: {weight: NAME, \
                        relation: NAME, edge_features: [NAME]}";
            let fault = || {
                FieldFault::new(0, format!("edge list has no column `{name}`"), hint)
                    .against(format!("`{name}`"), names.join(", ").as_bytes())
            };
            names.iter().position(|found| found == name).ok_or_else(fault)
        };
        let called = |wanted: &[&str]| {
            names.iter().position(|name| wanted.contains(&plain_name(name).as_str()))
        };
        let weight = match options.weight.as_deref() {
            Some("none") => None,
            Some(name) => Some(find(name)?),
            None => called(WEIGHTS),
        };
        let directed =
            called(&["type"]).and_then(|column| field_lines::direction(&row.get(column)?.text()));
        let direction =
            called(&["type"]).filter(|_| directed.is_some() && options.relation.is_none());
        let relation = match options.relation.as_deref() {
            Some("none") => None,
            Some(name) => Some(find(name)?),
            None => relation_among(&names, &row, type_is_relation)
                .filter(|column| Some(*column) != direction && ![source, target].contains(column)),
        };
        let features =
            options.edge_features.iter().map(|name| find(name)).collect::<Result<Vec<_>, _>>()?;
        let is_word = |column: usize| {
            row.get(column)
                .is_some_and(|field| !looks_like_number(&field.text()) || is_padded(field.bytes))
        };
        let words = match options.ids {
            Ids::Number => false,
            Ids::String => true,
            Ids::Auto => is_word(source) || is_word(target),
        };
        let padded = match options.ids {
            Ids::Auto => {
                let ends = [source, target]
                    .map(|column| row.get(column).map_or(&b""[..], |field| field.bytes));
                let padded = ends
                    .into_iter()
                    .find(|word| is_padded(word))
                    .filter(|_| ends.iter().all(|word| looks_like_number(word)));
                padded.map(|word| String::from_utf8_lossy(word).into_owned())
            }
            _ => None,
        };
        let taken = |column: &usize| {
            [Some(source), Some(target), weight, relation, direction].contains(&Some(*column))
                || features.contains(column)
        };
        let passed_over = (0..names.len())
            .filter(|column| !taken(column))
            .map(|column| names[column].clone())
            .collect();
        let exact = options.are_ids_exact();
        let is_plain = options.separator.is_none()
            && separator.is_usual()
            && separator != Separator::Byte(b':');
        let first_two = (source, target) == (0, 1) && !words && is_plain;
        let how = match (names.len(), weight) {
            (2, None) if first_two && features.is_empty() => {
                LineFormat::Numbers(NumberColumns { columns: Some(2), colon: false, exact })
            }
            (3, Some(2)) if first_two && features.is_empty() => {
                LineFormat::Numbers(NumberColumns { columns: Some(3), colon: false, exact })
            }
            _ => {
                let width = Width::Exactly(names.len());
                LineFormat::Fields(EdgeColumns {
                    separator,
                    width,
                    names,
                    words,
                    exact,
                    source,
                    target,
                    weight,
                    relation,
                    direction,
                    features,
                })
            }
        };
        Ok(ListHeader {
            passed_over,
            directed: directed.filter(|_| direction.is_some()),
            padded,
            ..ListHeader::read(how, skip)
        })
    }
}
