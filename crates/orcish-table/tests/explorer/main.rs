//! Schedules of several processes on one table, single-stepped: after each request of a process another one may go on,
//! fail or die. All readers have to see the rows of the commits in the order of the log.
//!
//! `ORCISH_SCHEDULES` is the number of schedules, and `ORCISH_SEED` the first seed. A failure names its seed.

#![expect(
    clippy::unwrap_used,
    clippy::unwrap_in_result,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "clippy.toml allows these in test functions only, not in their helpers"
)]

mod mutations;
mod processes;
mod random;
mod serial;
mod world;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Waker};
use std::time::Duration;

use orcish_core::tuning::testing::cases;
use orcish_table::{Pending, Retention};

use crate::mutations::Mutation;
use crate::processes::{Process, Records, Report, Write};
use crate::random::Random;
use crate::serial::{Effect, Table, check_plain, sorted, states};
use crate::world::{Faults, Kind, SimStore, World};

/// Most steps of a schedule, which no schedule reaches.
const MAX_STEPS: usize = 200_000;
/// Most processes of a schedule that die. A stream, which is restarted each time, would otherwise write for ever where a
/// commit can neither be finished nor undone.
const MAX_CRASHES: usize = 100;

type Running = Pin<Box<dyn Future<Output = ()>>>;

