//! import_cycles: files of one crate that need each other, found from what they name.
//!
//! A file depends on another when it names an item of that file, by a `use` tree or by a path in
//! code. Re-exports are followed to the file that defines the item. Not counted are the declaration
//! `mod child;`, a re-export that its own file does not use, code for tests, and what a child takes
//! of a file that encloses it: there a module holds what its children share.
//! Files that reach each other form a cycle: none of them can be read, tested or moved alone.
//!
//! promises  a new cycle, and one with more files, is printed as file -> file (item, line) -> ...
//! limits    it knows no types: the file of a method is not looked for; a name that a macro makes
//!           belongs to the module that the path names
use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque},
    ops::Range,
};

use crate::tidy::{manifests, none, ratchet, rust, sinners};

/// The list of files in cycles, with the number of files of their cycle.
const LIST: &str = "import_cycles.txt";
/// A trait of element types names every operation that is compiled for them: a table of dispatch,
/// whose dependencies are no layers.
const DISPATCH: (&str, &str) = ("kernels/cpu/src/scalar.rs", "kernels/cpu/src/element_types.rs");
/// How many re-exports and aliases may stand between a name and its item.
const HOPS_MOST: usize = 16;

/// A word, a number, `::` or one other character of code; a string is `"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Token<'a> {
    text: &'a str,
    line: usize,
}

impl Token<'_> {
    fn is_word(&self) -> bool {
        self.text.starts_with(|c: char| c.is_alphabetic() || c == '_')
    }
}

/// The tokens of a source, without its comments.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let bytes = text.as_bytes();
    let (mut at, mut line) = (0, 1);
    let mut found = Vec::new();
    while at < bytes.len() {
        let end = token_end(text, at);
        let token = &text[at..end];
        match bytes[at] {
            _ if token.starts_with("//") || token.starts_with("/*") => {}
            byte if byte.is_ascii_whitespace() => {}
            _ if token.ends_with('"') => found.push(Token { text: "\"", line }),
            b'\'' => {}
            _ => found.push(Token { text: token.strip_prefix("r#").unwrap_or(token), line }),
        }
        line += token.matches('\n').count();
        at = end;
    }
    found
}

/// Where the token, the comment or the blank that begins at a byte ends.
fn token_end(text: &str, at: usize) -> usize {
    let rest = &text[at..];
    let first = rest.chars().next().map_or(1, char::len_utf8);
    let words =
        |rest: &str| rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
    if rest.starts_with("//") {
        return at + rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return at + comment_length(rest);
    }
    if rest.starts_with("::") {
        return at + 2;
    }
    if rest.starts_with('"') {
        return at + string_length(rest);
    }
    if let Some(quoted) = rest.strip_prefix('\'') {
        let width = quoted.chars().next().map_or(0, char::len_utf8);
        if quoted.starts_with('\\') {
            return at + 3 + quoted[2..].find('\'').map_or(0, |end| end + 1);
        }
        let is_character = quoted[width..].starts_with('\'');
        return at + if is_character { width + 2 } else { 1 + words(quoted) };
    }
    let word = words(rest);
    let after = &rest[word..];
    match &rest[..word] {
        "b" | "c" if after.starts_with('"') => at + word + string_length(after),
        "b" if after.starts_with('\'') => token_end(text, at + word),
        "r" | "br" | "cr" if after.starts_with(['#', '"']) => {
            let marks = after.len() - after.trim_start_matches('#').len();
            let opened = &after[marks..];
            if !opened.starts_with('"') {
                return at + word + 1 + words(opened);
            }
            let close = format!("\"{}", "#".repeat(marks));
            let length = opened[1..].find(&close).map_or(opened.len(), |end| end + 1);
            at + (word + marks + length + close.len()).min(rest.len())
        }
        _ => at + word.max(first),
    }
}

