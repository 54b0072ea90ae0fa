//! Where a path really leads, also before it exists.

use std::path::{Component, Path, PathBuf};

/// Whether `path` is `dir` or lies below it, links followed.
pub fn is_inside(path: &Path, dir: &Path) -> bool {
    real(path).starts_with(real(dir))
}

/// Every part that exists is followed; the rest is taken as it is written.
fn real(path: &Path) -> PathBuf {
    let mut real = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::ParentDir => drop(real.pop()),
            Component::Normal(name) => {
                real.push(name);
                real = real.canonicalize().unwrap_or(real);
            }
            Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
        }
    }
    real
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_path_is_inside_by_where_it_leads() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        std::fs::create_dir_all(at("work/below")).unwrap();
        std::fs::create_dir(at("data")).unwrap();
        symlink(at("work/below"), at("link")).unwrap();
        symlink(at("data"), at("work/away")).unwrap();
        let table = [
            ("work", true),
            ("work/below", true),
            ("work/missing/deeper", true),
            ("missing/../work/missing", true),
            ("link", true),
            ("link/missing", true),
            ("data/../link/../missing", true),
            ("data", false),
            ("worker", false),
            ("work/../data", false),
            ("work/away/missing", false),
        ];
        for (path, inside) in table {
            assert_eq!(is_inside(&at(path), &at("work")), inside, "{path}");
        }
    }
}
