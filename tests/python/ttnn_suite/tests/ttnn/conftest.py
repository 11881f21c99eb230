# SPDX-License-Identifier: Apache-2.0
"""Keeps the settings of ttnn from one test to the next, and names each test's report."""

import pytest

import ttnn


def pytest_collection_modifyitems(config, items):
    if not ttnn.CONFIG.enable_fast_runtime_mode:
        return
    for item in items:
        if "requires_fast_runtime_mode_off" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="needs fast runtime mode off"))


@pytest.fixture(autouse=True)
def settings(request):
    kept = ttnn.Config(ttnn.CONFIG)
    if ttnn.CONFIG_PATH is not None:
        ttnn.load_config_from_json_file(ttnn.CONFIG_PATH)
    if ttnn.CONFIG_OVERRIDES is not None:
        import json

        ttnn.load_config_from_dictionary(json.loads(ttnn.CONFIG_OVERRIDES))
    with ttnn.manage_config("report_name", f"{request.node.nodeid}: {request.node.name}"):
        if ttnn.CONFIG.enable_logging:
            ttnn.CONFIG.report_path.mkdir(parents=True, exist_ok=True)
        yield
    ttnn.CONFIG = kept
    if ttnn.database.SQLITE_CONNECTION is not None:
        ttnn.database.SQLITE_CONNECTION.close()
        ttnn.database.SQLITE_CONNECTION = None
    ttnn.database.DEVICE_IDS_IN_DATABASE.clear()
    ttnn.tracer.disable_tracing()
