//! Files on their way into containers and out of them: the engine takes and gives them as tar archives.

use std::io::{self, Read};

use bollard::Docker;
use bollard::errors::Error;
use bollard::query_parameters::{DownloadFromContainerOptionsBuilder, UploadToContainerOptionsBuilder};
use futures_util::StreamExt;

use super::connection::{ASK, CHANGE, Trouble, within};

/// An archive that is being filled.
pub(super) struct Archive(tar::Builder<Vec<u8>>);

/// Whose a file is, and who may do what with it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub(super) uid: u32,
    pub(super) gid: u32,
    pub(super) mode: u32,
}

impl Access {
    /// Root's own.
    pub(super) const fn root(mode: u32) -> Self {
        Self { uid: 0, gid: 0, mode }
    }
}

impl Archive {
    pub(super) fn new() -> Self {
        Self(tar::Builder::new(Vec::new()))
    }

    /// Adds a directory; one that is there gets this owner and mode.
    pub(super) fn dir(&mut self, path: &str, access: Access) -> io::Result<()> {
        self.add(&format!("{path}/"), tar::EntryType::Directory, access, &[])
    }

    /// Adds a file.
    pub(super) fn file(&mut self, path: &str, access: Access, bytes: &[u8]) -> io::Result<()> {
        self.add(path, tar::EntryType::Regular, access, bytes)
    }

    fn add(&mut self, path: &str, kind: tar::EntryType, access: Access, bytes: &[u8]) -> io::Result<()> {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(kind);
        header.set_uid(access.uid.into());
        header.set_gid(access.gid.into());
        header.set_mode(access.mode);
        header.set_size(bytes.len() as u64);
        header.set_mtime(0);
        self.0.append_data(&mut header, path, bytes)
    }

    /// Unpacks it in a container, which need not run.
    pub(super) async fn unpack(self, docker: &Docker, container: &str, at: &str) -> Result<(), Trouble> {
        let bytes = self.0.into_inner().map_err(|err| Trouble::Broken(Error::IOError { err }))?;
        let options = UploadToContainerOptionsBuilder::new().path(at).build();
        let body = bollard::body_full(bytes.into());
        within(CHANGE, docker.upload_to_container(container, Some(options), body)).await
    }
}

/// A file of a container, which need not run, if it is there and not larger than `most`.
pub(super) async fn read(
    docker: &Docker,
    container: &str,
    path: &str,
    most: usize,
) -> Result<Option<Vec<u8>>, Trouble> {
    let options = DownloadFromContainerOptionsBuilder::new().path(path).build();
    let collect = async {
        let mut archive = Vec::new();
        let mut stream = Box::pin(docker.download_from_container(container, Some(options)));
        while let Some(chunk) = stream.next().await {
            archive.extend_from_slice(&chunk?);
            // A header and the padding come with the file.
            if archive.len() > most + 8 * 1024 {
                return Ok(None);
            }
        }
        Ok(Some(archive))
    };
    match within(ASK, collect).await {
        Ok(archive) => Ok(archive.and_then(|archive| first_file(&archive))),
        Err(trouble) if trouble.is_missing() => Ok(None),
        Err(trouble) => Err(trouble),
    }
}

fn first_file(archive: &[u8]) -> Option<Vec<u8>> {
    let mut archive = tar::Archive::new(archive);
    let mut entry = archive.entries().ok()?.next()?.ok()?;
    // A link would have been followed into the archive by nobody.
    if !entry.header().entry_type().is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    entry.read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_in_comes_out() {
        let mut archive = Archive::new();
        archive.file("a/agent.toml", Access { uid: 5, gid: 6, mode: 0o600 }, b"x = 1\n").unwrap();
        archive.dir("a", Access::root(0o700)).unwrap();
        let bytes = archive.0.into_inner().unwrap();
        assert_eq!(first_file(&bytes).unwrap(), b"x = 1\n");
        let entry = |entry: tar::Entry<'_, &[u8]>| {
            let header = entry.header();
            (
                header.uid().unwrap(),
                header.gid().unwrap(),
                header.mode().unwrap(),
                header.entry_type().is_dir(),
            )
        };
        let entries: Vec<_> =
            tar::Archive::new(&bytes[..]).entries().unwrap().map(|found| entry(found.unwrap())).collect();
        assert_eq!(entries, [(5, 6, 0o600, false), (0, 0, 0o700, true)]);
        assert_eq!(first_file(b"no archive at all"), None);
    }
}
