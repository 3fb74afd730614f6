# SPDX-License-Identifier: MIT
"""The reference of the site: Markdown pages from Doxygen's XML of the headers, which doc/reference.sh --xml makes."""

import html
import re
import textwrap
import xml.etree.ElementTree as ET
from pathlib import Path

# The pages of the core, by the beginning of what they declare; the rest of the core is in "general". A layer has a
# page with the name of its header.
FAMILIES = {
    "gpuopt_propagator_": ("propagation", "Propagation"),
    "gpuopt_basis_": ("basis", "Basis inverse"),
    "gpuopt_simplex_": ("simplex", "Linear programs"),
    "gpuopt_elimination_": ("elimination", "Graphical models"),
    "gpuopt_knapsack_": ("knapsack", "Knapsacks"),
}
LAYERS = ["search", "batch", "knapsack_variants", "inference", "group"]  # the order of their pages
MARKUP = re.compile(r"[\\`*_{}\[\]|~^:#+-]")
WIDEST = 84  # columns of a declaration in one line


def literal(text):
    """Text in which nothing is markup. Single marks within a word are kept, so that searches find the word."""
    text = html.escape(text, quote=False)
    text = re.sub(r"(?<=\w)[_-](?=\w)|:(?!:)", lambda m: m.group() if m.group() != "_" else "\0", text)
    kept = {"-", ":"}
    text = MARKUP.sub(lambda m: m.group() if m.group() in kept else f"&#{ord(m.group())};", text)
    return text.replace("\0", "&#95;")


