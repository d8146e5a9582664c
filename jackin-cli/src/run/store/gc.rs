use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jackin_core::run::{BusMessage, RUN_CRASH, RUN_STOP, RunContainer, RunInfo, RunLayout, RunStatus};

use super::directory::NEW;
use super::leftovers::Leftovers;
use super::{
    ContainerWas, RunDirectory, Store, StoreError, failed, foreign_process_lives, names, open_lock, read_info,
};
use crate::run::files::{remove_unfinished, try_lock, write_atomically};
use crate::run::yaml::to_yaml;
use crate::run::{bus, clock};

/// A new directory without a lock in it is somebody's who is just making it; after so long, nobody's.
const NEW_LIMIT: Duration = Duration::from_secs(60);

/// What was found and put in order.
#[derive(Debug)]
#[non_exhaustive]
pub enum Collected {
    /// The run's runner had died; it is marked failed now.
    Failed {
        /// The run.
        layout: RunLayout,
        /// Why it failed.
        reason: String,
    },
    /// The run had ended, but its runner died before it could say so on the bus.
    Announced {
        /// The run.
        layout: RunLayout,
    },
    /// A directory in which no run had begun is removed.
    Removed {
        /// The directory.
        path: PathBuf,
    },
    /// This could not be put in order.
    Problem {
        /// The run.
        layout: RunLayout,
        /// Why.
        error: StoreError,
    },
}

impl Store {
    /// The same as [`Store::collect`] for one run.
    pub fn settle(&self, layout: &RunLayout) -> Result<Option<Collected>, StoreError> {
        self.put_in_order(layout, &mut Leftovers::look())
    }

    /// Looks for runs whose runner has died, ends what is left of them, and records that they failed, and why. Runs that
    /// go on are not touched.
    pub fn collect(&self) -> Result<Vec<Collected>, StoreError> {
        let mut leftovers = Leftovers::look();
        let mut collected = Vec::new();
        for task in self.tasks()? {
            for name in names(&task.runs())? {
                let path = task.runs().join(&name);
                if name.starts_with(NEW) {
                    if is_nobodys(&path) && fs::remove_dir_all(&path).is_ok() {
                        collected.push(Collected::Removed { path });
                    }
                    continue;
                }
                let Ok(run) = name.parse() else { continue };
                let layout = RunLayout::new(task.clone(), run);
                match self.put_in_order(&layout, &mut leftovers) {
                    Ok(Some(found)) => collected.push(found),
                    Ok(None) => {}
                    Err(error) => collected.push(Collected::Problem { layout, error }),
                }
            }
        }
        Ok(collected)
    }

    fn put_in_order(
        &self,
        layout: &RunLayout,
        leftovers: &mut Leftovers,
    ) -> Result<Option<Collected>, StoreError> {
        match RunDirectory::take_over(layout) {
            Some(directory) => self.finish(directory, leftovers).map(Some),
            // Its runner lives.
            None if open_lock(layout).is_some() => Ok(None),
            None => fail_foreign(layout),
        }
    }

    /// Does what a runner of ours did not come to.
    fn finish(&self, directory: RunDirectory, leftovers: &mut Leftovers) -> Result<Collected, StoreError> {
        let layout = directory.layout().clone();
        remove_unfinished(&layout.folder());
        let mut info = match read_info(&layout) {
            // Something took it away: then this is all that is known.
            Err(StoreError::Io { error, .. }) if error.kind() == std::io::ErrorKind::NotFound => {
                RunInfo::begun(&layout, "unknown", clock::now())
            }
            read => read?,
        };
        let died = info.status == RunStatus::Running;
        let left = match &info.container {
            Some(container) => Left::Container(self.remove(&layout, container)),
            None if died => Left::Processes(leftovers.end(layout.run())),
            None => Left::Processes(0),
        };
        if let Left::Container(Err(why)) = &left {
            info.warnings.push(format!("its container could not be removed: {why}"));
        }
        let mut reason = String::new();
        if died {
            reason = why(&layout, &info, &left);
            info.abandoned(clock::now(), &reason);
            if let Err(error) = directory.ensure_output(None) {
                info.warnings.push(error.to_string());
            }
        }
        if died || matches!(left, Left::Container(Err(_))) {
            directory
                .write_last_info(&info)
                .map_err(|error| StoreError::Record { path: layout.info(), reason: error.to_string() })?;
        }
        announce(&layout, &info)?;
        directory.close();
        Ok(if died { Collected::Failed { layout, reason } } else { Collected::Announced { layout } })
    }

