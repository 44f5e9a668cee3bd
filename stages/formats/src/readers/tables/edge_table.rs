//! The edge table: ends, weight, relation, features.
//!
//! promises  edges in the order of the rows of the parts; row groups are read at the same time, the
//!           result is the same for any number of threads
//! never     takes a column for an end or a weight whose name does not say so
//! bounds    16 bytes an edge while it is read, 8 afterwards; 4 more each for weight, relation and
//!           a feature. Beyond a share of the limit row groups are read one after the other, batch
//!           by batch, and edges go to a file
use super::{
    node_ids::{self, IdColumn, NodeIndex, WordList},
    node_table::{PARTS_HINT, type_mismatch},
};
use crate::{
    column_roles::unread_of_edges,
    containers::{
        arrow_columns::{self, ColumnSort},
        arrow_tables::{TableSource, find_column},
        npy::Number,
    },
    f32_rounding::RoundedIntegers,
    options::Options,
    out_of_core::{EdgeAttributes, EdgeSink, Limit, OriginalIds, Spilled},
    raw_graph::{EdgeFeatures, Edges, NodeIds},
    read_error::{Read, ReadError},
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

/// Pieces that are read at once.
const JOBS_A_THREAD: usize = 4;

/// Where each thing stands.
struct EdgeTableColumns {
    source: usize,
    target: usize,
    weight: Option<usize>,
    relation: Option<RelationPlace>,
    features: Vec<usize>,
    sort: ColumnSort,
}

/// A column of the schema, or a constant of the path.
#[derive(Clone, Copy)]
enum RelationPlace {
    Column(usize, ColumnSort),
    Path(usize),
}

/// The edges of a row group, or of a file.
struct EdgeRows {
    source: IdColumn,
    target: IdColumn,
    words: WordList,
    weight: Vec<f32>,
    /// Of the weights.
    rounded: RoundedIntegers,
    relation: Vec<u32>,
    relations: WordList,
    features: Vec<f32>,
    /// The file and the first row in it.
    of: usize,
    first: u64,
}

/// The column that options name: it must be there.
fn asked(source: &TableSource, name: &str) -> Read<usize> {
    let missing = || {
        Box::new(
            source
                .error(format!("the table has no column `{name}`"))
                .expected(format!("`{name}`"), source.names()),
        )
    };
    find_column(source, &[name]).ok_or_else(missing)
}

/// Whether the columns are those of edges.
pub fn is_edges(source: &TableSource) -> bool {
    ENDS.iter()
        .any(|(from, to)| find_column(source, from).is_some() && find_column(source, to).is_some())
}

fn sort_of(source: &TableSource, column: usize) -> Read<ColumnSort> {
    let field = source.schema.field(column);
    let refused = || {
        let error =
            source.error(format!("the column `{}` has a type that is not read", field.name()));
        Box::new(
            error
                .expected("numbers, words or lists of numbers", field.data_type().to_string())
                .hint("write the table without this column"),
        )
    };
    arrow_columns::sort(field.data_type()).ok_or_else(refused)
}

impl EdgeTableColumns {
    fn find(source: &TableSource, options: &Options) -> Read<EdgeTableColumns> {
        let pair = match (&options.source, &options.target) {
            (Some(from), Some(to)) => Some((asked(source, from)?, asked(source, to)?)),
            (Some(from), None) => Some((
                asked(source, from)?,
                ENDS.iter()
                    .find_map(|(_, to)| find_column(source, to))
                    .ok_or_else(|| no_ends(source))?,
            )),
            (None, Some(to)) => Some((
                ENDS.iter()
                    .find_map(|(from, _)| find_column(source, from))
                    .ok_or_else(|| no_ends(source))?,
                asked(source, to)?,
            )),
            (None, None) => ENDS.iter().find_map(|(from, to)| {
                Some((find_column(source, from)?, find_column(source, to)?))
            }),
        };
        let (from, to) = pair.ok_or_else(|| no_ends(source))?;
        let (sort, other) = (sort_of(source, from)?, sort_of(source, to)?);
        if sort != other || sort == ColumnSort::Lists {
            let types = format!(
                "{} and {}",
                source.schema.field(from).data_type(),
                source.schema.field(to).data_type()
            );
            return Err(Box::new(
                source
                    .error("the ends of edges are not of one kind")
                    .expected("numbers in both, or words in both", types),
            ));
        }
        let weight = match options.weight.as_deref() {
            Some("none") => None,
            Some(name) => Some(asked(source, name)?),
            None => find_column(source, WEIGHTS),
        };
        let in_path = |names: &[&str]| {
            source
                .constants
                .iter()
                .position(|(name, _)| names.iter().any(|known| name.eq_ignore_ascii_case(known)))
        };
        let column = |column: usize| {
            Ok::<_, Box<ReadError>>(RelationPlace::Column(column, sort_of(source, column)?))
        };
        let relation = match options.relation.as_deref() {
            Some("none") => None,
            Some(name) => Some(match in_path(&[name]) {
                Some(at) => RelationPlace::Path(at),
                None => column(asked(source, name)?)?,
            }),
            None => match find_column(source, RELATIONS) {
                Some(at) => Some(column(at)?),
                None => in_path(RELATIONS).map(RelationPlace::Path),
            },
        };
        let features =
            options.edge_features.iter().map(|name| asked(source, name)).collect::<Read<_>>()?;
        Ok(EdgeTableColumns { source: from, target: to, weight, relation, features, sort })
    }

    fn column_indices(&self) -> Vec<usize> {
        let relation = self.relation.and_then(|place| {
            if let RelationPlace::Column(column, _) = place { Some(column) } else { None }
        });
        [self.source, self.target]
            .into_iter()
            .chain(self.weight)
            .chain(relation)
            .chain(self.features.iter().copied())
            .collect()
    }
}

/// What no edge has of the parts, each name once; what options set aside is not missed.
fn passed_over(
    sources: &[TableSource],
    columns: &[EdgeTableColumns],
    options: &Options,
) -> Vec<String> {
    let is_one_of =
        |name: &str, names: &[&str]| names.iter().any(|known| name.eq_ignore_ascii_case(known));
    let is_set_aside = |name: &str| {
        let is_none = |option: &Option<String>, names: &[&str]| {
            option.as_deref() == Some("none") && is_one_of(name, names)
        };
        is_none(&options.weight, WEIGHTS) || is_none(&options.relation, RELATIONS)
    };
    let mut unread = Vec::new();
    for (source, columns) in sources.iter().zip(columns) {
        let taken = columns.column_indices();
        // The index that pandas writes says nothing of edges.
        let is_index = |name: &str| name.starts_with("__index_level_");
        let fields = source
            .schema
            .fields()
            .iter()
            .enumerate()
            .filter(|(column, field)| !taken.contains(column) && !is_index(field.name()));
        let of_columns = fields
            .filter(|(_, field)| !is_set_aside(field.name()))
            .map(|(_, field)| unread_of_edges(field.name()));
        let of_path = |at: usize| matches!(columns.relation, Some(RelationPlace::Path(relation)) if relation == at);
        let constants = source
            .constants
            .iter()
            .enumerate()
            .filter(|(at, (name, _))| !of_path(*at) && !is_set_aside(name));
        for what in of_columns.chain(
            constants.map(|(_, (name, _))| format!("`{name}=` in the names of the edges' folders")),
        ) {
            if !unread.contains(&what) {
                unread.push(what);
            }
        }
    }
    unread
}

fn no_ends(source: &TableSource) -> Box<ReadError> {
    let error =
        source.error("the columns of the edge table do not say which are the ends of an edge");
    let expected =
        "source and target, src and dst, from and to, u and v, head and tail, or start and end";
    Box::new(
        error
            .expected(expected, source.names())
            .hint("name them in the catalogue's entry:  read: {source: NAME, target: NAME}"),
    )
}

/// The nodes, where a table of them was read.
pub struct KnownNodes {
    pub ids: NodeIds,
    /// Ends of edges are rows of that table.
    pub by_row: bool,
}

/// What the edge table holds.
pub struct EdgeTableContents {
    pub ids: NodeIds,
    pub edges: Edges,
    pub spilled: Option<Spilled>,
    /// Names of the relations.
    pub relations: Vec<String>,
    /// Columns, and names in the paths of parts, that mean nothing here.
    pub passed_over: Vec<String>,
    /// What was read otherwise than it stands there.
    pub notes: Vec<String>,
}

/// An edge table of one or several parts.
struct EdgeTable<'a> {
    sources: &'a [TableSource],
    columns: Vec<EdgeTableColumns>,
    /// The first part.
    path: &'a Path,
    limit: &'a Limit,
}

