//! What a scan would do, without doing it, and the parts that it can be cut into.

use std::sync::Arc;

use orcish_core::Result;
use orcish_core::explain::{Explanation, SectionPlan};
use orcish_core::parallel::each;
use orcish_core::predicate::Outcome;
use orcish_io::{concurrency, display_name};

use super::columnar::{judge_blocklet, judge_pages};
use super::evolve::stored;
use super::opened::{OpenFiles, Opened};
use super::parts::by_index;
use super::{Source, Split, What, orc, token};
use crate::metadata::index::IndexedBlocklet;
use crate::table::{FileEntry, FileFormat};

/// What becomes of a blocklet, by the index and, where that does not rule it out, by its file.
struct Fate {
    blocklet: usize,
    rows: u64,
    outcome: Outcome,
}

/// What reading would do, for each file.
pub(super) fn explain(of: &Arc<Source>, what: &Arc<What>) -> Result<Vec<Explanation>> {
    each_file(of, what, |of, what, entry| {
        let mut plan = Explanation { file: display_name(&entry.location), skipped: false, sections: Vec::new() };
        match &entry.format {
            FileFormat::Columnar => {}
            FileFormat::Orc => return Ok(orc::explain(of, what, entry)?.unwrap_or(plan)),
            // Nothing is known of a stream until it is read.
            FileFormat::Stream | FileFormat::Foreign(_) => return Ok(plan),
        }
        let (fates, opened) = fates(of, what, entry)?;
        for Fate { blocklet, rows, outcome } in fates {
            let mut section = SectionPlan::new(blocklet, rows, outcome);
            if let Some(opened) = opened.as_ref().filter(|_| !section.outcome.is_skipped()) {
                weigh(opened, what, &mut section).map_err(|error| error.in_section("blocklet", blocklet))?;
            }
            plan.sections.push(section);
        }
        Ok(plan)
    })
}

/// Adds what is read of a blocklet: pages and bytes.
fn weigh(opened: &Opened, what: &What, plan: &mut SectionPlan) -> Result<()> {
    let (file, blocklet) = (&opened.file, plan.index);
    let mut others = stored(&opened.ways, what.chosen.iter().map(|(at, _)| *at));
    let mut wanted = Vec::new();
    if plan.outcome == Outcome::Read {
        let asked = stored(&opened.ways, what.asked.iter().copied());
        others.retain(|other| asked.binary_search(other).is_err());
        if !file.is_old() {
            let heads = file.read_heads(blocklet, &asked)?;
            for (page, outcome) in judge_pages(opened, what, &heads)?.into_iter().enumerate() {
                wanted.push(!outcome.is_skipped());
                plan.row_groups.push((u64::try_from(heads.page_rows(page)).unwrap_or(u64::MAX), outcome));
            }
            (plan.filter_bytes, plan.filter_requests) = file.weigh_pages(&heads, &asked, &wanted);
        } else {
            (plan.filter_bytes, plan.filter_requests) = file.weigh(blocklet, &asked);
        }
    }
    (plan.payload_bytes, plan.payload_requests) = match wanted.contains(&false) {
        true => file.weigh_pages(&file.read_heads(blocklet, &others)?, &others, &wanted),
        false => file.weigh(blocklet, &others),
    };
    Ok(())
}

