//! Files that users hand in, read up to a size: a mistaken path (`/dev/zero`, a disk image) must not fill the memory.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The bytes of the file at `path`, which may be a pipe. Fails where there are more than `most_mib` MiB.
pub fn read(path: &Path, most_mib: u64) -> io::Result<Vec<u8>> {
    read_from(File::open(path)?, most_mib)
}

/// The bytes that `reader` has left. Fails where there are more than `most_mib` MiB.
pub fn read_from(reader: impl Read, most_mib: u64) -> io::Result<Vec<u8>> {
    let most = most_mib << 20;
    let mut bytes = Vec::new();
    reader.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("larger than {most_mib} MiB")));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_large_is_not_read_to_its_end() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("zeros");
        File::create(&path).and_then(|file| file.set_len((1 << 20) + 1)).expect("a sparse file");
        assert!(read(&path, 1).expect_err("too large").to_string().contains("larger than 1 MiB"));
        assert_eq!(read(&path, 2).expect("fits").len(), (1 << 20) + 1);
    }
}
