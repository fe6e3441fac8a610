"""Who is told of a job's end: webhooks at a real HTTP server, e-mail at a real SMTP server."""

import base64
import email
import email.policy
import hashlib
import hmac
import json
import socketserver
import threading
import time

import pytest
from support.gateway import Gateway
from support.jobs import COUNTING, WAITING, Receiver, detach, end, wait_for

SECRET = "0123456789abcdef-of-a-test"


class Mailbox(socketserver.ThreadingTCPServer):
    """As much of RFC 5321 as a client needs that hands one message over."""

    allow_reuse_address = True

    def __init__(self):
        self.messages = []
        super().__init__(("127.0.0.1", 0), MailSession)
        self.thread = threading.Thread(target=self.serve_forever)
        self.thread.start()

    @property
    def url(self) -> str:
        return f"smtp://127.0.0.1:{self.server_address[1]}"

    def close(self) -> None:
        self.shutdown()
        self.thread.join()
        self.server_close()


class MailSession(socketserver.StreamRequestHandler):
    def say(self, text: str) -> None:
        self.wfile.write(text.encode() + b"\r\n")

    def handle(self):
        self.say("220 mailbox")
        envelope = {"to": []}
        for raw in self.rfile:
            line = raw.decode().strip()
            command = line.split(" ", 1)[0].split(":", 1)[0].upper()
            if command == "MAIL":
                envelope["from"] = line.split("<")[1].split(">")[0]
            elif command == "RCPT":
                envelope["to"].append(line.split("<")[1].split(">")[0])
            elif command == "DATA":
                self.say("354 go on")
                lines = iter(self.rfile.readline, b".\r\n")
                text = b"".join(line.removeprefix(b".") for line in lines)
                envelope["message"] = email.message_from_bytes(text, policy=email.policy.default)
                self.server.messages.append(envelope)
            elif command == "QUIT":
                self.say("221 bye")
                return
            self.say("250 ok")


@pytest.fixture(scope="module")
def mailbox():
    box = Mailbox()
    yield box
    box.close()


@pytest.fixture(scope="module")
def gateway(mailbox):
    running = Gateway(
        *["--webhook-hosts", "127.0.0.1"],
        *["--smtp-url", mailbox.url, "--smtp-from", "jobs@example.org"],
    )
    yield running
    running.remove()


def check_signature(heard: dict) -> None:
    headers = heard["headers"]
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + heard["body"]
    mac = hmac.new(SECRET.encode(), signed, hashlib.sha256).digest()
    assert headers["webhook-signature"] == "v1," + base64.b64encode(mac).decode()
    assert abs(time.time() - int(headers["webhook-timestamp"])) < 60


def settled(notice: str):
    return lambda found: found[notice] and found[notice]["state"] in ("delivered", "failed")


def run(gateway, sandbox: str, notice: str, code: str = WAITING, **told_to) -> dict:
    """A job that has ended, and whoever should know of it knows or cannot be reached."""
    _, told = detach(gateway, code, sandbox=sandbox, **told_to)
    end(gateway, told["sandbox_id"])
    return wait_for(gateway, told["job_id"], settled(notice))


def test_a_webhook_is_signed_and_tried_again(gateway, sandbox):
    with Receiver(answers=[503]) as receiver:
        webhook = {"url": receiver.url + "/hook?x=1", "secret": SECRET}
        ended = run(gateway, sandbox, "webhook", webhook=webhook)
    assert ended["webhook"] == {"state": "delivered", "attempts": 2, "url": webhook["url"]}
    assert len(receiver.heard) == 2
    for heard in receiver.heard:
        check_signature(heard)
        body = json.loads(heard["body"])
        assert body["type"] == "job.ended"
        assert body["job"]["id"] == ended["id"] and body["job"]["state"] == "succeeded"
        assert SECRET not in heard["body"].decode()
    # The same message: a receiver that got both knows.
    assert len({heard["headers"]["webhook-id"] for heard in receiver.heard}) == 1
    assert SECRET not in json.dumps(ended)
    for path in (gateway.state / "jobs").rglob("*"):
        assert path.is_dir() or SECRET not in path.read_text()
    metrics = gateway.request("GET", "/metrics").text
    assert 'cellblock_job_notices_total{kind="webhook",result="delivered"}' in metrics


def test_a_receiver_that_is_gone_or_sends_elsewhere_is_not_followed(gateway, sandbox):
    with Receiver(answers=[410]) as receiver:
        webhook = {"url": receiver.url, "secret": SECRET}
        ended = run(gateway, sandbox, "webhook", webhook=webhook)
        assert ended["webhook"]["state"] == "failed" and "410" in ended["webhook"]["last_error"]
        receiver.answers = [307]
        ended = run(gateway, sandbox, "webhook", webhook=webhook)
        assert ended["webhook"]["attempts"] == 2
    assert len(receiver.heard) == 3  # none to where the redirect led


