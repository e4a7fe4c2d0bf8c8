"""Which module of a crate uses which other, from the paths in its sources; for .ci/structure.

A path is followed through `use` declarations to the module that defines what it names, so that a module that only
re-exports names is not between two others. That a module uses its own submodules is not counted: it consists of them.
"""

import re

ITEM = r"\b(?:fn|struct|enum|trait|type|const|static|mod|union|macro_rules!)\s+{}\b"


class ModuleGraph:
    """The modules of a crate, by their names as tuples, and the modules that each uses."""

    def __init__(self, folder, sources):
        """`sources` are the texts of the files below the folder `src`, without comments and tests."""
        self.bodies, self.names, self.globs = {}, {}, {}
        self.resolved = {}
        root = "lib" if folder / "lib.rs" in sources else "main"
        for file, text in sources.items():
            module = module_of(file.relative_to(folder).with_suffix("").parts, root)
            uses = [path for tree in re.findall(r"\buse\s+([^;]+);", text) for path in expanded(tree)]
            self.bodies[module] = re.sub(r"\buse\s+[^;]+;", "", text)
            self.names[module] = {name: path for path, name in uses if name != "*"}
            self.globs[module] = [path[:-1] for path, name in uses if name == "*"]
        self.edges = {module: self.used_by(module) for module in self.bodies}

    def used_by(self, module):
        paths = [*self.names[module].values(), *self.globs[module]]
        found = {to for to, is_module in filter(None, (self.resolve(module, path) for path in paths)) if not is_module}
        for path in re.findall(r"(?<![\w:])((?:crate|super|self|[a-z_]\w*)(?:::\w+)+)", self.bodies[module]):
            end = self.resolve(module, tuple(path.split("::")))
            found |= {end[0]} if end else set()
        return {to for to in found if to[: len(module)] != module}

    def resolve(self, module, path):
        """The module that defines what a path names as seen from `module`, and whether it names that module itself; or
        nothing, for the path of another crate."""
        if len(path) > 10:
            return None
        key = (module, path)
        if key not in self.resolved:
            self.resolved[key] = None
            self.resolved[key] = self.follow(module, path)
        return self.resolved[key]

    def follow(self, module, path):
        begun = False
        for index, name in enumerate(path):
            if name == "crate":
                module = ()
            elif name == "super":
                module = module[:-1]
            elif (*module, name) in self.bodies:
                module = (*module, name)
            elif name in self.names[module]:
                return self.resolve(module, self.names[module][name] + path[index + 1 :])
            elif name != "self":
                return self.through_globs(module, path[index:]) or (module, False) if begun else None
            begun = True
        return module, True

    def through_globs(self, module, path):
        for glob in self.globs[module]:
            end = self.resolve(module, glob)
            if end and end[1] and self.has(end[0], path[0]):
                return self.resolve(end[0], ("self", *path))
        return None

    def has(self, module, name):
        return name in self.names[module] or re.search(ITEM.format(name), self.bodies[module])

    def circles(self):
        """The sets of two or more modules each of which uses all others, through others perhaps (Tarjan 1972)."""
        order, low, stack, found = {}, {}, [], []

        def visit(module):
            order[module] = low[module] = len(order)
            stack.append(module)
            for to in sorted(self.edges[module]):
                if to not in order:
                    visit(to)
                    low[module] = min(low[module], low[to])
                elif to in stack:
                    low[module] = min(low[module], order[to])
            if low[module] == order[module]:
                at = stack.index(module)
                if len(stack) - at > 1:
                    found.append(sorted(stack[at:]))
                del stack[at:]

        for module in self.bodies:
            if module not in order:
                visit(module)
        return found


def module_of(parts, root):
    """The module of a file below `src`: `a/mod.rs` and `a.rs` are both `a`, and the file `root` is the crate's root."""
    return () if parts == (root,) else parts[:-1] if parts[-1] == "mod" else tuple(parts)


def expanded(tree, prefix=()):
    """The paths of a `use` declaration, with the names under which they are known afterwards."""
    group = re.fullmatch(r"((?:\w+\s*::\s*)*)\{(.*)\}", tree.strip(), re.DOTALL)
    if group:
        inner = prefix + tuple(re.findall(r"\w+", group[1]))
        for part in split_at_commas(group[2]):
            yield from expanded(part, inner)
        return
    path, _, alias = tree.strip().partition(" as ")
    path = prefix + tuple(re.findall(r"\w+|\*", path))
    path = path[:-1] if len(path) > 1 and path[-1] == "self" else path
    if path:
        yield path, alias.strip() or path[-1]


def split_at_commas(text):
    """The parts of a group, in which commas of inner groups do not count."""
    depth, part = 0, ""
    for character in text:
        depth += {"{": 1, "}": -1}.get(character, 0)
        if character == "," and depth == 0:
            yield part
            part = ""
        else:
            part += character
    if part.strip():
        yield part
