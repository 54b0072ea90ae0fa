//! A package of npm's that holds an agent.

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Package {
    /// As npm is asked for it, with the version.
    spec: String,
    /// Its program, where npm cannot tell which of several is meant.
    program: Option<String>,
}

impl Package {
    /// `spec` as npm takes it: `name@version`, or the name alone for the newest.
    pub fn new(spec: impl Into<String>, program: Option<String>) -> Package {
        Package { spec: spec.into(), program }
    }

    /// The first character of a name may be an `@` too.
    fn parts(&self) -> (&str, Option<&str>) {
        match self.spec.rsplit_once('@') {
            Some((name, version)) if !name.is_empty() => (name, Some(version)),
            _ => (&self.spec, None),
        }
    }

    pub fn spec(&self) -> &str {
        &self.spec
    }

    pub fn name(&self) -> &str {
        self.parts().0
    }

    /// None where it is whatever is newest.
    pub fn version(&self) -> Option<&str> {
        self.parts().1.filter(|version| version.starts_with(|first: char| first.is_ascii_digit()))
    }

    /// Of npx, to run the program with these arguments. It is not to ask whether it may install it: a person has said so.
    pub(super) fn npx_arguments(&self, args: &[String]) -> Vec<String> {
        let mut all = vec!["--yes".to_owned()];
        match &self.program {
            Some(program) => all.extend(["--package".to_owned(), self.spec.clone(), program.clone()]),
            None => all.push(self.spec.clone()),
        }
        all.extend_from_slice(args);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_has_a_name_and_perhaps_a_version() {
        for (spec, name, version) in [
            ("@a/b@1.2.3", "@a/b", Some("1.2.3")),
            ("@a/b", "@a/b", None),
            ("b@2", "b", Some("2")),
            ("b@latest", "b", None),
            ("b", "b", None),
        ] {
            let package = Package::new(spec, None);
            assert_eq!((package.name(), package.version()), (name, version), "{spec}");
        }
        let several = Package::new("b@2", Some("c".into()));
        assert_eq!(several.npx_arguments(&["--acp".into()]), ["--yes", "--package", "b@2", "c", "--acp"]);
    }
}