/// The length of a comment in `/*` and `*/`, which may hold others.
fn comment_length(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        match text.as_bytes()[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// The length of a string in quotes, which may escape quotes.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The tokens of a source without what stands under `#[cfg(test)]` or `#[test]`.
fn shipped<'a>(all: &[Token<'a>]) -> Vec<Token<'a>> {
    let mut kept = Vec::new();
    let mut at = 0;
    while at < all.len() {
        let attribute = attribute_end(all, at);
        let is_of_tests = attribute.is_some_and(|end| {
            let words: Vec<&str> = all[at + 2..end - 1].iter().map(|token| token.text).collect();
            words == ["test"]
                || words == ["cfg", "(", "test", ")"]
                || words.starts_with(&["cfg", "(", "all", "(", "test"])
        });
        let end = attribute.unwrap_or(at + 1);
        match is_of_tests {
            true => at = annotated_end(all, end),
            false => {
                kept.extend_from_slice(&all[at..end]);
                at = end;
            }
        }
    }
    kept
}

/// Where an attribute that begins here ends.
fn attribute_end(all: &[Token], at: usize) -> Option<usize> {
    let begins = all[at].text == "#" && all.get(at + 1).is_some_and(|token| token.text == "[");
    begins.then(|| closed(all, at + 1))
}

/// The place after the bracket that closes the one here.
fn closed(all: &[Token], at: usize) -> usize {
    let mut depth = 0;
    for (place, token) in all.iter().enumerate().skip(at) {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return place + 1;
        }
    }
    all.len()
}

/// Where the item, the field, the statement or the arm ends that an attribute before it is about.
fn annotated_end(all: &[Token], mut at: usize) -> usize {
    while let Some(end) = all.get(at).and_then(|_| attribute_end(all, at)) {
        at = end;
    }
    let is_item = all[at..].iter().take(6).any(|token| {
        ["fn", "mod", "struct", "enum", "impl", "trait", "use", "const", "static", "type"]
            .contains(&token.text)
    });
    let is_use = all[at..].iter().take(6).any(|token| token.text == "use");
    while at < all.len() {
        match all[at].text {
            ";" => return at + 1,
            "," if !is_item => return at + 1,
            "}" | ")" | "]" => return at,
            "{" if !is_use => {
                let end = closed(all, at);
                let is_more = all.get(end).is_some_and(|token| [";", ","].contains(&token.text));
                return end + usize::from(is_more);
            }
            "(" | "[" | "{" => at = closed(all, at),
            _ => at += 1,
        }
    }
    at
}

/// What a name of a module stands for.
#[derive(Debug)]
enum Meaning {
    /// An item that the module defines.
    Item,
    /// A child, by its number.
    Module(usize),
    /// Something imported, by its path.
    Import(Vec<String>),
}

/// A module: its file, its place in the tree, its names.
#[derive(Debug)]
struct Module {
    file: usize,
    parent: Option<usize>,
    names: HashMap<String, Vec<Meaning>>,
    globs: Vec<Vec<String>>,
}

/// A path that code names, or a `use` of one.
#[derive(Debug)]
struct Mention {
    module: usize,
    path: Vec<String>,
    line: usize,
    /// The name that a re-export gives it.
    exported: Option<String>,
}

/// A name that a `use` brings into a module.
struct Import {
    name: String,
    line: usize,
    is_export: bool,
}

/// What a path leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Found {
    Module(usize),
    Item { file: usize, name: String },
}

/// Where the files of a module's children are.
struct Files<'a> {
    folder: String,
    sources: &'a HashMap<String, String>,
}

impl Files<'_> {
    fn child(&self, name: &str) -> Option<String> {
        let Files { folder, sources } = self;
        let paths = [format!("{folder}/{name}.rs"), format!("{folder}/{name}/mod.rs")];
        paths.into_iter().find(|path| sources.contains_key(path))
    }
}

/// The places of a group's members, which commas separate.
fn parts(tree: &[Token], inside: Range<usize>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let (mut first, mut at) = (inside.start, inside.start);
    while at < inside.end {
        match tree[at].text {
            "," => {
                found.push(first..at);
                (first, at) = (at + 1, at + 1);
            }
            "{" => at = closed(tree, at),
            _ => at += 1,
        }
    }
    found.push(first..inside.end);
    found
}

/// The modules of one root, a `lib.rs` or a `main.rs`, and all that they name.
#[derive(Debug, Default)]
struct Tree {
    /// The name that the crate has in its own paths.
    name: String,
    files: Vec<String>,
    modules: Vec<Module>,
    mentions: Vec<Mention>,
    /// Every word of a file outside `use`, for the re-exports that it uses itself.
    words: Vec<HashSet<String>>,
}

