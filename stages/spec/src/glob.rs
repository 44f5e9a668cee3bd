//! glob: patterns of names, as settings have them.
//!
//! promises  a pattern fits a whole name: `*` is any run of characters, `?` any one
//! never     reads a file

/// Whether a glob matches the whole name: `*` is any run of characters, `?` any one.
pub fn glob_fits(glob: &str, name: &str) -> bool {
    let (glob, name): (Vec<char>, Vec<char>) = (glob.chars().collect(), name.chars().collect());
    // The position of the last `*`, and how much of the name it has matched.
    let mut star: Option<(usize, usize)> = None;
    let (mut at, mut read) = (0, 0);
    while read < name.len() {
        match glob.get(at) {
            Some('*') => {
                star = Some((at, read));
                at += 1;
            }
            Some(&wanted) if wanted == '?' || wanted == name[read] => {
                (at, read) = (at + 1, read + 1)
            }
            _ => match star {
                Some((place, taken)) => {
                    star = Some((place, taken + 1));
                    (at, read) = (place + 1, taken + 1);
                }
                None => return false,
            },
        }
    }
    glob[at..].iter().all(|&rest| rest == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_fit_whole_names() {
        for (glob, name, fits) in [
            ("*", "", true),
            ("", "a", false),
            ("*weight", "gcn.gcn.0.linear.0.weight", true),
            ("*.linear.?.weight", "gcn.gcn.0.linear.0.weight", true),
            ("*.linear.?.weight", "gcn.gcn.0.linear.10.weight", false),
            ("gcn*0*weight", "gcn.gcn.0.linear.0.weight", true),
            ("gcn", "gcn.gcn", false),
            ("*a*b", "xaxbxb", true),
            ("a.b", "axb", false),
        ] {
            assert_eq!(glob_fits(glob, name), fits, "{glob} {name}");
        }
    }
}