def test_a_name_that_resolves_to_a_private_address_is_not_called(sandbox_of_strict):
    strict, sandbox = sandbox_of_strict
    with Receiver() as receiver:
        # Named by the operator as a name of a public host only, it lies on this machine.
        port = receiver.url.rsplit(":", 1)[1]
        url = f"http://{socket_name()}:{port}/"
        ended = run(strict, sandbox, "webhook", webhook={"url": url, "secret": SECRET})
    assert ended["webhook"]["state"] == "failed" and ended["webhook"]["attempts"] == 1
    assert "does not call" in ended["webhook"]["last_error"]
    assert receiver.heard == []


def socket_name() -> str:
    """A name of this machine that is not localhost and resolves to one of its own addresses."""
    import socket

    name = socket.gethostname()
    socket.gethostbyname(name)  # it must resolve, or the test would prove nothing
    return name


@pytest.fixture
def sandbox_of_strict():
    strict = Gateway("--pool-size", "0")
    yield strict, strict.create_sandbox(timeout=300)
    strict.remove()


def test_an_email_is_sent_when_a_job_has_ended(gateway, mailbox, sandbox):
    code = WAITING + "raise ValueError('gr\\u00fc\\u00dfe\\r\\nBcc: x@y')"
    ended = run(gateway, sandbox, "email", code, email="someone@example.org")
    assert ended["email"] == {"state": "delivered", "attempts": 1, "to": "someone@example.org"}
    (sent,) = [m for m in mailbox.messages if ended["id"] in m["message"]["Subject"]]
    assert (sent["from"], sent["to"]) == ("jobs@example.org", ["someone@example.org"])
    message = sent["message"]
    assert message["Subject"] == f"Job {ended['id']} failed"
    assert message["Bcc"] is None
    assert "ValueError: grüße" in message.get_content()
    assert f"/jobs/{ended['id']}" in message.get_content()


def test_whom_to_tell_can_be_said_while_the_job_runs(gateway, sandbox):
    with Receiver() as receiver:
        _, told = detach(gateway, COUNTING, sandbox=sandbox)
        path = f"/jobs/{told['job_id']}"
        for body, status in (
            ({"webhook": {"url": receiver.url}}, 400),
            ({"webhook": {"url": "http://10.0.0.1/", "secret": SECRET}}, 403),
            ({"email": "nobody"}, 400),
        ):
            assert gateway.request("PATCH", path, json=body).status_code == status, body
        webhook = {"url": receiver.url, "secret": SECRET}
        changed = gateway.request("PATCH", path, json={"webhook": webhook})
        assert changed.status_code == 200
        assert changed.json()["webhook"]["state"] == "pending"
        end(gateway, told["sandbox_id"])
        wait_for(gateway, told["job_id"], settled("webhook"))
        check_signature(receiver.heard[0])
        late = gateway.request("PATCH", path, json={"webhook": webhook})
        assert late.status_code == 409


def test_a_notice_that_a_gateway_could_not_give_is_given_by_the_next(sandbox_of_private):
    first, sandbox = sandbox_of_private
    with Receiver(answers=[500]) as receiver:
        webhook = {"url": receiver.url, "secret": SECRET}
        _, told = detach(first, WAITING, sandbox=sandbox, webhook=webhook)
        end(first, told["sandbox_id"])
        wait_for(first, told["job_id"], lambda found: found["webhook"]["attempts"] == 1)
        first.process.kill()
        first.process.wait()
        after = Gateway("--pool-size", "0", "--webhook-hosts", "127.0.0.1", state=first.state)
        try:
            ended = wait_for(after, told["job_id"], settled("webhook"))
            assert ended["webhook"]["state"] == "delivered"
        finally:
            after.remove()
        check_signature(receiver.heard[-1])


@pytest.fixture
def sandbox_of_private():
    private = Gateway("--pool-size", "0", "--webhook-hosts", "127.0.0.1")
    yield private, private.create_sandbox(timeout=300)
    private.remove()


def test_settings_that_make_no_sense_are_refused_at_the_start():
    for arguments, message in (
        (["--webhook-hosts", "http://x"], "webhook_hosts"),
        (["--smtp-url", "mail.example.org", "--smtp-from", "a@b"], "smtp_url"),
        (["--smtp-url", "smtp://mail.example.org"], "smtp_from"),
    ):
        with pytest.raises(AssertionError, match="did not get ready") as failed:
            Gateway("--pool-size", "0", *arguments)
        assert message in str(failed.value)