/// The place where a file depends on another: the item, the line.
type Dependencies = BTreeMap<(usize, usize), (String, usize)>;

impl Tree {
    /// The tree below a root file.
    fn read(name: &str, root: &str, sources: &HashMap<String, String>) -> Tree {
        let mut tree = Tree { name: name.to_owned(), ..Tree::default() };
        tree.read_file(root, None, sources);
        tree
    }

    fn read_file(
        &mut self,
        path: &str,
        parent: Option<usize>,
        sources: &HashMap<String, String>,
    ) -> usize {
        let file = self.files.len();
        self.files.push(path.to_owned());
        self.words.push(HashSet::new());
        let module = self.add_module(file, parent);
        let all = shipped(&tokens(&sources[path]));
        let (folder, stem) = path.rsplit_once('/').unwrap_or(("", path));
        let folder = match stem {
            "mod.rs" | "lib.rs" | "main.rs" => folder.to_owned(),
            _ => path.trim_end_matches(".rs").to_owned(),
        };
        self.read_module(module, &all, &Files { folder, sources });
        module
    }

    fn add_module(&mut self, file: usize, parent: Option<usize>) -> usize {
        let (names, globs) = (HashMap::new(), Vec::new());
        self.modules.push(Module { file, parent, names, globs });
        self.modules.len() - 1
    }

    fn define(&mut self, module: usize, name: &str, meaning: Meaning) {
        self.modules[module].names.entry(name.to_owned()).or_default().push(meaning);
    }

    /// Reads a module's items, uses and paths; `around` says where its children are.
    fn read_module(&mut self, module: usize, all: &[Token], around: &Files) {
        // Braces of a macro's call at the top are no body: what stands in them are items.
        let mut depth = 0usize;
        let mut transparent = 0usize;
        let mut at = 0;
        while at < all.len() {
            let text = |place: usize| all.get(place).map_or("", |token| token.text);
            match text(at) {
                "{" if depth == 0 && at > 0 && text(at - 1) == "!" => transparent += 1,
                "{" => depth += 1,
                "}" if depth == 0 => transparent = transparent.saturating_sub(1),
                "}" => depth -= 1,
                "use" if text(at + 1) != "<" => {
                    at = self.read_use(module, all, at);
                    continue;
                }
                "mod" if depth == 0 && text(at + 2) == ";" => {
                    if let Some(path) = around.child(text(at + 1)) {
                        let child = self.read_file(&path, Some(module), around.sources);
                        self.define(module, text(at + 1), Meaning::Module(child));
                    }
                    at += 3;
                    continue;
                }
                "mod" if text(at + 2) == "{" => {
                    let child = self.add_module(self.modules[module].file, Some(module));
                    self.define(module, text(at + 1), Meaning::Module(child));
                    let end = closed(all, at + 2);
                    let folder = format!("{}/{}", around.folder, text(at + 1));
                    let inside = Files { folder, sources: around.sources };
                    self.read_module(child, &all[at + 3..end - 1], &inside);
                    at = end;
                    continue;
                }
                "macro_rules" => self.define(module, text(at + 2), Meaning::Item),
                "fn" | "struct" | "enum" | "union" | "trait" | "type" | "const" | "static"
                    if depth == 0 =>
                {
                    let name = if text(at + 1) == "mut" { at + 2 } else { at + 1 };
                    if all.get(name).is_some_and(Token::is_word) {
                        self.define(module, text(name), Meaning::Item);
                    }
                }
                _ => {}
            }
            at = self.read_path(module, all, at);
        }
    }

