//! The edge table: ends, weight, relation, features.
//!
//! promises  edges in the order of the rows of the parts; row groups are read at the same time, the result is the same for any number of threads
//! never     takes a column for an end or a weight whose name does not say so
//! bounds    16 bytes an edge while it is read, 8 afterwards; 4 more each for weight, relation and a feature
use super::{
    column::{self, Sort},
    ends::{self, Ids, Index, Words},
    open::Source,
};
use crate::{
    Options,
    npy::Number,
    raw::{EdgeFeatures, Edges, NodeIds, Read, ReadError},
};
use arrow_array::RecordBatch;
use rayon::prelude::*;
use std::path::Path;

/// Names of the two ends, pair by pair.
const ENDS: [(&[&str], &[&str]); 6] = [
    (&["source", "source_id"], &["target", "target_id"]),
    (&["src", "src_id"], &["dst", "dst_id", "dest"]),
    (&["from", "from_id"], &["to", "to_id"]),
    (&["u"], &["v"]),
    (&["head", "subject"], &["tail", "object"]),
    (&["start", "start_id"], &["end", "end_id"]),
];
const WEIGHTS: &[&str] = &["weight", "w"];
const RELATIONS: &[&str] = &["type", "relation", "rel", "edge_type", "predicate"];

/// Where each thing stands.
struct Columns {
    source: usize,
    target: usize,
    weight: Option<usize>,
    relation: Option<Place>,
    features: Vec<usize>,
    sort: Sort,
}

/// A column of the schema, or a constant of the path.
#[derive(Clone, Copy)]
enum Place {
    Column(usize, Sort),
    Path(usize),
}

/// The edges of a row group, or of a file.
struct Piece {
    source: Ids,
    target: Ids,
    words: Words,
    weight: Vec<f32>,
    relation: Vec<u32>,
    relations: Words,
    features: Vec<f32>,
    /// The file and the first row in it.
    of: usize,
    first: u64,
}

/// The column of one of these names, in any case of letters.
pub fn find(source: &Source, names: &[&str]) -> Option<usize> {
    names.iter().find_map(|name| source.schema.fields().iter().position(|field| field.name().eq_ignore_ascii_case(name)))
}

/// The column that options name: it must be there.
fn asked(source: &Source, name: &str) -> Read<usize> {
    let missing = || Box::new(source.error(format!("the table has no column `{name}`")).expected(format!("`{name}`"), source.names()));
    find(source, &[name]).ok_or_else(missing)
}

/// Whether the columns are those of edges.
pub fn is_edges(source: &Source) -> bool {
    ENDS.iter().any(|(from, to)| find(source, from).is_some() && find(source, to).is_some())
}

fn sort_of(source: &Source, column: usize) -> Read<Sort> {
    let field = source.schema.field(column);
    let refused = || {
        let error = source.error(format!("the column `{}` has a type that is not read", field.name()));
        Box::new(error.expected("numbers, words or lists of numbers", field.data_type().to_string()).hint("write the table without this column"))
    };
    column::sort(field.data_type()).ok_or_else(refused)
}