/// Reads all parts. Without a table of nodes, nodes are those that edges name.
pub fn read(
    sources: &[TableSource],
    options: &Options,
    nodes: Option<KnownNodes>,
    limit: &Limit,
) -> Read<EdgeTableContents> {
    let columns: Vec<EdgeTableColumns> = sources
        .iter()
        .map(|source| EdgeTableColumns::find(source, options))
        .collect::<Read<_>>()?;
    let Some((first, path)) =
        columns.first().zip(sources.first().map(|source| source.path.as_path()))
    else {
        return Err(Box::new(
            ReadError::new(Path::new("edges.parquet"), "there is no edge table")
                .expected("edges.parquet or edges.arrow", "none"),
        ));
    };
    for (source, other) in sources.iter().zip(&columns) {
        if other.sort != first.sort {
            return Err(type_mismatch(
                &sources[0],
                source,
                sources[0].schema.field(first.source).name(),
            ));
        }
        if other.weight.is_some() != first.weight.is_some()
            || other.relation.is_some() != first.relation.is_some()
        {
            let error = source
                .error(format!("the columns of this part are not those of {}", path.display()));
            return Err(Box::new(
                error.expected(sources[0].names(), source.names()).hint(PARTS_HINT),
            ));
        }
    }
    let (typed, weighted, width) =
        (first.relation.is_some(), first.weight.is_some(), first.features.len());
    let parts = EdgeTable { sources, columns, path, limit };
    let (mut found, seen, rounded) = match nodes {
        Some(KnownNodes { ids, by_row }) => {
            let counted = NodeIds::Count(ids.len() as u32);
            let (edges, spilled, seen, rounded) =
                parts.map_to_nodes(&NodeIndex::new(if by_row { &counted } else { &ids }))?;
            (
                EdgeTableContents {
                    ids,
                    edges,
                    spilled,
                    relations: Vec::new(),
                    passed_over: Vec::new(),
                    notes: Vec::new(),
                },
                seen,
                rounded,
            )
        }
        None => parts.collect_nodes()?,
    };
    found.passed_over = passed_over(sources, &parts.columns, options);
    found.notes = rounded.note("weights", "row").into_iter().collect();
    if typed {
        let (names, places) = relations(path, &seen)?;
        found
            .edges
            .relation
            .get_or_insert_default()
            .iter_mut()
            .for_each(|relation| *relation = places[usize::from(*relation)]);
        found.spilled.iter_mut().for_each(|spilled| spilled.name_relations(&places));
        found.relations = names;
    }
    // A table without rows has its columns as well.
    if weighted {
        found.edges.weight.get_or_insert_default();
    }
    if width > 0 && found.spilled.is_none() {
        found
            .edges
            .features
            .get_or_insert_with(|| EdgeFeatures { columns: width as u32, values: Vec::new() });
    }
    Ok(found)
}