    /// Notes the path that begins here, if one does, and says where to go on.
    fn read_path(&mut self, module: usize, all: &[Token], at: usize) -> usize {
        let text = |back: usize| at.checked_sub(back).map_or("", |place| all[place].text);
        let is_member = text(1) == "." && text(2) != "." || text(1) == "::";
        if !all[at].is_word() || is_member {
            return at + 1;
        }
        let mut end = at + 1;
        while all.get(end).is_some_and(|token| token.text == "::")
            && all.get(end + 1).is_some_and(Token::is_word)
        {
            end += 2;
        }
        let path: Vec<String> =
            all[at..end].iter().step_by(2).map(|token| token.text.to_owned()).collect();
        self.words[self.modules[module].file].insert(path[0].clone());
        // A word alone may be a variable, unless it is written like an item or called.
        let is_called = all.get(end).is_some_and(|token| ["(", "!"].contains(&token.text));
        let is_item = path[0].starts_with(char::is_uppercase) || is_called && text(1) != "fn";
        if path.len() > 1 || is_item {
            self.mentions.push(Mention { module, path, line: all[at].line, exported: None });
        }
        end
    }

    /// Reads the `use` at a place, and says where it ends.
    fn read_use(&mut self, module: usize, all: &[Token], at: usize) -> usize {
        let end = at + all[at..].iter().position(|token| token.text == ";").unwrap_or(0);
        let before = at.checked_sub(1).map_or("", |place| all[place].text);
        let is_export = before == "pub" || before == ")";
        self.read_tree(module, &all[at + 1..end], &[], is_export);
        end + 1
    }

    /// Reads one tree of a `use`: a path, an alias, a glob or a group.
    fn read_tree(&mut self, module: usize, tree: &[Token], before: &[String], is_export: bool) {
        let mut path = before.to_vec();
        let Some(line) = tree.first().map(|token| token.line) else { return };
        for (at, token) in tree.iter().enumerate() {
            match token.text {
                "{" => {
                    for part in parts(tree, at + 1..closed(tree, at) - 1) {
                        self.read_tree(module, &tree[part], &path, is_export);
                    }
                    return;
                }
                "*" => {
                    let exported = is_export.then(|| "*".to_owned());
                    self.mentions.push(Mention { module, path: path.clone(), line, exported });
                    self.modules[module].globs.push(path);
                    return;
                }
                "as" => {
                    let alias = tree[at + 1].text.to_owned();
                    return self.import(module, path, Import { name: alias, line, is_export });
                }
                "self" if !path.is_empty() => {}
                // A path from the root of all crates.
                "::" if at == 0 && before.is_empty() => return,
                "::" => {}
                word => path.push(word.to_owned()),
            }
        }
        let name = path.last().cloned().unwrap_or_default();
        self.import(module, path, Import { name, line, is_export });
    }

    fn import(&mut self, module: usize, path: Vec<String>, import: Import) {
        let Import { name, line, is_export } = import;
        let exported = is_export.then(|| name.clone());
        self.mentions.push(Mention { module, path: path.clone(), line, exported });
        self.define(module, &name, Meaning::Import(path));
    }

    /// What a path in a module leads to; `None` outside of the crate.
    fn resolve(&self, module: usize, path: &[String], way: &mut Way) -> Option<Found> {
        let mut here = None;
        for (at, name) in path.iter().enumerate() {
            let is_last = at + 1 == path.len();
            here = match (here, name.as_str()) {
                (None, "crate") => Some(Found::Module(0)),
                (None, "self") => Some(Found::Module(module)),
                (None, "super") => self.modules[module].parent.map(Found::Module),
                (None, _) => match self.look_up(module, name, is_last, way) {
                    None if *name == self.name => Some(Found::Module(0)),
                    found => found,
                },
                (Some(Found::Module(of)), "super") => self.modules[of].parent.map(Found::Module),
                (Some(Found::Module(of)), _) => {
                    let made = Found::Item { file: self.modules[of].file, name: name.clone() };
                    Some(self.look_up(of, name, is_last, way).unwrap_or(made))
                }
                (item, _) => return item,
            };
            here.as_ref()?;
        }
        here
    }