impl Columns {
    fn find(source: &Source, options: &Options) -> Read<Columns> {
        let pair = match (&options.source, &options.target) {
            (Some(from), Some(to)) => Some((asked(source, from)?, asked(source, to)?)),
            (Some(from), None) => Some((asked(source, from)?, ENDS.iter().find_map(|(_, to)| find(source, to)).ok_or_else(|| no_ends(source))?)),
            (None, Some(to)) => Some((ENDS.iter().find_map(|(from, _)| find(source, from)).ok_or_else(|| no_ends(source))?, asked(source, to)?)),
            (None, None) => ENDS.iter().find_map(|(from, to)| Some((find(source, from)?, find(source, to)?))),
        };
        let (from, to) = pair.ok_or_else(|| no_ends(source))?;
        let (sort, other) = (sort_of(source, from)?, sort_of(source, to)?);
        if sort != other || sort == Sort::Lists {
            let types = format!("{} and {}", source.schema.field(from).data_type(), source.schema.field(to).data_type());
            return Err(Box::new(source.error("the ends of edges are not of one kind").expected("numbers in both, or words in both", types)));
        }
        let weight = match options.weight.as_deref() {
            Some("none") => None,
            Some(name) => Some(asked(source, name)?),
            None => find(source, WEIGHTS),
        };
        let in_path = |names: &[&str]| source.constants.iter().position(|(name, _)| names.iter().any(|known| name.eq_ignore_ascii_case(known)));
        let column = |column: usize| Ok::<_, Box<ReadError>>(Place::Column(column, sort_of(source, column)?));
        let relation = match options.relation.as_deref() {
            Some("none") => None,
            Some(name) => Some(match in_path(&[name]) {
                Some(at) => Place::Path(at),
                None => column(asked(source, name)?)?,
            }),
            None => match find(source, RELATIONS) {
                Some(at) => Some(column(at)?),
                None => in_path(RELATIONS).map(Place::Path),
            },
        };
        let features = options.edge_features.iter().map(|name| asked(source, name)).collect::<Read<_>>()?;
        Ok(Columns { source: from, target: to, weight, relation, features, sort })
    }

    fn all(&self) -> Vec<usize> {
        let relation = self.relation.and_then(|place| if let Place::Column(column, _) = place { Some(column) } else { None });
        [self.source, self.target].into_iter().chain(self.weight).chain(relation).chain(self.features.iter().copied()).collect()
    }
}

fn no_ends(source: &Source) -> Box<ReadError> {
    let error = source.error("the columns of the edge table do not say which are the ends of an edge");
    let expected = "source and target, src and dst, from and to, u and v, head and tail, or start and end";
    Box::new(error.expected(expected, source.names()).hint("name them in the catalogue:  read: {source: NAME, target: NAME}"))
}

/// Reads all parts. `nodes`: the ids of the node table; none: nodes are those that edges name. `by_row`: ends are rows of that table.
pub fn read(sources: &[Source], options: &Options, nodes: Option<NodeIds>, by_row: bool) -> Read<(NodeIds, Edges, Vec<String>)> {
    let columns: Vec<Columns> = sources.iter().map(|source| Columns::find(source, options)).collect::<Read<_>>()?;
    let Some((first, path)) = columns.first().zip(sources.first().map(|source| source.path.as_path())) else {
        return Err(Box::new(ReadError::new(Path::new("edges.parquet"), "there is no edge table").expected("edges.parquet or edges.arrow", "none")));
    };
    for (source, other) in sources.iter().zip(&columns) {
        if other.sort != first.sort || other.weight.is_some() != first.weight.is_some() || other.relation.is_some() != first.relation.is_some() {
            let error = source.error(format!("the columns of this part are not those of {}", path.display()));
            return Err(Box::new(error.expected(sources[0].names(), source.names())));
        }
    }
    let jobs: Vec<(usize, usize)> = sources.iter().enumerate().flat_map(|(of, source)| (0..source.pieces()).map(move |piece| (of, piece))).collect();
    let pieces: Vec<Read<Piece>> = jobs.into_par_iter().map(|(of, piece)| read_piece(&sources[of], of, piece, &columns[of])).collect();
    let pieces: Vec<Piece> = pieces.into_iter().collect::<Read<_>>()?;
    let ids = match nodes {
        Some(ids) => ids,
        None => distinct(path, &pieces, first.sort)?,
    };
    let weight = first.weight.map(|_| pieces.iter().flat_map(|piece| piece.weight.iter().copied()).collect());
    let mut edges = Edges { weight, ..Edges::default() };
    let mut names = Vec::new();
    if first.relation.is_some() {
        (edges.relation, names) = relations(path, &pieces).map(|(relation, names)| (Some(relation), names))?;
    }
    if !first.features.is_empty() {
        let values = pieces.iter().flat_map(|piece| piece.features.iter().copied()).collect();
        edges.features = Some(EdgeFeatures { columns: first.features.len() as u32, values });
    }
    let counted = NodeIds::Count(ids.len() as u32);
    let index = Index::new(if by_row { &counted } else { &ids });
    let rows: Vec<Read<(Vec<u32>, Vec<u32>)>> = pieces.par_iter().map(|piece| piece.rows(&index, &sources[piece.of], &columns[piece.of])).collect();
    for rows in rows {
        let (source, target) = rows?;
        edges.source.extend(source);
        edges.target.extend(target);
    }
    Ok((ids, edges, names))
}

