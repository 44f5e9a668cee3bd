//! workflow: a submission as a Snakefile or a Nextflow script, for those who run everything with
//! one of these.
//!
//! promises  each task is `warploom task` of the submission, after the tasks whose outputs it
//!           reads; exit codes 4 and 75 are tried again
use std::collections::{BTreeMap, BTreeSet};

use crate::{
    job::Job,
    script::{self, TASK_VARIABLE, quoted},
    submission::Opened,
};

/// A workflow system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workflow {
    /// Snakemake 7 or later.
    Snakemake,
    /// Nextflow, DSL 2.
    Nextflow,
}

impl Workflow {
    /// The file in the folder of the submission.
    pub fn file_name(self) -> &'static str {
        match self {
            Workflow::Snakemake => "Snakefile",
            Workflow::Nextflow => "main.nf",
        }
    }

    /// The command that runs it.
    pub fn command(self, opened: &Opened) -> String {
        let folder = quoted(&opened.folder.to_string_lossy());
        match self {
            Workflow::Snakemake => format!(
                "snakemake --cores all --keep-going --directory {folder} --snakefile \
                 {folder}/Snakefile"
            ),
            Workflow::Nextflow => format!("nextflow run {folder}/main.nf"),
        }
    }

    /// The text of the file.
    pub fn text(self, opened: &Opened, jobs: &[Job]) -> String {
        match self {
            Workflow::Snakemake => snakefile(opened, jobs),
            Workflow::Nextflow => nextflow(opened),
        }
    }
}

/// The tasks whose outputs each task reads.
fn inputs(jobs: &[Job]) -> BTreeMap<(u32, u32), BTreeSet<(u32, u32)>> {
    let mut inputs: BTreeMap<(u32, u32), BTreeSet<(u32, u32)>> = BTreeMap::new();
    for job in jobs.iter().filter(|job| job.array > 0) {
        let own = (job.array, job.task);
        let parent = job.parent.map(|row| &jobs[row as usize]);
        let of = inputs.entry(own).or_default();
        of.extend(
            parent
                .filter(|parent| parent.array > 0)
                .map(|parent| (parent.array, parent.task))
                .filter(|input| *input != own),
        );
    }
    inputs
}

fn heading(opened: &Opened, comment: &str) -> String {
    format!(
        "{comment} The submission {} as `warploom submit` wrote it. What has become of it:\n\
         {comment}   {} status {}\n",
        opened.submission.id, opened.submission.program, opened.submission.id
    )
}

fn snakefile(opened: &Opened, jobs: &[Job]) -> String {
    let name = |(array, task): &(u32, u32)| format!("\"{array}-{task}\"");
    let mut text = heading(opened, "#");
    text += "\n# The tasks whose outputs each task reads.\nINPUTS = {\n";
    for (task, inputs) in inputs(jobs) {
        let inputs: Vec<String> = inputs.iter().map(name).collect();
        text += &format!("    {}: [{}],\n", name(&task), inputs.join(", "));
    }
    text +=
        "}\n\n\ndef inputs_of(task):\n    return [f\"done/{name}\" for name in INPUTS[task]]\n\n\n";
    text += "rule all:\n    input:\n        [f\"done/{name}\" for name in INPUTS],\n";
    for array in &opened.submission.arrays {
        let lines = [
            String::new(),
            String::new(),
            format!("rule array_{}:", array.number),
            "    input:".to_owned(),
            format!(
                "        lambda wildcards: inputs_of(f\"{}-{{wildcards.task}}\"),",
                array.number
            ),
            "    output:".to_owned(),
            format!("        touch(\"done/{}-{{task}}\"),", array.number),
            format!("    threads: {}", array.cpus),
            "    resources:".to_owned(),
            format!("        mem_mb={},", array.bytes.div_ceil(1 << 20)),
            format!("        runtime={},", array.seconds.div_ceil(60)),
            // 4 and 75 may pass; any other error would come again.
            "    shell:".to_owned(),
            "        \"for start in 1 2 3 4; do \"".to_owned(),
            format!(
                "        \"{TASK_VARIABLE}={{wildcards.task}} bash {} \"",
                script::file_name(&array.to_array())
            ),
            format!(
                "        \">>logs/{}-{{wildcards.task}}.txt 2>&1 && exit 0; code=$?; \"",
                array.number
            ),
            "        \"case $code in 4|75) ;; *) exit $code;; esac; \"".to_owned(),
            "        \"done; exit $code\"".to_owned(),
        ];
        text += &(lines.join("\n") + "\n");
    }
    text
}

fn nextflow(opened: &Opened) -> String {
    let mut text = heading(opened, "//");
    for array in &opened.submission.arrays {
        let lines = [
            String::new(),
            format!("process ARRAY_{} {{", array.number),
            format!("    cpus {}", array.cpus),
            format!("    memory '{} MB'", array.bytes.div_ceil(1 << 20)),
            format!("    time '{} min'", array.seconds.div_ceil(60)),
            "    maxRetries 3".to_owned(),
            "    errorStrategy { task.exitStatus in [4, 75] ? 'retry' : 'ignore' }".to_owned(),
            String::new(),
            "    input:".to_owned(),
            "    val ready".to_owned(),
            "    each number".to_owned(),
            String::new(),
            "    output:".to_owned(),
            "    val number".to_owned(),
            String::new(),
            "    script:".to_owned(),
            "    \"\"\"".to_owned(),
            format!(
                "    {TASK_VARIABLE}=${{number}} bash \"${{projectDir}}/{}\"",
                script::file_name(&array.to_array())
            ),
            "    \"\"\"".to_owned(),
            "}".to_owned(),
        ];
        text += &(lines.join("\n") + "\n");
    }
    text += "\nworkflow {\n";
    for array in &opened.submission.arrays {
        // As `afterany`: when all tasks of the arrays before have ended, well or not.
        let outputs: Vec<String> =
            array.after.iter().map(|number| format!("ARRAY_{number}.out")).collect();
        let ready = match outputs.as_slice() {
            [] => "Channel.value(true)".to_owned(),
            [first, others @ ..] => {
                let mixed: String = others.iter().map(|other| format!(".mix({other})")).collect();
                format!("{first}{mixed}.collect().ifEmpty([]).map {{ true }}")
            }
        };
        text +=
            &format!("    ARRAY_{}({ready}, 0..{})\n", array.number, array.tasks.saturating_sub(1));
    }
    text + "}\n"
}
