//! The plan of a scan, without reading rows.

use std::sync::Arc;

use orcish_core::Result;
use orcish_core::explain::{Explanation, SectionPlan};
use orcish_core::predicate::Outcome;
use orcish_io::display_name;

use super::blocklet_plan::{BlockletPlan, blocklet_plans, each_file};
use super::column_mapping::stored;
use super::config::ScanConfig;
use super::open_files::OpenFile;
use super::orc;
use super::pruning::judge_pages;
use super::snapshot::TableSnapshot;
use crate::table::FileFormat;

/// The plan of each file.
pub(super) fn explain(snapshot: &Arc<TableSnapshot>, config: &Arc<ScanConfig>) -> Result<Vec<Explanation>> {
    each_file(snapshot, config, |snapshot, config, entry| {
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
                weigh(open_file, config, &mut section).map_err(|error| error.in_section("blocklet", blocklet))?;
            }
            plan.sections.push(section);
        }
        Ok(plan)
    })
}

/// Adds the pages of a blocklet, and the cost of reading it, to its plan.
fn weigh(open_file: &OpenFile, config: &ScanConfig, plan: &mut SectionPlan) -> Result<()> {
    let (file, blocklet) = (&open_file.file, plan.index);
    let mut others = stored(&open_file.mappings, config.projection.iter().map(|(at, _)| *at));
    let mut wanted = Vec::new();
    if plan.outcome == Outcome::Read {
        let filter_columns = stored(&open_file.mappings, config.filter_columns.iter().copied());
        others.retain(|other| filter_columns.binary_search(other).is_err());
        if !file.has_unreliable_min_max() {
            let heads = file.read_chunk_headers(blocklet, &filter_columns)?;
            for (page, outcome) in judge_pages(open_file, config, &heads)?.into_iter().enumerate() {
                wanted.push(!outcome.is_skipped());
                plan.row_groups.push((u64::try_from(heads.page_rows(page)).unwrap_or(u64::MAX), outcome));
            }
            (plan.filter_bytes, plan.filter_requests) = file.page_read_cost(&heads, &filter_columns, &wanted);
        } else {
            (plan.filter_bytes, plan.filter_requests) = file.read_cost(blocklet, &filter_columns);
        }
    }
    (plan.payload_bytes, plan.payload_requests) = match wanted.contains(&false) {
        true => file.page_read_cost(&file.read_chunk_headers(blocklet, &others)?, &others, &wanted),
        false => file.read_cost(blocklet, &others),
    };
    Ok(())
}