impl EdgeTable<'_> {
    /// Edges of nodes that are known, and their relations in the order in which they came.
    fn map_to_nodes(
        &self,
        index: &NodeIndex<'_>,
    ) -> Read<(Edges, Option<Spilled>, Vec<String>, RoundedIntegers)> {
        let (mut sink, mut seen) = (EdgeSink::new(self.limit), WordList::default());
        let rounded = self.for_each_row_group(
            |piece| piece.into_edges(index, self),
            |(mut edges, relation, names): (Edges, Vec<u32>, WordList)| {
                edges.relation =
                    self.columns[0].relation.map(|_| named(&mut seen, &relation, &names.list));
                sink.take(edges);
                sink.settle()
            },
        )?;
        let (edges, spilled) = sink.finish()?;
        Ok((edges, spilled, seen.list, rounded))
    }

    /// Edges of the nodes that they name, and their relations in the order in which they came.
    fn collect_nodes(&self) -> Read<(EdgeTableContents, Vec<String>, RoundedIntegers)> {
        let (mut pieces, mut held, mut spill): (Vec<EdgeRows>, u64, Option<OriginalIds>) =
            (Vec::new(), 0, None);
        let rounded = self.for_each_row_group(Ok, |piece: EdgeRows| {
            held += piece.bytes();
            pieces.push(piece);
            if spill.is_none() && self.limit.admits(held) {
                return Ok(());
            }
            let spill = match &mut spill {
                Some(spill) => spill,
                none => none.insert(OriginalIds::new(self.path, self.limit)?),
            };
            pieces
                .drain(..)
                .try_for_each(|piece| piece.write(spill, self.columns[0].features.len() as u32))
        })?;
        if let Some(spill) = spill {
            let (ids, seen, spilled) = spill.finish(false)?;
            return Ok((
                EdgeTableContents {
                    ids,
                    edges: Edges::default(),
                    spilled: Some(spilled),
                    relations: Vec::new(),
                    passed_over: Vec::new(),
                    notes: Vec::new(),
                },
                seen,
                rounded,
            ));
        }
        let ids = distinct(self.path, &pieces, self.columns[0].sort)?;
        let index = NodeIndex::new(&ids);
        let (limit, mut seen) = (Limit::none(), WordList::default());
        let mut sink = EdgeSink::new(&limit);
        let rows: Vec<Read<(Edges, Vec<u32>, WordList)>> =
            pieces.into_par_iter().map(|piece| piece.into_edges(&index, self)).collect();
        for rows in rows {
            let (mut edges, relation, names) = rows?;
            edges.relation =
                self.columns[0].relation.map(|_| named(&mut seen, &relation, &names.list));
            sink.take(edges);
        }
        let (edges, spilled) = sink.finish()?;
        Ok((
            EdgeTableContents {
                ids,
                edges,
                spilled,
                relations: Vec::new(),
                passed_over: Vec::new(),
                notes: Vec::new(),
            },
            seen.list,
            rounded,
        ))
    }

    /// Reads pieces, several at once where that fits the limit, and hands what `parse` makes of
    /// them over in their order. A piece that does not fit comes in several. Weights that were
    /// rounded come back, by row.
    fn for_each_row_group<T: Send>(
        &self,
        parse: impl Fn(EdgeRows) -> Read<T> + Sync,
        mut take: impl FnMut(T) -> Read<()>,
    ) -> Read<RoundedIntegers> {
        let mut rounded = RoundedIntegers::default();
        let jobs: Vec<(usize, usize)> = self
            .sources
            .iter()
            .enumerate()
            .flat_map(|(of, source)| (0..source.pieces()).map(move |piece| (of, piece)))
            .collect();
        let size = |&(of, piece): &(usize, usize)| self.sources[of].size(piece);
        let mut jobs = &jobs[..];
        while let Some(first) = jobs.first() {
            if !self.limit.admits(size(first)) {
                self.read_in_order(first.0, first.1, &mut |piece| {
                    rounded.join(piece.rounded, 0);
                    take(parse(piece)?)
                })?;
                jobs = &jobs[1..];
                continue;
            }
            let mut bytes = 0u64;
            let most = JOBS_A_THREAD * rayon::current_num_threads();
            let fit = |job: &&(usize, usize)| {
                bytes = bytes.saturating_add(size(job));
                self.limit.admits(bytes)
            };
            let (now, later) = jobs.split_at(jobs.iter().take(most).take_while(fit).count());
            let read = |&(of, piece): &(usize, usize)| {
                let piece = read_piece(&self.sources[of], of, piece, &self.columns[of])?;
                Ok((piece.rounded, parse(piece)?))
            };
            let parsed: Vec<Read<(RoundedIntegers, T)>> = now.par_iter().map(read).collect();
            for parsed in parsed {
                let (part, parsed) = parsed?;
                rounded.join(part, 0);
                take(parsed)?;
            }
            jobs = later;
        }
        Ok(rounded)
    }

    /// Reads a piece batch by batch.
    fn read_in_order(
        &self,
        of: usize,
        piece: usize,
        take: &mut dyn FnMut(EdgeRows) -> Read<()>,
    ) -> Read<()> {
        let (source, columns) = (&self.sources[of], &self.columns[of]);
        source.read(piece, &columns.column_indices(), &mut |first, batch| {
            let mut read = EdgeRows::empty(of, first, columns.sort);
            read.extend(source, columns, first, batch)?;
            take(read)
        })
    }
}

