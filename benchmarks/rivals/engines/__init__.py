"""The engines that are measured, one file for each, with its ``ADAPTER``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import cast

from benchmarks.rivals.adapter import Adapter

__all__ = ["ENGINES", "Engine"]


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine that is measured.

    Args:
        title: Its name.
        module: The file here that tells how it is driven.
        on_node: Whether it runs on node, where ``mastra/measure.mjs`` drives it.
    """

    title: str
    module: str
    on_node: bool = False

    def adapter(self) -> Adapter:
        """How it is driven, what it cannot do, and what a reader should know."""
        return cast("Adapter", import_module(f"{__name__}.{self.module}").ADAPTER)


ENGINES: Mapping[str, Engine] = {
    "interlock": Engine("Interlock", "interlock_workflows"),
    "anyio": Engine("anyio task group", "anyio_task_group"),
    "burr": Engine("Burr", "burr_application"),
    "dask": Engine("Dask", "dask_delayed"),
    "hamilton": Engine("Hamilton", "hamilton_driver"),
    "haystack": Engine("Haystack", "haystack_pipeline"),
    "langgraph": Engine("LangGraph", "langgraph_state_graph"),
    "llama-index-workflows": Engine("LlamaIndex Workflows", "llama_workflows"),
    "mastra": Engine("Mastra", "mastra_node", on_node=True),
    "pydantic-graph": Engine("pydantic-graph", "pydantic_graph_builder"),
}
