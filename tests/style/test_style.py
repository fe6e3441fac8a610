"""The house rules that a machine can check: sizes, arrows between folders, banned calls.

Every rule reads the files that git tracks; a rule that finds no file to look at fails.
"""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# What each folder may include of ours (ARCHITECTURE.md, "The house"). The longest prefix wins.
ALLOWED = {
    "base": {"base"},
    "vm/link": {"base", "vm/link"},
    "vm/agent": {"base", "vm/link", "vm/agent"},
    "vm": {"base", "vm"},
    "charts": {"base", "charts"},
    "artifacts": {"base", "charts", "artifacts"},
    "kernel-proxy": {"base", "vm/link", "kernel-proxy"},
    "gateway": {"base", "vm", "charts", "artifacts", "kernel-proxy", "gateway"},
}

# pattern -> why not, and the files that are its home
BANNED = {
    r"\bstd::cout\b": ("print only in the CLI", ("gateway/cli/",)),
    r"\bdetached\b": ("use base/spawn.h, which logs failures", ("base/spawn.h",)),
    r"\bstd::j?thread\b": ("threads live in base", ("base/",)),
    r"\bsleep_for\b|\busleep\(|\bnanosleep\(": ("wait for a condition", ()),
    r"\bsystem\(|\bpopen\(": ("use base/process.h", ()),
    r"\bTODO\b|\bFIXME\b|\bXXX\b": ("say it in an issue", ()),
    r"\bstd::exit\(|\bexit\(": ("return from main", ("vm/agent/", "tests/")),
}


def tracked(*patterns: str) -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "--", *patterns], cwd=ROOT, capture_output=True, text=True, check=True
    )
    files = [name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]
    assert files, f"no file matches {patterns}: the check would prove nothing"
    return files


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def without_comments_and_strings(text: str) -> str:
    text = re.sub(r'"(\\.|[^"\\\n])*"', '""', text)
    text = re.sub(r"//[^\n]*", "", text)
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


SOURCES = ["*.cc", "*.h"]


def test_no_source_file_is_too_long_for_one_head():
    limits = {".cc": 400, ".h": 200, ".py": 500}
    long = []
    for name in tracked("*.cc", "*.h", "*.py"):
        lines = read(name).count("\n")
        limit = 600 if name.startswith("tests/") else limits[Path(name).suffix]
        # Every limit of the project stands in this one file, with its reason.
        limit = 400 if name == "base/limits.h" else limit
        if lines > limit:
            long.append(f"{name}: {lines} lines, the limit is {limit}")
    assert not long, "\n".join(long)


def test_no_line_is_longer_than_a_hundred_characters():
    long = []
    for name in tracked("*.cc", "*.h", "*.py"):
        for number, line in enumerate(read(name).splitlines(), 1):
            if len(line) > 100:
                long.append(f"{name}:{number}: {len(line)} characters")
    assert not long, "\n".join(long)


def test_every_source_file_says_at_its_top_what_its_job_is():
    silent = []
    for name in tracked("*.h"):
        if not read(name).startswith("//"):
            silent.append(name)
    assert not silent, "\n".join(silent)


def test_headers_have_an_include_guard():
    bare = [name for name in tracked("*.h") if "#pragma once" not in read(name)]
    assert not bare, "\n".join(bare)


def folder_of(name: str) -> str | None:
    matches = [folder for folder in ALLOWED if name.startswith(folder + "/")]
    return max(matches, key=len) if matches else None


def test_arrows_between_folders_point_down():
    wrong = []
    for name in tracked(*SOURCES):
        folder = folder_of(name)
        if folder is None:
            continue
        for target in re.findall(r'^#include "([^"]+)"', read(name), flags=re.M):
            if not any(target.startswith(allowed + "/") for allowed in ALLOWED[folder]):
                wrong.append(f"{name} includes {target}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("pattern", BANNED)
def test_calls_that_have_a_better_home_are_not_made(pattern: str):
    why, homes = BANNED[pattern]
    found = []
    for name in tracked(*SOURCES):
        if name.startswith(homes) if homes else False:
            continue
        text = without_comments_and_strings(read(name)) if "TODO" not in pattern else read(name)
        for number, line in enumerate(text.splitlines(), 1):
            if re.search(pattern, line):
                found.append(f"{name}:{number}: {line.strip()[:80]} ({why})")
    assert not found, "\n".join(found)


def test_sources_are_formatted():
    files = tracked(*SOURCES)
    checked = subprocess.run(
        ["clang-format-19", "--dry-run", "-Werror", *files],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert checked.returncode == 0, checked.stderr[-4000:]


def test_beast_is_included_by_two_translation_units_only():
    """Its templates cost more than the rest of the build together (28 s against 104 s)."""
    users = [name for name in tracked(*SOURCES) if "#include <boost/beast" in read(name)]
    units = [name for name in users if name.endswith(".cc")]
    headers = [name for name in users if name.endswith(".h")]
    assert len(units) <= 2, units
    assert not headers, headers
