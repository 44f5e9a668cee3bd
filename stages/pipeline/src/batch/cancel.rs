//! cancel: `warploom cancel`: ends what has not ended of a submission.
//!
//! promises  a task that starts after it ends at once; a task at work saves its state
use warploom_batch::{
    command::{self, Values},
    event::{self, Event, EventKind},
    pool, status,
    submission::Opened,
};
use warploom_contract::StageError;
use warploom_shell::{Environment, machine_limits::count_with_unit, progress::Talk};

use super::stores;

/// Cancels a submission.
pub fn run(environment: &Environment, talk: &Talk, submission: &str) -> Result<(), StageError> {
    let opened = Opened::find(&stores(environment), submission)?;
    let found = status::look(&opened)?;
    let open = found.jobs.iter().filter(|job| !job.state.is_final()).count();
    if open == 0 {
        talk.say(&format!("every job of {} has ended", opened.submission.id));
        return Ok(());
    }
    // The mark comes first: a task that starts meanwhile sees it.
    event::append_of_submission(&opened.events(), &Event::now(EventKind::Cancelled))?;
    cancel_arrays(&opened, found.arrays.values())?;
    if let Some(process) = pool::process(&opened).and_then(|id| i32::try_from(id).ok())
        && let Some(process) = rustix::process::Pid::from_raw(process)
    {
        // It may have ended by now.
        let _ended = rustix::process::kill_process(process, rustix::process::Signal::TERM);
    }
    talk.say(&format!(
        "cancelled {} of {}; submit the file again to go on",
        count_with_unit(open as u64, "job"),
        opened.submission.id
    ));
    Ok(())
}

/// Cancels arrays by their names.
pub fn cancel_arrays<'a>(
    opened: &Opened,
    names: impl Iterator<Item = &'a String>,
) -> Result<(), StageError> {
    let Some(scheduler) = opened.scheduler()? else { return Ok(()) };
    let names: Vec<String> = names.cloned().collect();
    if names.is_empty() || scheduler.cancel.is_empty() {
        return Ok(());
    }
    // Each is a word of its own.
    let mut words = Vec::new();
    for word in &scheduler.cancel {
        if word == "{jobs}" {
            words.extend(names.iter().cloned());
            continue;
        }
        let values: Values = [("jobs", Some(names.join(&scheduler.list_separator)))].into();
        words.extend(command::fill(word, &values)?);
    }
    command::run(&words).map(drop)
}
