"""Workflows, forms and policies: they parse, are pinned, and name what exists."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

import build
from tools import about, recipes
from tools.process import ROOT

GITHUB = ROOT / ".github"

WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))

FORMS = sorted((GITHUB / "ISSUE_TEMPLATE").glob("*.yml"))

POLICIES = [
    ROOT / f"{name}.md" for name in ("CHANGELOG", "CODE_OF_CONDUCT", "SECURITY")
]

ADDRESS = "{releases}/download/v{version}/{file}"
"""Of a file of a release."""

ON = True
"""YAML 1.1 reads the key `on` as a truth value."""

USES = re.compile(r"uses: (?P<action>[\w./-]+)@(?P<commit>\S+)(?P<comment>.*)")


def load(path: Path) -> dict[Any, Any]:
    found = yaml.safe_load(path.read_text("utf-8"))
    assert isinstance(found, dict)
    return found


def jobs() -> list[Any]:
    return [
        pytest.param(load(path), job, id=f"{path.stem}-{name}")
        for path in WORKFLOWS
        for name, job in load(path)["jobs"].items()
    ]


def commands(job: dict[str, Any]) -> list[str]:
    """Return the lines that the steps of a job run."""
    runs = [step["run"] for step in job["steps"] if "run" in step]
    return [line for run in runs for line in run.splitlines()]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_to_commits_with_their_version(path: Path) -> None:
    found = [*USES.finditer(path.read_text("utf-8"))]
    assert found
    for match in found:
        assert re.fullmatch(r"[0-9a-f]{40}", match["commit"]), match[0]
        assert re.fullmatch(r" # v\d+\.\d+\.\d+", match["comment"]), match[0]


def test_an_action_has_one_version() -> None:
    texts = [path.read_text("utf-8") for path in WORKFLOWS]
    found = {(m["action"], m["commit"]) for t in texts for m in USES.finditer(t)}
    assert len(found) == len({action for action, _ in found})


@pytest.mark.parametrize(("workflow", "job"), jobs())
def test_commands_of_workflows_exist(
    workflow: dict[Any, Any], job: dict[str, Any]
) -> None:
    for line in commands(job):
        words = shlex.split(line)
        assert "${{" not in line, "pass values by env: they may be anybody's text"
        if words[0].startswith("python"):
            assert words[:2] == ["python", "build.py"]
            build._parser().parse_args(words[2:])


@pytest.mark.parametrize(("workflow", "job"), jobs())
def test_rights_are_few_and_a_reviewer_grants_them(
    workflow: dict[Any, Any], job: dict[str, Any]
) -> None:
    assert workflow["permissions"] == {"contents": "read"}
    assert "timeout-minutes" in job or "needs" in job
    given = job.get("permissions", {})
    if "write" in given.values():
        assert "environment" in job
        assert not any("build.py" in line for line in commands(job))
    if "environment" in job:
        assert set(workflow[ON]) <= {"push", "workflow_dispatch"}
        assert workflow[ON]["push"] == {"tags": ["v*"]}


def test_every_command_of_a_release_is_run_somewhere() -> None:
    lines = [line for row in jobs() for line in commands(row.values[1])]
    run = {shlex.split(line)[2] for line in lines if "build.py" in line}
    assert run == {"test", "release", "rehearse", "site"}


def test_continuous_integration_runs_on_three_systems_and_each_python() -> None:
    rows = load(GITHUB / "workflows/ci.yml")["jobs"]["quick"]["strategy"]["matrix"]
    systems = {row["system"].split("-")[0] for row in rows["include"]}
    assert systems == {"ubuntu", "macos", "windows"}
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    versions = set(re.findall(r"Python :: (3\.\d+)", text))
    assert versions - {row["python"] for row in rows["include"]} == {"3.11"}


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.name)
def test_forms_ask_for_what_they_describe(path: Path) -> None:
    form = load(path)
    if path.stem == "config":
        assert form == {"blank_issues_enabled": False}
        return
    assert form["name"]
    assert form["description"]
    ids = [field["id"] for field in form["body"]]
    assert len({*ids}) == len(ids) > 0
    for field in form["body"]:
        assert field["type"] in ("textarea", "input", "dropdown")
        assert field["attributes"]["label"]
    assert any(field.get("validations", {}).get("required") for field in form["body"])


def test_recipe_of_conda_agrees_with_the_metadata() -> None:
    recipe, project = load(recipes.CONDA.path), about.project()
    context = recipe["context"]
    assert context["version"] == project["version"]
    assert f">={context['python_min']}" == project["requires-python"]
    assert recipe["source"]["url"] == ADDRESS.format(
        releases=project["urls"]["Releases"],
        version="${{ version }}",
        file="tensorweb-${{ version }}.tar.gz",
    )
    needed = [need.partition(";")[0] for need in project["dependencies"]]
    run = [need.replace(" ", "") for need in recipe["requirements"]["run"]]
    assert run == ["python>=${{python_min}}", *needed]
    described = recipe["about"]
    assert described["summary"] == project["description"]
    assert described["license"] == project["license"]
    for key in ("homepage", "repository", "documentation"):
        assert described[key] == project["urls"][key.capitalize()]


def test_recipe_of_pyodide_agrees_with_the_metadata() -> None:
    recipe, project = load(recipes.PYODIDE.path), about.project()
    version = project["version"]
    assert recipe["package"]["version"] == version
    assert recipe["source"]["url"] == ADDRESS.format(
        releases=project["urls"]["Releases"],
        version=version,
        file=f"tensorweb-{version}-py3-none-any.whl",
    )
    described = recipe["about"]
    assert described["home"] == project["urls"]["Homepage"]
    assert described["summary"] == project["description"]
    assert described["license"] == project["license"]


@pytest.mark.parametrize("path", POLICIES, ids=lambda path: path.name)
def test_links_of_policies_lead_to_files(path: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)", path.read_text("utf-8"))
    assert links
    assert [link for link in links if not (path.parent / link).exists()] == []
