"""Time hermes-agent's search, by an interpreter that has it: tools and queries in, seconds a query out."""

import json
import statistics
import sys
import time

from tools.tool_search import build_catalog, search_catalog

work = json.load(sys.stdin)
definitions = [
    {"type": "function", "function": {key: tool[key] for key in ("name", "description", "parameters")}}
    for tool in work["tools"]
]
seconds = []
for query in work["queries"]:
    started = time.perf_counter()
    search_catalog(build_catalog(definitions), query, limit=5)
    seconds.append(time.perf_counter() - started)
print(statistics.fmean(seconds))