fn read_piece(source: &Source, of: usize, piece: usize, columns: &Columns) -> Read<Piece> {
    let empty = || Ids::empty(columns.sort);
    let mut read = Piece {
        source: empty(),
        target: empty(),
        words: Words::default(),
        weight: Vec::new(),
        relation: Vec::new(),
        relations: Words::default(),
        features: Vec::new(),
        of,
        first: u64::MAX,
    };
    source.read(piece, &columns.all(), &mut |first, batch| {
        read.first = read.first.min(first);
        read.extend(source, columns, first, batch)
    })?;
    Ok(read)
}

impl Piece {
    fn extend(&mut self, source: &Source, columns: &Columns, first: u64, batch: &RecordBatch) -> Read<()> {
        let name = |column: usize| source.schema.field(column).name().as_str();
        let array = |column: usize| {
            let missing = || Box::new(source.error(format!("a part of the table has no column `{}`", name(column))));
            batch.column_by_name(name(column)).ok_or_else(missing)
        };
        self.source.extend(source, name(columns.source), first, array(columns.source)?, &mut self.words)?;
        self.target.extend(source, name(columns.target), first, array(columns.target)?, &mut self.words)?;
        if let Some(weight) = columns.weight {
            finite(source, name(weight), first, array(weight)?, &mut self.weight)?;
        }
        match columns.relation {
            None => {}
            Some(Place::Path(at)) => {
                let place = self.relations.place(&source.constants[at].1);
                self.relation.resize(self.relation.len() + batch.num_rows(), place);
            }
            Some(Place::Column(column, sort)) => self.extend_relations(source, name(column), first, array(column)?, sort)?,
        }
        if !columns.features.is_empty() {
            let mut features = vec![Vec::with_capacity(batch.num_rows()); columns.features.len()];
            for (values, &column) in features.iter_mut().zip(&columns.features) {
                finite(source, name(column), first, array(column)?, values)?;
            }
            self.features.extend((0..batch.num_rows()).flat_map(|row| features.iter().map(move |values| values[row])));
        }
        Ok(())
    }

    fn extend_relations(&mut self, source: &Source, name: &str, first: u64, array: &dyn arrow_array::Array, sort: Sort) -> Read<()> {
        let wrong = |what: String| Box::new(source.error(format!("the column `{name}`: {what}")));
        let null = |row: usize| {
            let error = source.error(format!("the column `{name}` of row {} is no relation", first + row as u64));
            Box::new(error.expected("a whole number or a word", "null"))
        };
        if sort == Sort::Words {
            let mut none = None;
            let relations = &mut self.relations;
            let relation = &mut self.relation;
            let done = column::each_word(array, &mut |row, word| {
                match word {
                    Some(word) => relation.push(relations.place(word)),
                    None => none = none.or(Some(row)),
                }
                Ok(())
            });
            done.map_err(wrong)?;
            return none.map_or(Ok(()), |row| Err(null(row)));
        }
        for (row, number) in column::numbers(array).map_err(wrong)?.into_iter().enumerate() {
            let number = number.and_then(Number::signed).ok_or_else(|| null(row))?;
            self.relation.push(self.relations.place(&number.to_string()));
        }
        Ok(())
    }

