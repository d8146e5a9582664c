//! What goes into a container beside the capsule: skills and rules for screens.

use std::fs;

use jackin_cli::backend::{Backend, Plan};
use jackin_core::{AgentEntry, AgentStatus};

use crate::bench::{Bench, as_agent, container, exec};
use crate::docker::docker;

/// A plan whose agents are Claude and Codex by name, with a skill of jackin's and one of the operator's.
fn with_skills(bench: &Bench) -> Plan {
    let mine = bench.paths.skills().join("mine");
    fs::create_dir_all(mine.join("scripts")).unwrap();
    fs::write(mine.join("SKILL.md"), "how we do it").unwrap();
    fs::write(mine.join("scripts/go"), "#!/bin/sh\necho gone\n").unwrap();
    let runnable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(mine.join("scripts/go"), runnable).unwrap();
    let mut plan = bench.plan("read -r line");
    plan.skills = ["jackin-machine-readable-pr", "mine"].map(String::from).to_vec();
    plan.agents =
        ["claude", "codex"].map(|id| AgentEntry { id: id.into(), ..AgentEntry::default() }).to_vec();
    plan
}

fn skill_of(name: &str) -> String {
    as_agent(
        name,
        "cd ~/.claude/skills && cat mine/SKILL.md && mine/scripts/go && grep -c '<jackin:pr>' */SKILL.md",
    )
}

#[tokio::test]
async fn skills_are_in_the_agents_home_and_its_own() {
    let Some(bench) = Bench::new() else { return };
    let plan = with_skills(&bench);
    let steps = bench.create(&plan).await;
    assert!(!steps.iter().any(|step| step.contains("warning")), "{steps:?}");
    let name = container(&plan);
    let found = skill_of(&name);
    assert!(
        found.starts_with("how we do itgone\n") && found.contains("machine-readable-pr/SKILL.md:1"),
        "{found}"
    );
    let owners = as_agent(
        &name,
        "stat -c '%u %g %a %n' ~ ~/.claude ~/.agents/skills/mine ~/.claude/skills/mine/SKILL.md",
    );
    assert_eq!(
        owners,
        "1000 1000 700 /home/agent\n1000 1000 755 /home/agent/.claude\n1000 1000 755 /home/agent/.agents/skills/mine\n1000 \
         1000 644 /home/agent/.claude/skills/mine/SKILL.md\n"
    );
    let written = as_agent(&name, "touch ~/.claude/x ~/.claude/skills/mine/x && echo yes");
    assert_eq!(written, "yes\n", "it is the agent's to change");
    bench.backend.remove(&plan.instance).await.unwrap();
}

#[tokio::test]
async fn skills_are_in_a_home_that_the_image_names_and_in_a_read_only_one() {
    let Some(bench) = Bench::new() else { return };
    let mut fixed = with_skills(&bench);
    fixed.read_only = true;
    bench.create(&fixed).await;
    let name = container(&fixed);
    assert!(skill_of(&name).starts_with("how we do itgone\n"));
    assert_eq!(as_agent(&name, "touch ~/x ~/.claude/x && echo yes"), "yes\n");
    bench.backend.remove(&fixed.instance).await.unwrap();
    assert_eq!(crate::bench::things(&fixed.instance), Vec::<String>::new(), "its home goes with it");

    // An image with a user of its own, whose home has something of Claude's already.
    let image = format!("jackin-test-users-{}", std::process::id());
    let file = "FROM jackin-test-bare\nRUN echo 'node:x:1000:1001::/data/node:/bin/sh' >> /etc/passwd && mkdir -p /data/node/.claude && echo kept > /data/node/.claude/own && chmod 750 /data/node/.claude\n";
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("Dockerfile"), file).unwrap();
    let built =
        docker(["build", "--quiet", "--network", "none", "--tag", &image, dir.path().to_str().unwrap()]);
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let mut plan = with_skills(&bench);
    plan.image = Some(image.clone());
    bench.create(&plan).await;
    let name = container(&plan);
    let at = "/data/node/.claude";
    assert_eq!(exec(&name, &["cat", &format!("{at}/own")]), "kept\n");
    let owners = exec(&name, &["stat", "-c", "%u %g %a", at, &format!("{at}/skills/mine/SKILL.md")]);
    assert_eq!(owners, "0 0 750\n1000 1001 644\n", "what the image has stays as it is");
    bench.backend.remove(&plan.instance).await.unwrap();
    docker(["rmi", "--force", &image]);
}

#[tokio::test]
async fn what_is_mounted_in_the_home_is_left_alone() {
    let Some(bench) = Bench::new() else { return };
    let mut plan = with_skills(&bench);
    let theirs = bench.dir().join("theirs");
    fs::create_dir(&theirs).unwrap();
    plan.mounts = vec![format!("{}:/home/agent/.claude", theirs.display()).parse().unwrap()];
    let steps = bench.create(&plan).await;
    assert!(
        steps.iter().any(|step| step.contains("no skills were copied into /home/agent/.claude/skills")),
        "{steps:?}"
    );
    assert_eq!(fs::read_dir(&theirs).unwrap().count(), 0);
    assert_eq!(as_agent(&container(&plan), "cat ~/.agents/skills/mine/SKILL.md"), "how we do it");
    bench.backend.remove(&plan.instance).await.unwrap();
}

#[tokio::test]
async fn the_operators_rules_for_screens_count_in_a_container() {
    let Some(bench) = Bench::new() else { return };
    fs::create_dir_all(bench.paths.rules()).unwrap();
    let rules = "[[rule]]\nname = \"ask\"\nagent = \"robot\"\nstatus = \"question\"\nwhen = [{ region = \"bottom 2\", regex = '\\[y/N\\]$' }]\nprompt = ['^(.*\\?) \\[y/N\\]$']\n";
    fs::write(bench.paths.rules().join("robot.toml"), rules).unwrap();
    fs::write(bench.paths.rules().join("notes.txt"), "no rules").unwrap();
    let mut plan = bench.plan("");
    plan.command.clear();
    plan.agent = Some("robot".into());
    plan.agents = vec![AgentEntry {
        id: "robot".into(),
        command: ["sh", "-c", "printf 'Delete the branch? [y/N]'; read -r line"].map(String::from).to_vec(),
        ..AgentEntry::default()
    }];
    bench.create(&plan).await;
    let begin = std::time::Instant::now();
    let session = loop {
        let session = bench.status(&plan.instance).await.sessions.remove(0);
        if matches!(session.status, AgentStatus::Question { .. }) {
            break session;
        }
        assert!(begin.elapsed().as_secs() < 60, "never a question: {session:?}");
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    };
    assert_eq!(session.cause.evidence, "rule robot/ask");
    let name = container(&plan);
    assert_eq!(exec(&name, &["ls", "/jackin/run/rules"]), "robot.toml\n");
    let spied = docker(["exec", "--user", "1000", &name, "ls", "/jackin/run/rules"]);
    assert!(!spied.status.success(), "an agent has no business there");
    bench.backend.remove(&plan.instance).await.unwrap();
    assert!(!bench.paths.run_dir(&plan.instance).exists());
}
