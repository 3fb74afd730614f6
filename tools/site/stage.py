# SPDX-License-Identifier: MIT
"""Lays the repository's pages out for MkDocs, as tools/site.sh does.

Usage: stage.py ROOT XML TO

TO gets every page that mkdocs.yml names at its place in the repository, so that links between pages stay as they are.
A file to which a page links becomes a page that shows it, and a folder without a README one that lists its files. Links
to the headers, and their names in `code`, lead to the reference. Pages are written for GitHub's Markdown; what MkDocs
reads in another way is rewritten.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from reference import Reference

LANGUAGES = {".c": "c", ".h": "c", ".cpp": "cpp", ".hpp": "cpp", ".cu": "cuda", ".sh": "bash", ".py": "python"}
IMAGES = {".svg", ".png"}
HEADER = re.compile(r"gpuopt\.h|gpuopt/(\w+)\.h")
HOME = "README.md"
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
NAME = re.compile(r"(?<![\[`])`((?:gpuopt|GPUOPT)_\w+)(?:\(\)|\.\w+)?`(?!`)")


class Site:
    def __init__(self, root, xml, to):
        self.root, self.to = Path(root), Path(to)
        command = ["git", "-C", root, "ls-files", "-co", "--exclude-standard"]
        listed = subprocess.run(command, capture_output=True, text=True)
        self.files = set(listed.stdout.split("\n"))
        if listed.returncode:  # no checkout, but an unpacked archive
            self.files = {str(f.relative_to(root)) for f in self.root.rglob("*") if f.is_file()}
        self.reference = Reference(xml)
        self.shown = {}  # pages by the path in the repository of what they show
        self.waiting = []

    def write(self, path, text):
        path = self.to / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    # ---- Links ----

    def show(self, path):
        """The page of a file or folder to which a page links; None: there is no such thing."""
        if path in self.shown:
            return self.shown[path]
        if path in self.files and path.endswith(".md"):
            page = path
        elif path in self.files:
            page = path + ".md" if Path(path).suffix not in IMAGES else path
        elif path + "/README.md" in self.files:
            return self.show(path + "/README.md")
        elif any(f.startswith(path + "/") for f in self.files):
            page = path + "/index.md"
        else:
            return None
        self.shown[path] = page
        self.waiting.append(path)
        return page

    def link(self, at, match):
        mark, label, target = match.groups()
        target, _, anchor = target.partition("#")
        if not target or re.match(r"[a-z]+:", target):
            return match.group()
        path = os.path.normpath(os.path.join(os.path.dirname(at), target))
        header = HEADER.fullmatch(path)
        page = f"reference/{header.group(1) or 'index'}.md" if header else self.show(path)
        if page is None:  # for mkdocs --strict to report
            return match.group()
        to = os.path.relpath(page, os.path.dirname(at) or ".")
        return f"{mark}[{label}]({to}{'#' + anchor if anchor else ''})"

    def named(self, at, match):
        if match.group(1) not in self.reference.names:
            return match.group()
        page, anchor = self.reference.names[match.group(1)]
        return f"[{match.group()}]({os.path.relpath(page, os.path.dirname(at) or '.')}#{anchor})"

    # ---- Pages ----

    def page(self, at, text):
        """GitHub's Markdown as MkDocs reads it: lists are indented by four and follow a blank line."""
        out, fence, in_list, before = [], "", False, ""
        for line in text.split("\n"):
            indent = len(line) - len(line.lstrip())
            if line.lstrip().startswith("```"):
                fence = "" if fence else "```"
            item = re.match(r" *([-*]|\d+\.) ", line) is not None
            if not fence or line.lstrip().startswith("```"):
                if line and not indent:
                    if item and not in_list and before:
                        out.append("")
                    in_list = item or (in_list and bool(before))
                if not line.startswith("#") and not (indent >= 4 and not in_list):
                    line = NAME.sub(lambda m: self.named(at, m), LINK.sub(lambda m: self.link(at, m), line))
            if in_list and indent:
                line = " " * indent + line
            out.append(line)
            before = line
        return "\n".join(out)

    def source(self, path):
        """A page that shows a file."""
        suffix = Path(path).suffix
        text = (self.root / path).read_text()
        fence = "`" * (3 + max((len(m) for m in re.findall(r"`+", text)), default=0))
        language = LANGUAGES.get(suffix, "text")
        return f"---\nsearch:\n  exclude: true\n---\n# {path}\n\n{fence}{language}\n{text.rstrip()}\n{fence}\n"

    def folder(self, path):
        """A page that lists the files of a folder."""
        names = sorted({f[len(path) + 1 :].split("/")[0] for f in self.files if f.startswith(path + "/")})
        lines = []
        for name in names:
            page = self.show(f"{path}/{name}")
            lines.append(f"- [{name}]({os.path.relpath(page, path)})")
        return f"---\nsearch:\n  exclude: true\n---\n# {path}\n\n" + "\n".join(lines) + "\n"

    def make(self, pages):
        for page in pages:
            if self.show(page) is None:
                sys.exit(f"stage.py: mkdocs.yml names {page}, which does not exist")
        while self.waiting:
            path = self.waiting.pop()
            page = self.shown[path]
            if page.endswith("/index.md") and path + "/index.md" == page:
                self.write(page, self.folder(path))
            elif page != path:
                self.write(page, self.source(path))
            elif path.endswith(".md"):
                text = self.page(path, (self.root / path).read_text())
                self.write(page, "---\nhide: [navigation]\n---\n" * (path == HOME) + text)
            else:
                (self.to / page).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(self.root / path, self.to / page)
        for page, text in self.reference.pages.items():
            self.write(page, text)


def main(root, xml, to):
    site = Site(root, xml, to)
    navigation = (Path(root) / "tools/site/mkdocs.yml").read_text()
    pages = [p for p in re.findall(r"(\S+\.md)$", navigation, re.M) if not p.startswith("reference/")]
    site.make(pages)
    shutil.copy(Path(__file__).parent / "site.css", to)


if __name__ == "__main__":
    main(*sys.argv[1:])