fn number_of(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Runs the schedule of a seed.
///
/// # Errors
/// What was wrong, with all requests.
fn run(seed: u64, mutation: Option<Mutation>) -> Result<usize, String> {
    let mut random = Random::new(seed);
    let kind = *random.pick(&[Kind::Local, Kind::Store, Kind::Azure]);
    let is_faulty = random.chance(60);
    // Many staged files are lost, and several processes recover the table.
    let is_lossy = is_faulty && random.chance(20);
    let mut percent = |most: usize| if is_faulty { random.below(most + 1) as u64 } else { 0 };
    let faults = Faults {
        refused: percent(3),
        answer_lost: percent(5),
        late: percent(5),
        upload_lost: if is_lossy { 3 + percent(9) } else { percent(9) / 3 },
        clock_jump: percent(2) / 2,
        // Azure has no request that discards a staged file.
        blocked: if kind == Kind::Azure { 0 } else { percent(8) / 3 },
    };
    let retention = Retention { entries: 1 + random.below(3), time: Duration::from_millis(random.below(100) as u64) };
    let crashes = if is_faulty { random.below(4) as u64 } else { 0 };
    let mut world = World::new(kind, faults, retention, Random::new(random.next()));
    let mut first = Table::new();
    for at in 0..random.below(4) {
        let (row, partition) = (u32::try_from(at).unwrap(), at % 2);
        world.put(&format!("k={partition}/old-{at}.orc"), [row].into());
        first.insert(row, partition);
    }
    let world = Rc::new(RefCell::new(world));
    let records = Rc::new(RefCell::new(Records::default()));
    let process = || Process { store: SimStore::new(&world, mutation), records: records.clone() };
    let mut running: Vec<(bool, Running)> = Vec::new();
    let writes = [
        Write::Append,
        Write::Append,
        Write::AppendChecked,
        Write::Create,
        Write::Overwrite,
        Write::OverwriteFolder,
        Write::OverwritePartitions,
        Write::Compact,
        Write::Compact,
        Write::Delete,
    ];
    let has_stream = random.chance(30);
    if has_stream {
        for _ in 0..1 + random.below(2) {
            running.push((true, Box::pin(process().stream("query", 2))));
        }
    }
    for _ in 0..2 + random.below(4) {
        running.push((false, Box::pin(process().write(*random.pick(&writes)))));
    }
    for _ in 0..1 + random.below(3) {
        running.push((false, Box::pin(process().read(*random.pick(&[Pending::Wait, Pending::Before])))));
    }
    for _ in 0..random.below(if is_lossy { 6 } else { 3 }) {
        running.push((false, Box::pin(process().recover(random.chance(70), 1 + random.below(12)))));
    }
    if random.chance(20) {
        running.push((false, Box::pin(process().vacuum())));
    }
    let mut checked = Checked { first, changes: u64::MAX, entries: usize::MAX, undone: 0, states: Vec::new() };
    let (mut steps, mut died) = (0, 0);
    // Some processes are suspended again and again, for long.
    let slow = if random.chance(50) { 1 + random.below(2) } else { 0 };
    while !running.is_empty() {
        let mut at = random.below(running.len());
        if at < slow && random.chance(97) {
            at = random.below(running.len());
        }
        let is_ready = poll(&mut running[at].1);
        if is_ready {
            drop(running.swap_remove(at));
        } else if crashes > 0 && died < MAX_CRASHES && random.next() % 1_000 < crashes * 3 {
            died += 1;
            world.borrow_mut().trace.push("    a process dies".to_owned());
            let (is_stream, _) = running.swap_remove(at);
            if is_stream {
                running.push((true, Box::pin(process().stream("query", 2))));
            }
        }
        world.borrow_mut().age();
        checked.plain(&world, &records)?;
        steps += 1;
        if steps > MAX_STEPS {
            return Err(told("the schedule does not end", &world.borrow()));
        }
    }
    world.borrow_mut().heal();
    let mut repair: Running = Box::pin(process().repair());
    while !poll(&mut repair) {
        checked.plain(&world, &records)?;
    }
    drop(repair);
    checked.plain(&world, &records)?;
    checked.end(&world.borrow(), &records.borrow(), has_stream)?;
    Ok(steps)
}

fn poll(running: &mut Running) -> bool {
    running.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready()
}

/// The checks of a schedule.
struct Checked {
    first: Table,
    /// The state of the world for which `states` are.
    changes: u64,
    entries: usize,
    undone: usize,
    states: Vec<Table>,
}

impl Checked {
    fn plain(&mut self, world: &RefCell<World>, records: &RefCell<Records>) -> Result<(), String> {
        let world = world.borrow();
        if (self.entries, self.undone) != (world.history.len(), world.undone.len()) {
            self.states = states(&self.first, &world, &records.borrow().effects);
            (self.entries, self.undone) = (world.history.len(), world.undone.len());
        } else if self.changes == world.changes {
            return Ok(());
        }
        self.changes = world.changes;
        check_plain(&world, &self.states).map_err(|error| told(&error, &world))
    }

    /// What processes were told, and what readers have seen.
    fn end(&self, world: &World, records: &Records, has_stream: bool) -> Result<(), String> {
        let states = states(&self.first, world, &records.effects);
        let fail = |error: String| Err(told(&error, world));
        let places: BTreeMap<&String, u64> = world.history.iter().map(|(number, job)| (job, *number)).collect();
        if places.len() != world.history.len() {
            return fail("a job has two entries".to_owned());
        }
        if let Some(violation) = records.violations.first() {
            return fail(violation.clone());
        }
        for (job, report) in &records.reports {
            let is_done = places.get(job).is_some_and(|number| !world.undone.contains(number));
            match report {
                Report::Done if !is_done => return fail(format!("{job} was told to be done")),
                Report::Refused if is_done => return fail(format!("{job} was told to have failed")),
                _ => {}
            }
        }
        for (at, (number, job)) in
            world.history.iter().enumerate().filter(|(_, (number, _))| !world.undone.contains(number))
        {
            let position = records.positions.get(job);
            if position.is_some_and(|position| position != number) {
                return fail(format!("{job} was made for position {position:?}, and has entry {number}"));
            }
            if matches!(records.effects[job], Effect::Create(_)) && !states[at].is_empty() {
                return fail(format!("{job} was made for a table without rows, which has {:?}", states[at]));
            }
        }
        for seen in &records.observations {
            let rows = sorted(seen.rows.iter().copied());
            let is_state =
                |at: &usize| rows.iter().eq(states[*at].keys()) && schema_after(*at, world, records) == seen.schema;
            if !(seen.least..=seen.most).any(|at| is_state(&at)) {
                let states = &states[seen.least..=seen.most];
                return fail(format!("a reader has seen {rows:?} and schema {:?}, of states {states:?}", seen.schema));
            }
        }
        if let Some(name) = world.left_over().first() {
            return fail(format!("{name} is left"));
        }
        let batches = world.history.iter().filter(|(number, _)| !world.undone.contains(number));
        let mut batches: Vec<_> =
            batches.filter_map(|(_, job)| records.streams.get(job)).map(|batch| batch.batch).collect();
        let count = batches.len();
        batches.dedup();
        let done = records.checkpoints.get("query").copied().unwrap_or(0);
        if has_stream && (count != batches.len() || (count as u64) < done || !batches.is_sorted()) {
            return fail(format!(
                "a stream has batches {batches:?}, of which {count} were written, and {done} are done"
            ));
        }
        Ok(())
    }
}

/// The job whose schema the table has after a number of entries.
fn schema_after(count: usize, world: &World, records: &Records) -> Option<String> {
    let is_new = |(number, job): &&(u64, String)| !world.undone.contains(number) && records.schemas.contains(job);
    world.history[..count].iter().rfind(is_new).map(|(_, job)| job.clone())
}

fn told(error: &str, world: &World) -> String {
    format!("{}\n{:?}\n{error}", world.trace.join("\n"), world.kind)
}

#[test]
fn readers_see_the_commits_in_order() {
    let first = number_of("ORCISH_SEED").unwrap_or(0);
    let count = number_of("ORCISH_SCHEDULES").unwrap_or_else(|| cases(100_000).into());
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get) as u64;
    let run_all = |thread: u64| {
        let mut steps = 0;
        for seed in (first + thread..first + count).step_by(threads as usize) {
            match run(seed, None) {
                Ok(count) => steps += count,
                Err(error) => panic!("{error}\nORCISH_SEED={seed} ORCISH_SCHEDULES=1"),
            }
        }
        steps
    };
    let steps: usize = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|thread| scope.spawn(move || run_all(thread))).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    println!("{count} schedules, {steps} steps");
}

/// Each fault is found in some thousand schedules.
#[test]
fn faults_of_the_protocol_are_found() {
    for mutation in Mutation::ALL {
        let found = (0..100_000).find(|seed| run(*seed, Some(mutation)).is_err());
        println!("{mutation:?}: {found:?}");
        assert!(found.is_some(), "{mutation:?}");
    }
}
