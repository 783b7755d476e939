"""A small catalog of tools for the tests of search."""

from typing import Any

from hermes_nb.search.engine.index import Document


def parameters(**described: str) -> dict[str, Any]:
    properties = {name: {"type": "string", "description": text} for name, text in described.items()}
    return {"type": "object", "properties": properties}


CATALOG = [
    Document(
        "mcp__github__create_issue",
        "github",
        "Open a new issue in a repository.",
        parameters(title="Headline of the issue", body="Text in Markdown", labels="Tags to attach"),
    ),
    Document(
        "mcp__github__list_issues",
        "github",
        "List the issues of a repository.",
        parameters(state="open or closed"),
    ),
    Document(
        "mcp__github__merge_pull_request",
        "github",
        "Merge a pull request into its base branch.",
        parameters(number="Which one"),
    ),
    Document("slack.postMessage", "slack", "Post to a channel.", parameters(channel="Where", text="What to say")),
    Document("weather-forecast", "weather", "Predict rain and temperature for a city.", parameters(city="A town")),
    Document("query_database", "postgres", "Run a read-only SQL statement.", parameters(sql="The statement")),
    Document("sendEmail", "mail", "Deliver a letter to somebody's inbox.", parameters(recipient="Who gets it")),
    Document("resize_image", "pictures", "Scale a photo to a width and a height.", parameters(width="In pixels")),
    Document("搜索餐厅", "餐厅", "按城市和菜系查找附近的餐厅", parameters(城市="城市名称")),
    Document("перевести_текст", "переводчик", "Переводит тексты с одного языка на другой", parameters()),
]
