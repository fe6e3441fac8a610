"""jupyter_kernel_test: through the kernelspec the same tests pass as against a local ipykernel."""

import unittest

import jupyter_kernel_test
import pytest
from test_zmq_kernel import NAME, TIMEOUT_S, folder  # noqa: F401 (a fixture)

SAMPLES = {
    "language_name": "python",
    "file_extension": ".py",
    "code_hello_world": "print('hello, world')",
    "code_stderr": "import sys; print('test', file=sys.stderr)",
    "completion_samples": [{"text": "zi", "matches": {"zip"}}],
    "complete_code_samples": ["1", "print('hello, world')", "def f(x):\n  return x*2\n\n\n"],
    "incomplete_code_samples": ["print('''hello", "def f(x):\n  x*2"],
    "invalid_code_samples": ["import = 7q"],
    "code_page_something": "zip?",
    "code_generate_error": "raise",
    "code_execute_result": [{"code": "1+2+3", "result": "6"}],
    "code_display_data": [
        {
            "code": "from IPython.display import HTML, display; display(HTML('<b>test</b>'))",
            "mime": "text/html",
        }
    ],
    "code_history_pattern": "1?2*",
    "supported_history_operations": ("tail", "range", "search"),
    "code_inspect_sample": "zip",
    "code_clear_output": "from IPython.display import clear_output; clear_output()",
}


class QuietFromTheStart(jupyter_kernel_test.KernelTests):
    """A client that waits for a kernel asks again and again whether it is there, and all of it is
    answered once it is. The suite takes a pause of 0.1 s for the end of that; a slow kernel pauses
    longer. Here the last answer is waited for."""

    __test__ = False  # pytest's: only the cases below, which have a kernel, are to be run

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        asked = cls.kc.kernel_info()
        for channel in (cls.kc.shell_channel, cls.kc.iopub_channel):
            answered = False
            while not answered:
                message = channel.get_msg(timeout=TIMEOUT_S)
                is_last = message["content"].get("execution_state", "idle") == "idle"
                answered = is_last and message["parent_header"].get("msg_id") == asked


def passes(kernel_name: str) -> tuple[set[str], str]:
    """The tests that pass, and what the others said."""
    members = {**SAMPLES, "kernel_name": kernel_name}
    cases = type("Cases", (QuietFromTheStart,), members)
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(cases)
    names = {case.id().rsplit(".", 1)[1] for case in suite}
    result = unittest.TestResult()
    suite.run(result)
    bad = [*result.failures, *result.errors, *result.skipped]
    failed = {getattr(case, "test_case", case).id().rsplit(".", 1)[1] for case, _ in bad}
    return names - failed, "\n".join(f"{case}\n{text}" for case, text in bad)


@pytest.mark.usefixtures("folder")
def test_the_same_tests_pass_as_against_an_ipykernel_on_this_machine():
    direct, _ = passes("python3")
    relayed, said = passes(NAME)
    assert len(direct) >= 10, direct
    assert relayed >= direct, said
