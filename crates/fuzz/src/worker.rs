//! Fuzzes one target in this process until its time is over. A process that dies takes only its own target along.

use std::collections::HashSet;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::case::{self, Failure};
use crate::corpus::{self, Corpus};
use crate::features::{Features, Seen};
use crate::finding;
use crate::minimise::minimise;
use crate::random::Random;
use crate::targets::Target;

/// A case that takes longer than this will not end: far above the slowest one on a busy machine.
const HANG: Duration = Duration::from_secs(120);
/// After so many different findings a target has failed well enough.
const MAX_FINDINGS: usize = 20;
/// How often a target is run to make a failing input smaller, and for how long.
const MINIMISE_TRIES: usize = 4000;
const MINIMISE_TIME: Duration = Duration::from_secs(20);

/// What a run came to.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Report {
    pub cases: u64,
    pub seconds: f64,
    /// Inputs that are mutated: those of the repository and those that showed something new.
    pub corpus: usize,
    pub features: usize,
    pub slowest_ms: u64,
    /// What broke, and where the input is.
    pub findings: Vec<(String, PathBuf)>,
}

/// The input that is being run is always in `current`, so that it is known if the process dies of it.
pub fn fuzz(target: &'static Target, seed: u64, time: Duration, current: &Path) -> Result<Report> {
    case::watch_panics();
    let mut run = Run {
        target,
        current: CurrentInput::create(current)?,
        running: watch_for_hangs(target.name),
        seen: Seen::default(),
        report: Report::default(),
        broken: HashSet::new(),
    };
    let files = corpus::files(target.name)?;
    for (_, input) in &files {
        run.case(input)?;
    }
    let mut corpus = Corpus::new(files.into_iter().map(|(_, input)| input).collect());
    let mut random = Random::new(seed);
    let start = Instant::now();
    while start.elapsed() < time && run.report.findings.len() < MAX_FINDINGS {
        let input = (target.generate)(&mut random, &corpus, target.max_bytes);
        if run.case(&input)? {
            corpus.add(input, &mut random);
        }
    }
    run.report.seconds = start.elapsed().as_secs_f64();
    (run.report.corpus, run.report.features) = (corpus.len(), run.seen.len());
    Ok(run.report)
}

struct Run {
    target: &'static Target,
    current: CurrentInput,
    running: Arc<Mutex<Option<Running>>>,
    seen: Seen,
    report: Report,
    broken: HashSet<String>,
}

impl Run {
    /// Whether it showed something new and held.
    fn case(&mut self, input: &[u8]) -> Result<bool> {
        self.current.write(input)?;
        let start = Instant::now();
        self.set_running(Some(Running { since: start, input: input.to_vec() }));
        let mut features = Features::default();
        let ended = case::run(self.target, input, &mut features);
        self.set_running(None);
        self.report.cases += 1;
        let took_ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.report.slowest_ms = self.report.slowest_ms.max(took_ms);
        match ended {
            Ok(()) => Ok(self.seen.add(&features)),
            Err(failure) => {
                if self.broken.insert(failure.key.clone()) {
                    self.keep(input, &failure)?;
                }
                Ok(false)
            }
        }
    }

    fn keep(&mut self, input: &[u8], failure: &Failure) -> Result<()> {
        let deadline = Instant::now() + MINIMISE_TIME;
        let fails = |candidate: &[u8]| {
            Instant::now() < deadline
                && case::run(self.target, candidate, &mut Features::default()).is_err_and(|other| other.key == failure.key)
        };
        let small = minimise(input, MINIMISE_TRIES, fails);
        let failure = case::run(self.target, &small, &mut Features::default()).err().unwrap_or_else(|| failure.clone());
        let path = finding::save(self.target.name, &small, &failure)?;
        self.report.findings.push((failure.message, path));
        Ok(())
    }

    fn set_running(&self, running: Option<Running>) {
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = running;
    }
}

struct Running {
    since: Instant,
    input: Vec<u8>,
}

/// A thread that ends the process when a case does not end. The input is saved first.
fn watch_for_hangs(target: &'static str) -> Arc<Mutex<Option<Running>>> {
    let running = Arc::new(Mutex::new(None::<Running>));
    let watched = Arc::clone(&running);
    std::thread::spawn(move || {
        loop {
            std::thread::park_timeout(Duration::from_secs(1));
            let watched = watched.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(running) = watched.as_ref().filter(|running| running.since.elapsed() > HANG) {
                let failure = Failure { key: "hang".to_owned(), message: format!("not ended after {} s", HANG.as_secs()) };
                let saved = finding::save(target, &running.input, &failure);
                eprintln!("{target}: {}: {saved:?}", failure.message);
                std::process::abort();
            }
        }
    });
    running
}

/// A file that holds the input of the running case: its length, then its bytes.
struct CurrentInput(File);

impl CurrentInput {
    fn create(path: &Path) -> Result<CurrentInput> {
        let file = File::create(path).with_context(|| format!("creating {}", path.display()))?;
        Ok(CurrentInput(file))
    }

    fn write(&self, input: &[u8]) -> Result<()> {
        let framed = [&(input.len() as u64).to_le_bytes(), input].concat();
        self.0.write_all_at(&framed, 0).context("keeping the input of the running case")
    }
}

/// What [`fuzz`] was running when its process died.
pub fn last_input(current: &Path) -> Option<Vec<u8>> {
    let bytes = std::fs::read(current).ok()?;
    let (length, input) = bytes.split_first_chunk::<8>()?;
    input.get(..usize::try_from(u64::from_le_bytes(*length)).ok()?).map(<[u8]>::to_vec)
}
