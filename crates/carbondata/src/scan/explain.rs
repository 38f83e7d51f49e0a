//! The plan of a scan, without reading rows.

use std::sync::Arc;

use orcish_core::Result;
use orcish_core::explain::{Explanation, SectionPlan};
use orcish_core::predicate::Outcome;
use orcish_io::display_name;

use super::blocklet_plan::{BlockletPlan, blocklet_plans, map_files};
use super::column_mapping::stored_columns;
use super::config::ScanConfig;
use super::open_files::OpenFile;
use super::orc;
use super::pruning::prune_pages;
use super::snapshot::TableSnapshot;
use crate::table::FileFormat;

/// The plan of each file.
pub(super) fn explain(snapshot: &Arc<TableSnapshot>, config: &Arc<ScanConfig>) -> Result<Vec<Explanation>> {
    map_files(snapshot, config, |snapshot, config, entry| {
        let mut plan = Explanation { file: display_name(&entry.location), skipped: false, sections: Vec::new() };
        match &entry.format {
            FileFormat::Columnar => {}
            FileFormat::Orc => return Ok(orc::explain(snapshot, config, entry)?.unwrap_or(plan)),
            // Streaming files have no index.
            FileFormat::Stream | FileFormat::Other(_) => return Ok(plan),
        }
        let (blocklet_plans, open_file) = blocklet_plans(snapshot, config, entry)?;
        for BlockletPlan { blocklet, rows, outcome } in blocklet_plans {
            let mut section = SectionPlan::new(blocklet, rows, outcome);
            if let Some(open_file) = open_file.as_ref().filter(|_| !section.outcome.is_skipped()) {
                add_read_cost(open_file, config, &mut section)
                    .map_err(|error| error.in_section("blocklet", blocklet))?;
            }
            plan.sections.push(section);
        }
        Ok(plan)
    })
}

/// Adds the pages of a blocklet, and the cost of reading it, to its plan.
fn add_read_cost(open_file: &OpenFile, config: &ScanConfig, plan: &mut SectionPlan) -> Result<()> {
    let (file, blocklet) = (&open_file.file, plan.index);
    let mut payload_columns = stored_columns(&open_file.mappings, config.projection.iter().map(|(at, _)| *at));
    let mut selected_pages = Vec::new();
    if plan.outcome == Outcome::Read {
        let filter_columns = stored_columns(&open_file.mappings, config.filter_columns.iter().copied());
        payload_columns.retain(|other| filter_columns.binary_search(other).is_err());
        if !file.has_unreliable_min_max() {
            let headers = file.read_chunk_headers(blocklet, &filter_columns)?;
            for (page, outcome) in prune_pages(open_file, config, &headers)?.into_iter().enumerate() {
                selected_pages.push(!outcome.is_skipped());
                plan.row_groups.push((u64::try_from(headers.page_rows(page)?).unwrap_or(u64::MAX), outcome));
            }
            (plan.filter_bytes, plan.filter_requests) = file.page_read_cost(&headers, &filter_columns, &selected_pages);
        } else {
            (plan.filter_bytes, plan.filter_requests) = file.read_cost(blocklet, &filter_columns)?;
        }
    }
    (plan.payload_bytes, plan.payload_requests) = if selected_pages.contains(&false) {
        let headers = file.read_chunk_headers(blocklet, &payload_columns)?;
        file.page_read_cost(&headers, &payload_columns, &selected_pages)
    } else {
        file.read_cost(blocklet, &payload_columns)?
    };
    Ok(())
}