/// What becomes of the blocklets of a columnar file, which is opened only where the index does not rule out all of
/// them.
fn fates(of: &Source, what: &What, entry: &FileEntry) -> Result<(Vec<Fate>, Option<Opened>)> {
    let outcomes = by_index(of, what, entry)?;
    if let (Some(outcomes), Some(blocklets)) = (&outcomes, &entry.blocklets)
        && outcomes.iter().all(Outcome::is_skipped)
    {
        let fate = |(outcome, blocklet): (&Outcome, &IndexedBlocklet)| Fate {
            blocklet: blocklet.id,
            // The bounds are of an index, which has the rows too.
            rows: blocklet.rows.unwrap_or_default(),
            outcome: outcome.clone(),
        };
        return Ok((outcomes.iter().zip(blocklets).map(fate).collect(), None));
    }
    let opened = OpenFiles::default().open(of, entry)?;
    let chosen: Vec<usize> = match &entry.blocklets {
        Some(blocklets) => blocklets.iter().map(|blocklet| blocklet.id).collect(),
        None => (0..opened.file.blocklets()).collect(),
    };
    let mut fates = Vec::with_capacity(chosen.len());
    for (place, blocklet) in chosen.into_iter().enumerate() {
        let by_index = match &entry.blocklets {
            Some(_) => outcomes.as_ref().and_then(|outcomes| outcomes.get(place)),
            // One for the whole file.
            None => outcomes.as_ref().and_then(|outcomes| outcomes.first()),
        };
        let outcome = match by_index.filter(|outcome| outcome.is_skipped()) {
            Some(outcome) => outcome.clone(),
            None => judge_blocklet(&opened, what, blocklet)?,
        };
        fates.push(Fate { blocklet, rows: opened.file.blocklet_rows(blocklet), outcome });
    }
    Ok((fates, Some(opened)))
}

/// Parts of about `bytes` stored bytes each.
pub(super) fn splits(of: &Arc<Source>, what: &Arc<What>, bytes: u64) -> Result<Vec<Split>> {
    let of_files = each_file(of, what, move |of, what, entry| {
        if entry.format != FileFormat::Columnar {
            let size = match entry.size {
                Some(size) => size,
                None => {
                    orcish_io::stat(&entry.location, &of.storage.of(&entry.location))?.map_or(0, |found| found.size)
                }
            };
            return Ok(vec![split(of, entry, Vec::new(), 0, size)?]);
        }
        let (fates, opened) = fates(of, what, entry)?;
        let Some(opened) = opened else { return Ok(Vec::new()) };
        let all: Vec<usize> = (0..opened.file.columns().len()).collect();
        let mut runs: Vec<(Vec<usize>, u64, u64)> = Vec::new();
        for fate in fates.iter().filter(|fate| !fate.outcome.is_skipped()) {
            let (size, _) = opened.file.weigh(fate.blocklet, &all);
            match runs.last_mut() {
                Some((run, rows, sum)) if sum.saturating_add(size) <= bytes => {
                    run.push(fate.blocklet);
                    *rows = rows.saturating_add(fate.rows);
                    *sum = sum.saturating_add(size);
                }
                _ => runs.push((vec![fate.blocklet], fate.rows, size)),
            }
        }
        runs.into_iter().map(|(blocklets, rows, size)| split(of, entry, blocklets, rows, size)).collect()
    })?;
    Ok(of_files.into_iter().flatten().collect())
}

fn split(of: &Source, entry: &FileEntry, blocklets: Vec<usize>, rows: u64, bytes: u64) -> Result<Split> {
    let token = token::write(of, entry, &blocklets)?;
    Ok(Split { location: entry.location.clone(), blocklets, rows, bytes, token })
}

/// Calls `task` for each file, several at a time.
fn each_file<T: Send + 'static>(
    of: &Arc<Source>,
    what: &Arc<What>,
    task: impl Fn(&Source, &What, &FileEntry) -> Result<T> + Send + Sync + 'static,
) -> Result<Vec<T>> {
    let threads = orcish_core::parallel::asked_or_cores(what.options.threads);
    let requests = of.files.first().map_or(1, |file| concurrency(&file.location, &of.storage.of(&file.location)));
    let (this, what) = (of.clone(), what.clone());
    each(of.files.len(), threads.max(requests), of.storage.of_table().cancel_check().cloned(), move |at| {
        let entry = this.file(at)?;
        this.check_format(entry)?;
        task(&this, &what, entry).map_err(|error| error.in_file(&display_name(&entry.location)))
    })
}