    /// What a name of a module stands for; the last of a path is an item rather than a module.
    fn look_up(&self, module: usize, name: &str, is_last: bool, way: &mut Way) -> Option<Found> {
        if way.len() > HOPS_MOST || !way.insert((module, name.to_owned(), is_last)) {
            return None;
        }
        let Module { file, names, globs, .. } = &self.modules[module];
        let mut found = Vec::new();
        for meaning in names.get(name).into_iter().flatten() {
            found.extend(match meaning {
                Meaning::Item => Some(Found::Item { file: *file, name: name.to_owned() }),
                Meaning::Module(child) => Some(Found::Module(*child)),
                Meaning::Import(path) => self.resolve(module, path, way),
            });
        }
        let is_item = |found: &&Found| matches!(found, Found::Item { .. });
        if let Some(best) = found.iter().find(|one| is_item(one) == is_last).or(found.first()) {
            return Some(best.clone());
        }
        globs.iter().find_map(|glob| match self.resolve(module, glob, way)? {
            Found::Module(of) if of != module => self.look_up(of, name, is_last, way),
            _ => None,
        })
    }

    /// Whether a file holds a module around this one.
    fn encloses(&self, file: usize, mut module: usize) -> bool {
        while let Some(parent) = self.modules[module].parent {
            module = parent;
            if self.modules[module].file == file {
                return true;
            }
        }
        false
    }

    /// Which file depends on which.
    fn dependencies(&self) -> Dependencies {
        let mut all = Dependencies::new();
        for Mention { module, path, line, exported } in &self.mentions {
            let from = self.modules[*module].file;
            let is_unused = |name: &String| !self.words[from].contains(name);
            let is_own = path.len() == 1 && self.modules[*module].names.contains_key(&path[0]);
            if is_own || exported.as_ref().is_some_and(is_unused) {
                continue;
            }
            let found = self.resolve(*module, path, &mut Way::new());
            if let Some(Found::Item { file, name }) = found.filter(|_| !path.is_empty())
                && file != from
                && !self.encloses(file, *module)
                && (self.files[from].as_str(), self.files[file].as_str()) != DISPATCH
            {
                all.entry((from, file)).or_insert((name, *line));
            }
        }
        all
    }
}

/// The names that a search has passed: module, name, whether it is the last of its path.
type Way = HashSet<(usize, String, bool)>;

/// Every file with the files that it reaches by dependencies, itself only around a cycle.
fn reached(files: usize, all: &Dependencies) -> Vec<BTreeSet<usize>> {
    let from = |start: usize| {
        let mut seen = BTreeSet::new();
        let mut next = vec![start];
        while let Some(file) = next.pop() {
            next.extend(onward(all, file).filter(|to| seen.insert(*to)));
        }
        seen
    };
    (0..files).map(from).collect()
}

fn onward(all: &Dependencies, file: usize) -> impl Iterator<Item = usize> {
    all.range((file, 0)..=(file, usize::MAX)).map(|((_, to), _)| *to)
}

/// The number of files in the cycle of each file that is in one.
fn cycle_sizes(tree: &Tree, all: &Dependencies) -> BTreeMap<String, usize> {
    let reached = reached(tree.files.len(), all);
    let size =
        |file: usize| reached[file].iter().filter(|to| reached[**to].contains(&file)).count();
    let in_cycle = (0..tree.files.len()).filter(|file| reached[*file].contains(file));
    in_cycle.map(|file| (tree.files[file].clone(), size(file))).collect()
}

/// The files of a shortest way from a file back to it, both ends included.
fn shortest_cycle(all: &Dependencies, start: usize) -> Vec<usize> {
    let mut before = BTreeMap::new();
    let mut next = VecDeque::from([start]);
    while let Some(file) = next.pop_front() {
        for to in onward(all, file) {
            if before.contains_key(&to) {
                continue;
            }
            before.insert(to, file);
            next.push_back(to);
        }
    }
    let mut way = vec![start];
    while let Some(file) = before.get(&way[way.len() - 1]) {
        way.push(*file);
        if *file == start {
            break;
        }
    }
    way.reverse();
    way
}

/// A cycle as a reader follows it: each file with the item and the line that lead to it.
fn describe(tree: &Tree, all: &Dependencies, way: &[usize]) -> String {
    let mut text = tree.files[way[0]].clone();
    for pair in way.windows(2) {
        let (item, line) = &all[&(pair[0], pair[1])];
        text += &format!(" -> {} ({item}, line {line})", tree.files[pair[1]]);
    }
    text
}

