"""Stage 3: validate a config against the schema."""

from __future__ import annotations

from pydantic import ValidationError

from confml.config.dataset_spec import folder_name
from confml.config.draft import Draft
from confml.config.explain import note_errors
from confml.config.schema import Config
from confml.yaml import Node


def validate(draft: Draft) -> Config | None:
    """Return the config, or None if the draft does not match the schema; errors are noted in the draft.

    A config without a name gets the name of its file.
    """
    root = draft.root
    name = root.child("name")
    if name is None or name.content is None:
        root.content["name"] = Node(folder_name(draft.default_name), root.mark, root.mark)
    try:
        return Config.model_validate(root.plain(), by_alias=True, by_name=False)
    except ValidationError as error:
        note_errors(error, draft)
        return None
