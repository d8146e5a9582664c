//! Images: whether one is there, and pulling it if not.

use std::collections::HashMap;
use std::time::Duration;

use bollard::Docker;
use bollard::models::{CreateImageInfo, ImageInspect};
use bollard::query_parameters::CreateImageOptionsBuilder;
use futures_util::StreamExt;

use super::super::{BackendError, Steps};
use super::connection::{ASK, Connection, Trouble, within};
use super::registry;

/// How long a pull may say nothing at all.
const SILENCE: Duration = Duration::from_secs(90);

/// How many layers of an image are counted; no image has more.
const MOST_LAYERS: usize = 512;

/// The image, pulled if the engine does not have it.
pub(super) async fn ensure(
    engine: &Connection,
    docker: &Docker,
    image: &str,
    step: &mut Steps<'_>,
) -> Result<ImageInspect, BackendError> {
    match within(ASK, docker.inspect_image(image)).await {
        Err(trouble) if trouble.is_missing() => {}
        Err(trouble) => return Err(engine.told(&format!("look at the image {image}"), trouble)),
        Ok(found) => return Ok(found),
    }
    step(&format!("pulling {image}"));
    let (name, tag) = split(image);
    let mut options = CreateImageOptionsBuilder::new().from_image(name);
    if let Some(tag) = tag {
        options = options.tag(tag);
    }
    let login = registry::login(image).await.unwrap_or_else(|why| {
        step(&format!("warning: pulling without a login: {why}"));
        None
    });
    let mut pull = Box::pin(docker.create_image(Some(options.build()), None, login));
    let mut progress = Progress::default();
    loop {
        let said = match tokio::time::timeout(SILENCE, pull.next()).await {
            Err(_) => return Err(engine.told(&format!("pull {image}"), Trouble::Slow(SILENCE))),
            Ok(None) => break,
            Ok(Some(said)) => said,
        };
        if let Some(line) = said.as_ref().ok().and_then(|info| progress.line(image, info)) {
            step(&line);
        }
        let failure = match said {
            Err(error) => Some(error.to_string()),
            Ok(info) => info.error_detail.map(|error| error.message.unwrap_or_default()),
        };
        if let Some(why) = failure {
            return Err(BackendError::failed(
                format!("pull {image}"),
                format!(
                    "{why}. Check the name; if it needs a login, log in first (`docker login`); if it is built on another \
                     machine, bring it to the engine (`docker load`)"
                ),
            ));
        }
    }
    let pulled = within(ASK, docker.inspect_image(image)).await;
    pulled.map_err(|trouble| engine.told(&format!("find the image {image} after it was pulled"), trouble))
}

/// Name and tag. Without a tag an engine would pull all of them.
fn split(image: &str) -> (&str, Option<&str>) {
    if image.contains('@') {
        return (image, None);
    }
    let name_begins = image.rfind('/').map_or(0, |slash| slash + 1);
    match image[name_begins..].rfind(':') {
        Some(colon) => (&image[..name_begins + colon], Some(&image[name_begins + colon + 1..])),
        None => (image, Some("latest")),
    }
}

/// What of a pull is there.
#[derive(Default)]
struct Progress {
    layers: HashMap<String, (i64, i64)>,
    told: Option<i64>,
}

impl Progress {
    /// A line whenever another tenth is there: lines may go to a file.
    fn line(&mut self, image: &str, info: &CreateImageInfo) -> Option<String> {
        let (Some(id), Some(detail)) = (&info.id, &info.progress_detail) else { return None };
        // A layer is downloaded first and unpacked then; only the first is counted.
        if info.status.as_deref() != Some("Downloading") {
            return None;
        }
        let (current, total) = (detail.current?.max(0), detail.total.filter(|total| *total > 0)?);
        if self.layers.len() == MOST_LAYERS && !self.layers.contains_key(id) {
            return None;
        }
        self.layers.insert(id.clone(), (current.min(total), total));
        let (current, total) = self
            .layers
            .values()
            .fold((0i64, 0i64), |sum, layer| (sum.0.saturating_add(layer.0), sum.1.saturating_add(layer.1)));
        let tenth = current / (total / 10).max(1);
        if self.told == Some(tenth) {
            return None;
        }
        self.told = Some(tenth);
        let megabytes = |bytes: i64| bytes as f64 / 1e6;
        Some(format!("pulling {image}: {:.1} of {:.1} MB", megabytes(current), megabytes(total)))
    }
}

#[cfg(test)]
mod tests {
    use bollard::models::ProgressDetail;

    use super::*;

    #[test]
    fn an_image_without_a_tag_is_its_latest() {
        assert_eq!(split("debian"), ("debian", Some("latest")));
        assert_eq!(split("debian:12"), ("debian", Some("12")));
        assert_eq!(split("reg.example:5000/a/b"), ("reg.example:5000/a/b", Some("latest")));
        assert_eq!(split("reg.example:5000/a/b:1"), ("reg.example:5000/a/b", Some("1")));
        assert_eq!(split("a@sha256:00"), ("a@sha256:00", None));
    }

    #[test]
    fn progress_is_told_by_the_tenth() {
        let mut progress = Progress::default();
        let mut lines = Vec::new();
        for current in (0..=20_000_000).step_by(100_000) {
            let info = CreateImageInfo {
                id: Some("a".into()),
                status: Some("Downloading".into()),
                progress_detail: Some(ProgressDetail { current: Some(current), total: Some(20_000_000) }),
                ..CreateImageInfo::default()
            };
            lines.extend(progress.line("x", &info));
        }
        assert_eq!(lines.len(), 11, "{lines:?}");
        assert_eq!(lines[5], "pulling x: 10.0 of 20.0 MB");
    }
}
