use crate::scene::{Scene, corpus};

const CLAUDE: &str = "initial_agent = \"claude\"\n[[agents]]\nid = \"claude\"\n";

#[test]
fn a_dialog_on_the_screen_is_a_question_until_it_is_gone() {
    let Some(dialog) = corpus("screens/claude-v2.1.29-bash_permission_dialog.tui.txt") else { return };
    let Some(answered) = corpus("screens/claude-v2.1.29-after_response.tui.txt") else { return };
    let scene = Scene::new();
    let _capsule = scene.start(CLAUDE);
    // Nothing may stand below the dialog, so the agent must not speak after it has drawn it.
    scene.tell("1", &format!("run printf '\\033[2J\\033[H'; cat '{}'; read -r answer", dialog.display()));
    let asked = scene.wait_for(1, "question", "screen");
    assert_eq!(asked["attention"], "blocked");
    assert!(asked["cause"]["evidence"].as_str().unwrap().starts_with("rule claude/"), "{asked}");
    scene.tell("1", "x");
    scene.tell("1", &format!("run printf '\\033[2J\\033[H'; cat '{}'; read -r answer", answered.display()));
    scene.wait_for(1, "idle", "screen");
}

#[test]
fn a_title_and_progress_count_as_the_screen_does() {
    let scene = Scene::new();
    std::fs::create_dir(scene.place.dir().join("rules")).unwrap();
    let rules = "[[rule]]\nname = \"title\"\nagent = \"robot\"\nstatus = \"busy\"\nwhen = [{ region = \"title\", regex = '^hm' }]\n\
        [[rule]]\nname = \"ready\"\nagent = \"robot\"\nstatus = \"idle\"\nwhen = [{ region = \"title\", text = \"ready\" }]\n";
    std::fs::write(scene.place.dir().join("rules/robot.toml"), rules).unwrap();
    let _capsule = scene.start("initial_agent = \"robot\"\n[[agents]]\nid = \"robot\"\n");
    scene.tell("1", "run printf '\\033]2;hm, hm\\007'");
    let busy = scene.wait_for(1, "busy", "screen");
    assert_eq!((&busy["cause"]["evidence"], &busy["title"]), (&"rule robot/title".into(), &"hm, hm".into()));
    scene.tell("1", "run printf '\\033]2;ready\\007'");
    scene.wait_for(1, "idle", "screen");
    scene.tell("1", "run printf '\\033]2;\\007\\033]9;4;3\\007'");
    scene.wait_for(1, "busy", "terminal-mark");
}
