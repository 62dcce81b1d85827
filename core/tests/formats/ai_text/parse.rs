//! A reader of the texts for AI assistants, as one would write it who has nothing but the text.

use std::collections::BTreeMap;

/// What a text says.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Text {
    /// The nodes in the order of the text.
    pub(crate) nodes: Vec<Node>,
    /// The hottest functions.
    pub(crate) hottest: Vec<(f64, String)>,
    /// Shown, too small, no room.
    pub(crate) parts: Vec<(usize, f64)>,
    /// What was seen without a stack.
    pub(crate) stackless: f64,
    /// The unit of all amounts.
    pub(crate) unit: String,
}

/// A node.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Node {
    pub(crate) id: usize,
    pub(crate) name: String,
    pub(crate) total: f64,
    pub(crate) own: f64,
    pub(crate) file: Option<String>,
    pub(crate) line: Option<u32>,
    pub(crate) children: Vec<usize>,
    /// How many nodes this is the sum of.
    pub(crate) merged: usize,
}

impl Text {
    /// Reads a text of lines or blocks.
    pub(crate) fn of(text: &str) -> Self {
        let (above, tree) = text.split_once("\n# Call tree\n").expect("a tree");
        let section = |name: &str| {
            let (_, section) = above.split_once(&format!("\n# {name}\n"))?;
            Some(section.split("\n\n# ").next().expect("a first part").lines())
        };
        let mut files = Vec::new();
        for line in section("Files").into_iter().flatten() {
            let (number, file) = line.split_once(';').expect("number and file");
            assert_eq!(number, files.len().to_string());
            files.push(plain(file));
        }
        let mut read = Self::default();
        for line in section("Hottest functions").into_iter().flatten() {
            let [own, share, name, _] = fields(line);
            assert!(share.ends_with(" %"), "{line}");
            read.hottest.push((number(own), plain(name)));
        }
        read.read_nodes_line(above.lines().find(|line| line.starts_with("Nodes: ")).expect("what is shown"));
        let node = if tree.contains("\nNode: ") { blocks } else { lines };
        read.nodes = node(tree, &files);
        read
    }

    /// The paths from the outermost functions with what is known of their nodes; of several of one name and file their sum.
    pub(crate) fn paths(&self) -> BTreeMap<Vec<String>, Node> {
        let by_id: BTreeMap<usize, &Node> = self.nodes.iter().map(|node| (node.id, node)).collect();
        assert_eq!(by_id.len(), self.nodes.len(), "ids are not used twice");
        let mut parents: BTreeMap<usize, usize> = BTreeMap::new();
        for node in &self.nodes {
            for child in &node.children {
                assert!(parents.insert(*child, node.id).is_none(), "{child} has two parents");
            }
        }
        // In [] is whose code it is, not where.
        let file = |node: &Node| node.file.clone().filter(|file| !file.starts_with('[')).unwrap_or_default();
        let key = |node: &Node| format!("{} @ {}", node.name, file(node));
        let mut paths: BTreeMap<Vec<String>, Node> = BTreeMap::new();
        for node in &self.nodes {
            let mut path = vec![key(node)];
            let mut at = node.id;
            while let Some(parent) = parents.get(&at) {
                path.push(key(by_id[parent]));
                at = *parent;
            }
            path.reverse();
            let sum = paths.entry(path).or_insert_with(|| Node { total: 0.0, own: 0.0, ..node.clone() });
            sum.total += node.total;
            sum.own += node.own;
            sum.merged += 1;
        }
        paths
    }

    /// `Nodes: 3 shown (9 ms self, 90.0 %); 2 below 0.5 % left out (1 ms self, …`
    fn read_nodes_line(&mut self, line: &str) {
        let line = line.strip_prefix("Nodes: ").expect("its beginning");
        self.parts = vec![(0, 0.0); 3];
        for part in line.split("; ") {
            let (words, amount) = part.split_once(" (").expect("an amount in ()");
            let (amount, _) = amount.split_once(" self, ").expect("the amount");
            let (value, unit) = amount.split_once(' ').unwrap_or((amount, ""));
            unit.clone_into(&mut self.unit);
            let value = number(value);
            let count = || words.split(' ').next().and_then(|count| count.parse().ok()).expect("a number");
            match words {
                "seen without a stack" => self.stackless = value,
                _ if words.ends_with("shown") => self.parts[0] = (count(), value),
                _ if words.contains(" below ") => self.parts[1] = (count(), value),
                _ if words.ends_with(" for want of room") => self.parts[2] = (count(), value),
                _ => panic!("what is {words}?"),
            }
        }
    }
}