/// Relations by their places among all that were seen; too many of them are refused once all are
/// known.
fn named(seen: &mut WordList, relation: &[u32], names: &[String]) -> Vec<u16> {
    let places: Vec<u16> = names.iter().map(|name| seen.place(name) as u16).collect();
    relation.iter().map(|&relation| places[relation as usize]).collect()
}

fn read_piece(
    source: &TableSource,
    of: usize,
    piece: usize,
    columns: &EdgeTableColumns,
) -> Read<EdgeRows> {
    let mut read = EdgeRows::empty(of, u64::MAX, columns.sort);
    source.read(piece, &columns.column_indices(), &mut |first, batch| {
        read.first = read.first.min(first);
        read.extend(source, columns, first, batch)
    })?;
    Ok(read)
}

impl EdgeRows {
    fn empty(of: usize, first: u64, sort: ColumnSort) -> EdgeRows {
        let empty = || IdColumn::empty(sort);
        EdgeRows {
            source: empty(),
            target: empty(),
            words: WordList::default(),
            weight: Vec::new(),
            rounded: RoundedIntegers::default(),
            relation: Vec::new(),
            relations: WordList::default(),
            features: Vec::new(),
            of,
            first,
        }
    }

    /// What it takes.
    fn bytes(&self) -> u64 {
        let words: usize =
            self.words.list.iter().map(|word| 2 * (word.len() + size_of::<String>())).sum();
        (words
            + self.source.bytes()
            + self.target.bytes()
            + 4 * (self.weight.len() + self.relation.len() + self.features.len())) as u64
    }