    fn remove(&self, layout: &RunLayout, container: &RunContainer) -> Result<ContainerWas, String> {
        match &self.containers {
            Some(containers) => containers.remove(layout, container),
            None => Err("`jackin runs gc` removes it".to_owned()),
        }
    }
}

/// What a runner that died left running, or may have.
enum Left {
    Processes(usize),
    Container(Result<ContainerWas, String>),
}

fn is_nobodys(new: &Path) -> bool {
    let lock = fs::File::open(new.join("runner.lock"));
    match lock {
        Ok(lock) => try_lock(&lock).unwrap_or(false),
        Err(_) => new
            .metadata()
            .and_then(|metadata| metadata.modified())
            .is_ok_and(|modified| modified.elapsed().is_ok_and(|age| age > NEW_LIMIT)),
    }
}

/// A run of another runner, which has no lock: it is failed if its process is gone.
fn fail_foreign(layout: &RunLayout) -> Result<Option<Collected>, StoreError> {
    let mut info = read_info(layout)?;
    if info.status != RunStatus::Running || foreign_process_lives(&info) {
        return Ok(None);
    }
    let reason = format!("its process {} is gone, and its runner did not record how it ended", info.pid);
    info.abandoned(clock::now(), &reason);
    let text = to_yaml(&info).map_err(|reason| StoreError::Record { path: layout.info(), reason })?;
    write_atomically(&layout.info(), text.as_bytes()).map_err(|error| failed(&layout.info(), error))?;
    announce(layout, &info)?;
    Ok(Some(Collected::Failed { layout: layout.clone(), reason }))
}

/// Says on the bus how the run ended, unless that was said.
fn announce(layout: &RunLayout, info: &RunInfo) -> Result<(), StoreError> {
    let path = layout.task().bus();
    let problem = |error: bus::BusError| StoreError::Record { path: path.clone(), reason: error.to_string() };
    let mut said = false;
    bus::scan(&path, |message| {
        let ends = matches!(message.field("type"), Some(RUN_STOP | RUN_CRASH));
        said |= ends && message.field("run_id") == Some(layout.run().as_str());
    })
    .map_err(problem)?;
    if !said {
        bus::append(&path, BusMessage::run_ended(layout, info)).map_err(problem)?;
    }
    Ok(())
}

/// What is known about how far it came.
fn why(layout: &RunLayout, info: &RunInfo, left: &Left) -> String {
    let runner = info.runner.as_ref().map(|runner| format!(" {}", runner.pid)).unwrap_or_default();
    let ran = info.pid != 0 || matches!(left, Left::Container(Ok(ContainerWas::Running)));
    let when = if layout.output().exists() {
        "after the agent had written its output"
    } else if ran {
        "while the agent ran"
    } else if matches!(left, Left::Container(Ok(ContainerWas::Ended))) {
        "around the time when the agent ended"
    } else if layout.prompt().exists() {
        "before the agent's process was known"
    } else {
        "before the prompt was written"
    };
    let left = match left {
        Left::Processes(0) | Left::Container(Ok(ContainerWas::Absent)) => String::new(),
        Left::Processes(1) => "; 1 process that it had left was ended".to_owned(),
        Left::Processes(n) => format!("; {n} processes that it had left were ended"),
        Left::Container(Ok(_)) => "; the container that it had left was removed".to_owned(),
        Left::Container(Err(why)) => format!("; the container that it may have left was not removed: {why}"),
    };
    format!("the runner (process{runner}) died {when}{left}")
}