    fn rows(&self, index: &Index<'_>, source: &Source, columns: &Columns) -> Read<(Vec<u32>, Vec<u32>)> {
        let name = |column: usize| source.schema.field(column).name();
        let missing = |column: usize, row: usize, id: String| {
            let error = source.error(format!("the column `{}` of row {} is no node", name(column), self.first.saturating_add(row as u64)));
            Box::new(error.expected("an id of the node table", format!("`{id}`")))
        };
        let words: Vec<Option<u32>> = self.words.list.iter().map(|word| index.word(word)).collect();
        let rows = |ids: &Ids, column: usize| -> Read<Vec<u32>> {
            match ids {
                Ids::Numbers(ids) => ids.iter().enumerate().map(|(row, &id)| index.number(id).ok_or_else(|| missing(column, row, id.to_string()))).collect(),
                Ids::Words(places) => {
                    let row = |(row, &place): (usize, &u32)| {
                        let word = || missing(column, row, self.words.list[place as usize].clone());
                        words[place as usize].ok_or_else(word)
                    };
                    places.iter().enumerate().map(row).collect()
                }
            }
        };
        Ok((rows(&self.source, columns.source)?, rows(&self.target, columns.target)?))
    }
}

/// Appends numbers that must be there and be finite.
fn finite(source: &Source, name: &str, first: u64, array: &dyn arrow_array::Array, values: &mut Vec<f32>) -> Read<()> {
    for (row, number) in column::numbers(array).map_err(|what| source.error(format!("the column `{name}`: {what}")))?.into_iter().enumerate() {
        let value = number.and_then(Number::single).filter(|value| value.is_finite());
        values.push(value.ok_or_else(|| {
            let error = source.error(format!("the column `{name}` of row {} is not usable", first + row as u64));
            Box::new(error.expected("a finite number of 32 bits", number.map_or("null".into(), |number| number.to_string())))
        })?);
    }
    Ok(())
}

fn distinct(path: &Path, pieces: &[Piece], sort: Sort) -> Read<NodeIds> {
    if sort == Sort::Words {
        return ends::distinct_words(path, &pieces.iter().map(|piece| &piece.words.list[..]).collect::<Vec<_>>());
    }
    fn numbers(ids: &Ids) -> Option<&[u64]> {
        if let Ids::Numbers(numbers) = ids { Some(numbers) } else { None }
    }
    let columns: Vec<&[u64]> = pieces.iter().flat_map(|piece| [&piece.source, &piece.target]).filter_map(numbers).collect();
    ends::distinct_numbers(path, &columns)
}

/// Relations by ascending name (numbers by value), and the names.
fn relations(path: &Path, pieces: &[Piece]) -> Read<(Vec<u16>, Vec<String>)> {
    let mut names: Vec<&String> = pieces.iter().flat_map(|piece| &piece.relations.list).collect();
    names.sort();
    names.dedup();
    if names.iter().all(|name| name.parse::<i64>().is_ok()) {
        names.sort_by_key(|name| name.parse::<i64>().unwrap_or_default());
    }
    if names.len() > usize::from(u16::MAX) {
        let error = ReadError::new(path, "the edges have too many relations").expected(format!("at most {}", u16::MAX), names.len().to_string());
        return Err(Box::new(error.hint("is the right column read?  read: {relation: NAME}, or none")));
    }
    let places: std::collections::HashMap<&String, u16> = names.iter().enumerate().map(|(at, name)| (*name, at as u16)).collect();
    let mut relation = Vec::with_capacity(pieces.iter().map(|piece| piece.relation.len()).sum());
    for piece in pieces {
        let of_place: Vec<u16> = piece.relations.list.iter().map(|name| places[name]).collect();
        relation.extend(piece.relation.iter().map(|&place| of_place[place as usize]));
    }
    Ok((relation, names.into_iter().cloned().collect()))
}