    /// Writes it to a file in its own ids.
    fn write(&self, spill: &mut OriginalIds, width: u32) -> Read<()> {
        if width > 0 {
            spill.take_features(width, &self.features)?;
        }
        let told = EdgeAttributes {
            weight: &self.weight,
            relation: &self.relation,
            relations: &self.relations.list,
        };
        match (&self.source, &self.target) {
            (IdColumn::Numbers(source), IdColumn::Numbers(target)) => {
                let wide = source.iter().chain(target).any(|&id| id > u64::from(u32::MAX));
                spill.take_numbers(
                    wide,
                    source.iter().zip(target).map(|(&source, &target)| [source, target]),
                    told,
                )
            }
            (IdColumn::Words(source), IdColumn::Words(target)) => spill.take_words(
                &self.words.list,
                source.iter().zip(target).map(|(&source, &target)| [source, target]),
                told,
            ),
            // Both ends are of one sort: `Columns::find` compared them.
            _ => Ok(()),
        }
    }

    /// Edges by row without relations, and these by their places in the names behind them.
    fn into_edges(
        self,
        index: &NodeIndex<'_>,
        parts: &EdgeTable,
    ) -> Read<(Edges, Vec<u32>, WordList)> {
        let columns = &parts.columns[self.of];
        let (source, target) = self.rows(index, &parts.sources[self.of], columns)?;
        let EdgeRows { weight, relation, relations, features, .. } = self;
        let weight = columns.weight.map(|_| weight);
        let width = columns.features.len() as u32;
        let features = (width > 0).then_some(EdgeFeatures { columns: width, values: features });
        Ok((Edges { source, target, weight, relation: None, features }, relation, relations))
    }

