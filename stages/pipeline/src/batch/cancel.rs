//! cancel: `warploom cancel`: ends what has not ended of a submission.
//!
//! promises  a task that starts after it ends at once; a task at work saves its state
use std::collections::BTreeMap;

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
    cancel_arrays(&opened, &found.arrays)?;
    stop_tasks(&opened)?;
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

/// Asks tasks at work on this host to save their state and end: those of a pool that was killed.
fn stop_tasks(opened: &Opened) -> Result<(), StageError> {
    if opened.scheduler()?.is_some() {
        return Ok(());
    }
    let events = event::read_all(&opened.events())?;
    for start in events.values().filter_map(|events| pool::task_at_work(opened, events)) {
        if let Some(process) = i32::try_from(start).ok().and_then(rustix::process::Pid::from_raw) {
            // It may have ended by now.
            let _ended = rustix::process::kill_process(process, rustix::process::Signal::TERM);
        }
    }
    Ok(())
}

/// Cancels arrays by their names.
pub fn cancel_arrays(opened: &Opened, arrays: &BTreeMap<u32, String>) -> Result<(), StageError> {
    let Some(scheduler) = opened.scheduler()? else { return Ok(()) };
    if scheduler.cancel.is_empty() {
        return Ok(());
    }
    for (array, job) in arrays {
        let name = opened.submission.job_name(*array);
        let values: Values = [("job", Some(job.clone())), ("name", Some(name))].into();
        match command::run(&command::fill_words(&scheduler.cancel, &values)?) {
            // It has ended.
            Err(error) if status::is_unknown(&scheduler, &error) => {}
            done => drop(done?),
        }
    }
    Ok(())
}