class Reference:
    """pages: Markdown by path; names: the page and the anchor of every name that the headers declare."""

    def __init__(self, xml):
        self.pages, self.names = {}, {}
        self.structs = {}
        for path in Path(xml).glob("struct*.xml"):
            struct = ET.parse(path).find("compounddef")
            self.structs[struct.get("id")] = struct
        groups = [ET.parse(path).find("compounddef") for path in Path(xml).glob("group__*.xml")]
        groups.sort(key=lambda g: int(re.sub(r"\D", "", g.findtext("compoundname")) or 0))
        sections = {}  # of each page
        for group in groups:
            entries = self.entries_of(group)
            sections.setdefault(self.place(group, entries), []).append((group, entries))
        layers = {}  # what a header says at its top
        for path in Path(xml).glob("*_8h.xml"):
            header = ET.parse(path).find("compounddef")
            layers[header.findtext("compoundname")] = header
        for (page, title), parts in sections.items():
            for _, entries in parts:
                for entry in entries:
                    self.enter(entry, page)
        self.order = sorted(sections, key=self.rank)
        for page, title in self.order:
            self.pages[page] = self.page(page, title, sections[page, title], layers)
        self.pages["reference/index.md"] = self.index(sections)

    # ---- What there is ----

    def entries_of(self, group):
        entries = [m for s in group.findall("sectiondef") for m in s.findall("memberdef")]
        return sorted(entries + [self.structs[c.get("refid")] for c in group.findall("innerclass")], key=self.line)

    @staticmethod
    def line(entry):
        return int(entry.find("location").get("line"))

    @staticmethod
    def name(entry):
        return entry.findtext("compoundname") if entry.tag == "compounddef" else entry.findtext("name")

    def place(self, group, entries):
        """The page of a group, and its title. Groups are called section1, section2, ...; in a layer search1, ..."""
        part = group.findtext("compoundname").rstrip("0123456789")
        if part in LAYERS:
            return f"reference/{part}.md", f"gpuopt/{part}.h"
        for beginning, (page, title) in FAMILIES.items():
            if any(self.name(e).startswith(beginning) for e in entries):
                return f"reference/{page}.md", title
        return (f"reference/{part}.md", "Overview") if part == "overview" else ("reference/general.md", "General part")

    @staticmethod
    def rank(place):
        order = ["overview", "general", *(page for page, _ in FAMILIES.values()), *LAYERS]
        name = Path(place[0]).stem
        return order.index(name)

    def enter(self, entry, page):
        name = self.name(entry)
        self.names[name] = (page, name)
        for value in entry.findall("enumvalue"):
            self.names[value.findtext("name")] = (page, name)

    # ---- Text ----

    def linked(self, text, page):
        """The names in plain text lead to their places, and so do the pages of doc."""

        def lead(match):
            word = match.group()
            if word in self.names:
                there, anchor = self.names[word]
                return f"[{literal(word)}]({'' if there == page else there.split('/')[-1]}#{anchor})"
            if word.startswith("doc/"):
                return f"[{literal(word)}](../{word})"
            return word

        parts = re.split(r"(\b(?:gpuopt_\w+|GPUOPT_\w+|doc/\w+\.md))", text)
        return "".join(lead(re.match(r".*", p, re.S)) if i % 2 else literal(p) for i, p in enumerate(parts))

    def inline(self, node, page):
        out = self.linked(node.text or "", page)
        for child in node:
            if child.tag == "bold":
                out += f"**{literal(''.join(child.itertext()))}**"
            elif child.tag == "computeroutput":
                out += f"`{''.join(child.itertext())}`"
            elif child.tag == "ensp":
                out += " "
            elif child.tag == "heading":
                out += f"\n\n### {literal(''.join(child.itertext()))}\n\n"
            elif child.tag == "verbatim":
                out += f"\n\n```text\n{textwrap.dedent(child.text).strip(chr(10))}\n```\n\n"
            else:
                out += self.linked("".join(child.itertext()), page)
            out += self.linked(child.tail or "", page)
        return out

    def text(self, node, page):
        brief, detailed = (
            [t for t in (self.inline(p, page).strip() for p in node.find(d).iter("para")) if t]
            for d in ("briefdescription", "detaileddescription")
        )
        return "\n\n".join([" ".join(brief + detailed[:1])] + detailed[1:])

    def passages(self, group, page):
        """The text of a section, paragraph by paragraph, with the lines where they stand between declarations."""
        line, out = 0, []
        for paragraph in group.find("detaileddescription").iter("para"):
            anchor = paragraph.find("anchor")
            if anchor is not None:
                line = int(anchor.get("id").rpartition("_")[2])
                out.append((line, "---"))
            out.append((line, self.inline(paragraph, page).strip()))
        return out

    # ---- Pages ----

    @staticmethod
    def tidy(declaration):
        return re.sub(r"\* (?=[\w*])", "*", declaration.replace("* const ", "*const "))

    def declaration(self, entry):
        kind = entry.get("kind")
        if kind == "define":
            parameters = ", ".join(p.findtext("defname") for p in entry.findall("param"))
            value = " " + (entry.findtext("initializer") or "")
            shown = f"({parameters})" if parameters else value if len(value) < 9 else ""
            return f"#define {self.name(entry)}{shown}"
        if kind != "function":
            return f"typedef struct {self.name(entry)} {self.name(entry)};"
        head, arguments = self.tidy(entry.findtext("definition")), self.tidy(entry.findtext("argsstring"))
        if len(head + arguments) < WIDEST:
            return f"{head}{arguments};"
        inner, depth = "", 0
        for c in arguments[1:-1]:
            depth += {"(": 1, ")": -1}.get(c, 0)
            inner += ",\n   " if c == "," and not depth else c
        return f"{head}(\n    {inner.lstrip()});"

    def members(self, entry, page):
        """The constants of an enum or the members of a struct, as a list of definitions."""
        for value in entry.findall("enumvalue"):
            start = value.findtext("initializer") or ""
            yield f"{value.findtext('name')} {start}".strip(), self.text(value, page)
        if entry.tag == "compounddef":
            for member in entry.iter("memberdef"):
                declared = self.tidy(member.findtext("definition")).replace(f"{self.name(entry)}::", "")
                declared += member.findtext("argsstring")
                yield re.sub(r"\(\*\s*", "(*", declared), self.text(member, page)

    def entry(self, entry, page):
        name = self.name(entry)
        out = [f'### `{name}` {{ #{name} data-toc-label="{name.removeprefix("gpuopt_")}" }}']
        members = list(self.members(entry, page))
        if not members:
            out.append(f"```c\n{self.declaration(entry)}\n```")
        out.append(self.text(entry, page))
        for declared, text in members:
            out.append(f"`{declared}`\n" + (":   " + text.replace("\n\n", "\n\n    ") if text else ":   &nbsp;"))
        return "\n\n".join(filter(None, out))

    def page(self, page, title, parts, layers):
        out = [f"# {title}"]
        if title.startswith("gpuopt/") and title[7:] in layers:
            out.append(self.text(layers[title[7:]], page))
        for group, entries in parts:
            heading = literal(html.unescape(group.findtext("title")))
            if len(parts) > 1 or "/" in title:
                out.append(f"## {heading}")
            else:
                out[0] = f"# {heading}"
            texts = [(self.line(e), self.entry(e, page)) for e in entries] + self.passages(group, page)
            out += [text for _, text in sorted(texts, key=lambda t: t[0])]
        return "\n\n".join(filter(None, out)) + "\n"

    def index(self, sections):
        """Every call with the first sentence of its comment."""
        out = ["# Reference", self.intro]
        for page, title in self.order:
            calls = [e for _, entries in sections[page, title] for e in entries if e.get("kind") == "function"]
            out.append(f"## [{title}]({page.split('/')[-1]})")
            if not calls:
                out.append("What holds for every family: life, memory, status, threads, streams, bits.")
                continue
            rows = ["| call | purpose |", "| --- | --- |"]
            for call in calls:
                name = self.name(call)
                first = re.split(r"(?<=[.:;])\s", "".join(call.find("briefdescription").itertext()).strip())[0]
                shown = name.replace("_", "_<wbr>")  # where a narrow screen may break it
                rows.append(f"| [<code>{shown}</code>]({page.split('/')[-1]}#{name}) | {literal(first.rstrip(':;'))} |")
            out.append("\n".join(rows))
        return "\n\n".join(out) + "\n"

    intro = (
        "The reference is made from the comments of the headers. The core is `gpuopt.h`, and the layers are in "
        "`gpuopt/`. The search field above finds every name."
    )