    fn extend(
        &mut self,
        source: &TableSource,
        columns: &EdgeTableColumns,
        first: u64,
        batch: &RecordBatch,
    ) -> Read<()> {
        let name = |column: usize| source.schema.field(column).name().as_str();
        let array = |column: usize| {
            let missing = || {
                Box::new(
                    source.error(format!("a part of the table has no column `{}`", name(column))),
                )
            };
            batch.column_by_name(name(column)).ok_or_else(missing)
        };
        self.source.extend(
            source,
            name(columns.source),
            first,
            array(columns.source)?,
            &mut self.words,
        )?;
        self.target.extend(
            source,
            name(columns.target),
            first,
            array(columns.target)?,
            &mut self.words,
        )?;
        if let Some(weight) = columns.weight {
            self.rounded
                .join(finite(source, name(weight), first, array(weight)?, &mut self.weight)?, 0);
        }
        match columns.relation {
            None => {}
            Some(RelationPlace::Path(at)) => {
                let place = self.relations.place(&source.constants[at].1);
                self.relation.resize(self.relation.len() + batch.num_rows(), place);
            }
            Some(RelationPlace::Column(column, sort)) => {
                self.extend_relations(source, name(column), first, array(column)?, sort)?
            }
        }
        if !columns.features.is_empty() {
            let mut features = vec![Vec::with_capacity(batch.num_rows()); columns.features.len()];
            for (values, &column) in features.iter_mut().zip(&columns.features) {
                finite(source, name(column), first, array(column)?, values)?;
            }
            self.features.extend(
                (0..batch.num_rows())
                    .flat_map(|row| features.iter().map(move |values| values[row])),
            );
        }
        Ok(())
    }

    fn extend_relations(
        &mut self,
        source: &TableSource,
        name: &str,
        first: u64,
        array: &dyn arrow_array::Array,
        sort: ColumnSort,
    ) -> Read<()> {
        let wrong = |what: String| Box::new(source.error(format!("the column `{name}`: {what}")));
        let null = |row: usize| {
            let error = source
                .error(format!("the column `{name}` of row {} is no relation", first + row as u64));
            Box::new(error.expected("a whole number or a word", "null"))
        };
        if sort == ColumnSort::Words {
            let mut none = None;
            let relations = &mut self.relations;
            let relation = &mut self.relation;
            let done = arrow_columns::each_word(array, &mut |row, word| {
                match word {
                    Some(word) => relation.push(relations.place(word)),
                    None => none = none.or(Some(row)),
                }
                Ok(())
            });
            done.map_err(wrong)?;
            return none.map_or(Ok(()), |row| Err(null(row)));
        }
        for (row, number) in arrow_columns::numbers(array).map_err(wrong)?.into_iter().enumerate() {
            let number = number.and_then(Number::signed).ok_or_else(|| null(row))?;
            self.relation.push(self.relations.place(&number.to_string()));
        }
        Ok(())
    }

