//! search_blocks: values.parquet of several searches: a block of rows for each, one after the
//! other.
//!
//! promises  the first column, `source`, is the data set's own id of the vertex that the search
//!           started from; the others are those of a single search, with its rows in its order; a
//!           block is written before the next search begins; a block of at least `GROUP_ROWS` rows
//!           has row groups of its own, so that readers of one source skip the others
//! never     lets the values of a search decide the type of a column: all blocks share one schema
use std::path::PathBuf;

use arrow_schema::Field;
use warploom_contract::{Kind, Outputs, StageError, kinds::run, parquet_file::TableWriter};
use warploom_launch::Rows;
use warploom_shell::search_sources::SOURCE;

use super::{ResultTable, RowOrder, count_rows, own_id_array};
use crate::{host_state::HostState, precision::Precision};

/// Rows after which the end of a block ends a row group. Smaller blocks share one: a row group has
/// a footer of some hundred bytes for each column.
const GROUP_ROWS: usize = 1 << 16;

/// The table while searches are running.
pub struct SearchBlocks {
    path: PathBuf,
    /// Begun with the first block, which has the types of the columns.
    writer: Option<TableWriter>,
    /// The order of rows, which all blocks share.
    order: Option<RowOrder>,
    rows: Rows,
}

impl SearchBlocks {
    /// A table without a block.
    pub fn new(outputs: &mut Outputs) -> Self {
        let path = outputs.file(Kind::Run, run::VALUES_FILE);
        SearchBlocks { path, writer: None, order: None, rows: Rows::Nodes }
    }

    /// Writes the values of the search from a row of the node table.
    pub fn write<T: Precision>(
        &mut self,
        host: &HostState<T>,
        source: usize,
    ) -> Result<(), StageError> {
        let (data, results) = (&host.data, &host.program.results);
        self.rows = results.first().map_or(Rows::Nodes, |result| result.rows);
        let rows = self.rows;
        let order = &*self.order.get_or_insert_with(|| RowOrder::new(data, rows));
        let ids = data.row_ids(rows);
        let mut table = ResultTable { fits_any_values: true, ..ResultTable::empty(ids.len()) };
        let kind = data.ids.slice(0..0).to_array().data_type().clone();
        table.push(Field::new(SOURCE, kind, false), 1, |piece| {
            Ok(own_id_array(&data.ids, &vec![source as u32; piece.len()]))
        });
        table.push_ids(ids);
        for result in results {
            table.push_returned(host, result, order)?;
        }
        let mut writer = match self.writer.take() {
            Some(writer) => writer,
            None => TableWriter::create(&self.path, table.fields())?,
        };
        table.write_rows(&mut writer)?;
        writer.end_row_group(GROUP_ROWS)?;
        self.writer = Some(writer);
        Ok(())
    }

    /// Ends the table of so many searches.
    pub fn finish<T: Precision>(
        self,
        outputs: &mut Outputs,
        host: &HostState<T>,
        searches: u64,
    ) -> Result<(), StageError> {
        let none = || StageError::defect("a run without a source was to write its searches");
        self.writer.ok_or_else(none)?.finish()?;
        outputs.count(Kind::Run, "searches", searches);
        count_rows(outputs, host, self.rows);
        Ok(())
    }
}