/// The trees of all crates: one for each `lib.rs` and each `main.rs`.
fn trees() -> Vec<Tree> {
    let sources: HashMap<String, String> = rust().into_iter().collect();
    let mut found = Vec::new();
    for (folder, manifest) in manifests() {
        let name = manifest.lines().find_map(|line| line.strip_prefix("name = \"")).unwrap();
        let name = name.trim_end_matches('"').replace('-', "_");
        for (root, name) in [("lib.rs", name.as_str()), ("main.rs", "")] {
            let root = format!("{}/src/{root}", folder.display());
            found.extend(sources.contains_key(&root).then(|| Tree::read(name, &root, &sources)));
        }
    }
    found
}

#[test]
fn import_cycles_only_shrink() {
    let allowed = sinners(LIST);
    let mut found = BTreeMap::new();
    let mut grown = BTreeMap::new();
    let trees = trees();
    assert!(trees.len() > 15, "only {} crates were found", trees.len());
    for tree in &trees {
        let all = tree.dependencies();
        let sizes = cycle_sizes(tree, &all);
        for (name, size) in &sizes {
            if size > allowed.get(name).unwrap_or(&0) {
                let file = tree.files.iter().position(|file| file == name).unwrap();
                let way = shortest_cycle(&all, file);
                let members: BTreeSet<usize> = way.iter().copied().collect();
                grown.entry((&tree.files[0], members)).or_insert(describe(tree, &all, &way));
            }
        }
        found.extend(sizes);
    }
    none("new cycles, or cycles with more files", grown.into_values().collect());
    ratchet(LIST, &found);
}

/// The tree of a small crate of these files, `lib.rs` first.
fn small(files: &[(&str, &str)]) -> Tree {
    let source = |(name, text): &(&str, &str)| (format!("src/{name}"), (*text).to_owned());
    Tree::read("small", "src/lib.rs", &files.iter().map(source).collect())
}

#[test]
fn a_cycle_is_found_behind_reexports_and_aliases() {
    let tree = small(&[
        ("lib.rs", "mod one;\nmod two;\nmod user;\npub use one::Shared;\n"),
        ("one.rs", "use crate::two as other;\npub struct Shared;\n\nfn f() { other::make() }\n"),
        (
            "two/mod.rs",
            "mod inner;\nuse crate::{one::{self}, Shared as Known};\npub fn make() {}\n",
        ),
        ("two/inner.rs", "use super::*;\nfn g() { super::make() }\n"),
        ("user.rs", "use small::Shared;\nuse std::fmt;\n"),
    ]);
    let all = tree.dependencies();
    assert_eq!(
        cycle_sizes(&tree, &all),
        [("src/one.rs".to_owned(), 2), ("src/two/mod.rs".to_owned(), 2)].into()
    );
    assert_eq!(
        describe(&tree, &all, &shortest_cycle(&all, 1)),
        "src/one.rs -> src/two/mod.rs (make, line 4) -> src/one.rs (Shared, line 2)"
    );
    let user = tree.files.iter().position(|file| file == "src/user.rs").unwrap();
    assert_eq!(onward(&all, user).collect::<Vec<_>>(), [1]);
}

#[test]
fn words_comments_and_tests_are_no_dependency() {
    let tree = small(&[
        ("lib.rs", "mod one;\nmod two;\n"),
        ("one.rs", "use crate::two::Two;\npub struct One;\n"),
        (
            "two.rs",
            "//! `crate::one::One`\n/* crate::one::One /* */ crate::one::One */\n\
             pub struct Two<'a>(&'a str);\n\
             const TEXT: &str = r#\"\"crate::one::One\"#;\nconst QUOTE: char = '\"';\n\
             #[cfg(test)]\nuse crate::one::{One, One as Other};\n\
             fn f(a: A) { a.one::<A>(); println!(\"\\\"crate::one::One\"); }\n\
             #[cfg(test)]\nmod tests { use crate::one::One; fn g() { crate::one::One } }\n\
             #[test]\nfn h() { crate::one::One }\n",
        ),
    ]);
    let all = tree.dependencies();
    assert_eq!(all.into_iter().collect::<Vec<_>>(), [((1, 2), ("Two".to_owned(), 1))]);
}