fn lines(tree: &str, files: &[String]) -> Vec<Node> {
    let node = |(row, line): (usize, &str)| {
        let [id, name, total, own, place, children] = fields(line);
        assert_eq!(id, (row + 1).to_string());
        let children = match children.split_once('-') {
            Some((first, last)) => (first.parse().expect("an id")..=last.parse().expect("an id")).collect(),
            None if children.is_empty() => Vec::new(),
            None => vec![children.parse().expect("an id")],
        };
        let (file, line) = place_of(place, files);
        Node { id: row + 1, name: plain(name), total: number(total), own: number(own), file, line, children, merged: 0 }
    };
    tree.lines().enumerate().map(node).collect()
}

fn blocks(tree: &str, files: &[String]) -> Vec<Node> {
    let identified = |text: &str| {
        let (id, name) = text.split_once(" – ").expect("id and name");
        (id.parse::<usize>().expect("an id"), plain(name))
    };
    let amount = |text: &str| number(text.split([' ', '(']).next().expect("a number"));
    let mut nodes: Vec<Node> = Vec::new();
    let mut named: BTreeMap<usize, String> = BTreeMap::new();
    for line in tree.lines().filter(|line| !line.is_empty() && *line != "Children:") {
        if let Some(text) = line.strip_prefix("Node: ") {
            let (id, name) = identified(text);
            assert_eq!(named.entry(id).or_insert_with(|| name.clone()), &name);
            nodes.push(Node { id, name, ..Node::default() });
            continue;
        }
        let node = nodes.last_mut().expect("a node above");
        if let Some(text) = line.strip_prefix("  * ") {
            let (id, name) = identified(text);
            node.children.push(id);
            assert!(named.insert(id, name).is_none(), "children are named before their block");
        } else {
            match line.split_once(": ").expect("key and value") {
                ("total", text) => node.total = amount(text),
                ("self", text) => node.own = amount(text),
                ("place", text) => (node.file, node.line) = place_of(text, files),
                (key, _) => panic!("what is {key}?"),
            }
        }
    }
    nodes
}

fn fields<const COUNT: usize>(line: &str) -> [&str; COUNT] {
    let fields: Vec<&str> = line.split(';').collect();
    fields.try_into().unwrap_or_else(|fields| panic!("{fields:?} are not {COUNT} fields"))
}

fn place_of(text: &str, files: &[String]) -> (Option<String>, Option<u32>) {
    let (file, line) = text.split_once(':').map_or((text, None), |(file, line)| (file, line.parse().ok()));
    (file.parse::<usize>().ok().map(|file| files[file].clone()), line)
}

fn number(text: &str) -> f64 {
    text.parse().unwrap_or_else(|_| panic!("`{text}` is no number"))
}

/// A name without its escapes.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, escape)) = rest.split_once('\\') {
        plain.push_str(before);
        let kind = escape.chars().next().expect("what is escaped");
        let (c, length) = match kind {
            'n' => ('\n', 1),
            'r' => ('\r', 1),
            't' => ('\t', 1),
            '\\' => ('\\', 1),
            'x' => (char::from(u8::from_str_radix(&escape[1..3], 16).expect("two digits")), 3),
            'u' => {
                let end = escape.find('}').expect("an end");
                let code = u32::from_str_radix(&escape[2..end], 16).expect("digits");
                (char::from_u32(code).expect("a letter"), end + 1)
            }
            other => panic!("what is \\{other}?"),
        };
        plain.push(c);
        rest = &escape[length..];
    }
    plain + rest
}
