"""The `cellblock` program: exec, ps, doctor, errors that teach."""

import os
import subprocess

from support.gateway import BINARY


def cellblock(gateway, *arguments: str, text: str | None = None) -> subprocess.CompletedProcess:
    environment = {**os.environ, "CELLBLOCK_URL": gateway.url, "CELLBLOCK_TOKEN": gateway.token}
    return subprocess.run(
        [str(BINARY), *arguments],
        input=text,
        capture_output=True,
        text=True,
        timeout=300,
        env=environment,
    )


def test_exec_prints_what_the_cell_prints(gateway):
    done = cellblock(gateway, "exec", "print('hello'); 6 * 7")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "hello\n42\n"


def test_exec_reads_code_from_standard_input_and_from_a_file(gateway, tmp_path):
    assert cellblock(gateway, "exec", "-", text="print(1 + 1)").stdout == "2\n"
    script = tmp_path / "script.py"
    script.write_text("print(2 + 2)")
    assert cellblock(gateway, "exec", "--file", str(script)).stdout == "4\n"


def test_exec_exits_with_one_on_a_python_error(gateway):
    done = cellblock(gateway, "exec", "1 / 0")
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr
    document = cellblock(gateway, "exec", "--llm", "1 / 0")
    assert document.returncode == 1
    assert "ZeroDivisionError" in document.stdout
    assert cellblock(gateway, "exec", "--llm", "1 + 1").returncode == 0


def test_exec_shows_tables_aligned_and_pictures_as_paths(gateway, tmp_path):
    done = cellblock(
        gateway,
        "exec",
        "--output-dir",
        str(tmp_path),
        "import pandas as pd, matplotlib.pyplot as plt\nplt.plot([1, 2]); plt.show()\n"
        "pd.DataFrame({'a': [1, 22]})",
    )
    assert done.returncode == 0, done.stderr
    pictures = list(tmp_path.glob("*.png"))
    assert len(pictures) == 1
    assert str(pictures[0]) in done.stdout
    assert pictures[0].read_bytes().startswith(b"\x89PNG")
    assert "└─" in done.stdout  # the figure as a plot of characters
    assert done.stdout.splitlines()[-1].startswith("2 rows × ")
    assert any(line.split()[-1:] == ["22"] for line in done.stdout.splitlines())


def test_ps_lists_the_running_sandboxes(gateway, sandbox):
    done = cellblock(gateway, "ps")
    assert done.returncode == 0, done.stderr
    assert sandbox in done.stdout


def test_an_unreachable_gateway_is_explained(gateway):
    done = subprocess.run(
        [str(BINARY), "exec", "1"],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "CELLBLOCK_URL": "http://127.0.0.1:9", "CELLBLOCK_TOKEN": "x"},
    )
    assert done.returncode != 0
    assert "cellblock serve" in done.stderr


def test_doctor_says_which_accelerator_and_why(gateway):
    done = cellblock(gateway, "doctor")
    assert "qemu" in done.stdout.lower()
    assert "kvm" in done.stdout.lower()
    asked = cellblock(gateway, "doctor", "--accelerator", "kvm")
    if "KVM is used" not in done.stdout:
        assert asked.returncode == 1
        assert "was asked for, but" in asked.stdout


def test_version_and_help_work(gateway):
    assert cellblock(gateway, "--version").stdout.strip()
    helped = cellblock(gateway, "serve", "--help")
    assert helped.returncode == 0
    assert "--listen" in helped.stdout


def test_what_there_is_not_is_named(gateway):
    command = cellblock(gateway, "nonsense")
    assert command.returncode == 2
    assert 'no command "nonsense"' in command.stderr
    recipe = cellblock(gateway, "image", "build", "--image", "nope")
    assert recipe.returncode == 1
    assert 'no image recipe "nope"' in recipe.stderr
    assert "science and base" in recipe.stderr


def test_a_taken_port_is_told_before_anything_is_built(gateway, tmp_path):
    port = gateway.url.rsplit(":", 1)[1]
    folders = ["--state-dir", str(tmp_path / "state"), "--cache-dir", str(tmp_path / "cache")]
    result = cellblock(gateway, "serve", "--listen", f"127.0.0.1:{port}", *folders)
    assert result.returncode == 1
    assert "another program has this port" in result.stderr
    assert "image" not in result.stderr  # the empty cache would be the next complaint


def test_an_unknown_key_in_the_configuration_is_refused_with_its_line(gateway, tmp_path):
    config = tmp_path / "cellblock.toml"
    config.write_text('# mine\nlistne = "127.0.0.1:1"\n')
    done = cellblock(gateway, "serve", "--config", str(config))
    assert done.returncode != 0
    assert "listne" in done.stderr
    assert f"{config}:2" in done.stderr or "line 2" in done.stderr
    assert "listen" in done.stderr