    fn rows(
        &self,
        index: &NodeIndex<'_>,
        source: &TableSource,
        columns: &EdgeTableColumns,
    ) -> Read<(Vec<u32>, Vec<u32>)> {
        let name = |column: usize| source.schema.field(column).name();
        let missing = |column: usize, row: usize, id: String| {
            let error = source.error(format!(
                "the column `{}` of row {} is no node",
                name(column),
                self.first.saturating_add(row as u64)
            ));
            let hint = "add the node to the table of nodes, take the edge out, or leave the table \
                        away: nodes are then those that edges name";
            Box::new(error.expected("an id of the node table", format!("`{id}`")).hint(hint))
        };
        let words: Vec<Option<u32>> = self.words.list.iter().map(|word| index.word(word)).collect();
        let rows = |ids: &IdColumn, column: usize| -> Read<Vec<u32>> {
            match ids {
                IdColumn::Numbers(ids) => ids
                    .iter()
                    .enumerate()
                    .map(|(row, &id)| {
                        index.number(id).ok_or_else(|| missing(column, row, id.to_string()))
                    })
                    .collect(),
                IdColumn::Words(places) => {
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

/// Appends numbers that must be there and be finite; the rows of those that are rounded come back.
fn finite(
    source: &TableSource,
    name: &str,
    first: u64,
    array: &dyn arrow_array::Array,
    values: &mut Vec<f32>,
) -> Read<RoundedIntegers> {
    let mut rounded = RoundedIntegers::default();
    for (row, number) in arrow_columns::numbers(array)
        .map_err(|what| source.error(format!("the column `{name}`: {what}")))?
        .into_iter()
        .enumerate()
    {
        let value = number.and_then(Number::single).filter(|value| value.is_finite());
        rounded.add(first + row as u64, number.is_some_and(Number::is_rounded));
        values.push(value.ok_or_else(|| {
            let error = source
                .error(format!("the column `{name}` of row {} is not usable", first + row as u64));
            let error = error.expected(
                "a finite number of 32 bits",
                number.map_or("null".into(), |number| number.to_string()),
            );
            Box::new(error.hint(
                "write a number in every row, or leave the column out: of weights with  --set \
                 ingest.weights=drop",
            ))
        })?);
    }
    Ok(rounded)
}

fn distinct(path: &Path, pieces: &[EdgeRows], sort: ColumnSort) -> Read<NodeIds> {
    if sort == ColumnSort::Words {
        return node_ids::distinct_words(
            path,
            &pieces.iter().map(|piece| &piece.words.list[..]).collect::<Vec<_>>(),
        );
    }
    fn numbers(ids: &IdColumn) -> Option<&[u64]> {
        if let IdColumn::Numbers(numbers) = ids { Some(numbers) } else { None }
    }
    let columns: Vec<&[u64]> = pieces
        .iter()
        .flat_map(|piece| [&piece.source, &piece.target])
        .filter_map(numbers)
        .collect();
    node_ids::distinct_numbers(path, &columns)
}

/// Names of the relations, ascending (numbers by value), and the place there of each that was seen.
fn relations(path: &Path, seen: &[String]) -> Read<(Vec<String>, Vec<u16>)> {
    let mut names: Vec<&String> = seen.iter().collect();
    names.sort();
    if names.iter().all(|name| name.parse::<i64>().is_ok()) {
        names.sort_by_key(|name| name.parse::<i64>().unwrap_or_default());
    }
    if names.len() > usize::from(u16::MAX) {
        let error = ReadError::new(path, "the edges have too many relations")
            .expected(format!("at most {}", u16::MAX), names.len().to_string());
        return Err(Box::new(error.hint(
            "is the right column read? say it in the catalogue's entry:  read: {relation: NAME}  \
             or  read: {relation: none}",
        )));
    }
    let places: std::collections::HashMap<&String, u16> =
        names.iter().enumerate().map(|(at, name)| (*name, at as u16)).collect();
    Ok((
        names.iter().map(|name| (*name).clone()).collect(),
        seen.iter().map(|name| places[name]).collect(),
    ))
}
