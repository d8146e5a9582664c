use super::RunLayout;
use crate::RunId;

/// The runner's words in front of the operator's prompt: where the run's files are, what to leave behind, and how to
/// tell others. The prompt follows after its end.
///
/// ```
/// use jackin_core::run::{RunLayout, TaskLayout, preamble};
///
/// let task = TaskLayout::new("/runs", "api".parse()?, "fix-login".parse()?);
/// let run = RunLayout::new(task, "20260223-1530221234-991-1".parse()?);
/// let prompt = preamble(&run, None) + "Fix the login.";
/// assert!(prompt.contains("/20260223-1530221234-991-1/output.md"));
/// # Ok::<(), jackin_core::NameError>(())
/// ```
pub fn preamble(layout: &RunLayout, parent: Option<&RunId>) -> String {
    let task = layout.task();
    let parent = parent.map(|parent| format!(", which run `{parent}` started")).unwrap_or_default();
    format!(
        "# About this run\n\
         \n\
         This is run `{run}`{parent}, for the task `{task_id}` of the project `{project}`. Nobody watches it: do not wait \
         for answers.\n\
         \n\
         - Task folder: `{task_folder}`\n\
         - Run folder: `{run_folder}`\n\
         - Message bus: `{bus}`. Append to it, and change nothing in it: a block between two lines of `---` with `type` \
         (PROGRESS, FACT, DECISION, QUESTION, ERROR) and `project_id`, then your text.\n\
         \n\
         Before you end, write what you did and what came of it as Markdown to `{output}`. The other files of the run \
         folder are the runner's.\n\
         \n\
         # The task\n\
         \n",
        run = layout.run(),
        task_id = task.task(),
        project = task.project(),
        task_folder = task.folder().display(),
        run_folder = layout.folder().display(),
        bus = task.bus().display(),
        output = layout.output().display(),
    )
}
