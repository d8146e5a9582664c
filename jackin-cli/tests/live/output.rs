use crate::scene::Scene;
use crate::support::eventually;

#[test]
fn tags_are_read_off_plain_lines_where_that_is_configured() {
    let scene = Scene::new();
    let _capsule = scene.start("initial_agent = \"robot\"\n[[agents]]\nid = \"robot\"\nplain_tags = true\n");
    // The agent is asked to say something, and its terminal echoes that.
    scene.tell(
        "1",
        "run printf '<jackin:repo>/%s</jackin:repo>\\n' said; : '<jackin:repo>/typed</jackin:repo>'",
    );
    eventually("the tag is there", || {
        !scene.place.ctl_json(&["tags"])["tags"].as_array().unwrap().is_empty()
    });
    scene.tell_and_wait("1", "run true");
    let tags = scene.place.ctl_json(&["tags"]);
    assert_eq!(tags["tags"].as_array().unwrap().len(), 1, "{tags}");
    assert_eq!(tags["tags"][0]["value"], "/said");
    let observed = scene.events_named("tag-observed");
    assert_eq!((observed.len(), &observed[0]["plain"]), (1, &true.into()));
}

#[test]
fn plain_lines_are_nothing_where_it_is_not() {
    let scene = Scene::new();
    let _capsule = scene.start("initial_agent = \"robot\"\n[[agents]]\nid = \"robot\"\n");
    scene.tell_and_wait("1", "run printf '<jackin:repo>/said</jackin:repo>\\n'");
    // An event that comes after everything that was printed before.
    scene.tell_and_wait("1", "run printf '\\033]2;title\\007'");
    eventually("the title came", || !scene.events_named("title-changed").is_empty());
    assert!(scene.events_named("tag-observed").is_empty());
}
