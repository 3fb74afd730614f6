# SPDX-License-Identifier: MIT
"""Checks a built site without MkDocs: every link within it leads to a file and an anchor, every call of the headers has
an entry in the reference, and the search index has it.

Usage: site_links.py SITE ROOT
"""

import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.links, self.ids = [], set()
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src") and value:
                self.links.append(value)
            if name in ("id", "name") and value:
                self.ids.add(value)


def main(site, root):
    site = Path(site).resolve()
    pages = {path: Page(path) for path in site.rglob("*.html")}
    faults, links = [], 0
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or path.name == "404.html":
                continue
            links += 1
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                faults.append(f"{path.relative_to(site)}: {link}: there is no such file")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].ids:
                faults.append(f"{path.relative_to(site)}: {link}: there is no such place")
    headers = [Path(root, "gpuopt.h"), *Path(root, "gpuopt").glob("*.h")]
    calls = {c for h in headers for c in re.findall(r"^(?:GPUOPT_API|extern) .*?(gpuopt_\w+)\(", h.read_text(), re.M)}
    entries = set().union(*(page.ids for path, page in pages.items() if path.parent.name == "reference"))
    index = json.loads((site / "search/search_index.json").read_text())["docs"]
    found = {entry["location"].partition("#")[2] for entry in index}
    for call in sorted(calls):
        if call not in entries or call not in found:
            faults.append(f"{call}: not in the reference, or not in the search index")
    outside = [p for p in pages if re.search(r"(?:src|href)=\"https?://[^\"]*\.(?:js|css)", p.read_text())]
    faults += [f"{p.relative_to(site)}: loads a script or style from elsewhere" for p in outside]
    print(f"{len(pages)} pages, {links} links, {len(calls)} calls")
    print("\n".join(faults))
    return bool(faults) or len(calls) < 100 or links < 1000


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
