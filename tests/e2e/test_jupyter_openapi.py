"""The OpenAPI document says the truth: each operation is called, each answer has its shape."""

import json

import pytest
import requests
import yaml
from jsonschema import Draft202012Validator, FormatChecker
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from support.gateway import Gateway
from support.jobs import detach
from support.kernels import new_kernel

METHODS = ("get", "post", "put", "patch", "delete")
NOBODY = "00000000-0000-0000-0000-000000000000"


@pytest.fixture(scope="module")
def gateway(tmp_path_factory):
    running = Gateway("--contents-dir", str(tmp_path_factory.mktemp("contents")))
    yield running
    running.remove()


@pytest.fixture(scope="module")
def document(gateway):
    response = gateway.request("GET", "/api/spec.yaml")
    assert response.status_code == 200
    return yaml.safe_load(response.text)


@pytest.fixture(scope="module")
def kernel(gateway):
    with new_kernel(gateway) as kernel:
        yield kernel


@pytest.fixture(scope="module")
def job(gateway):
    """(its sandbox, its id): it runs until the test deletes it."""
    sandbox = gateway.create_sandbox(timeout=600)
    _, told = detach(gateway, "import time; time.sleep(300)", sandbox=sandbox)
    yield sandbox, told["job_id"]
    gateway.delete_sandbox(sandbox)


def nullable(schema):
    """OpenAPI 3.0's `nullable` in the words of JSON Schema."""
    if isinstance(schema, dict):
        schema = {key: nullable(value) for key, value in schema.items()}
        if schema.pop("nullable", False):
            schema["type"] = [schema["type"], "null"]
        return schema
    return [nullable(item) for item in schema] if isinstance(schema, list) else schema


def check(document, path, method, response):
    """This answer is one that the document has."""
    operation = document["paths"][path][method]
    answers = operation["responses"]
    assert str(response.status_code) in answers, (method, path, response.status_code, response.text)
    answer = answers[str(response.status_code)]
    if "$ref" in answer:
        answer = document["components"]["responses"][answer["$ref"].rsplit("/", 1)[1]]
    for name in answer.get("headers", {}):
        assert name in response.headers, (method, path, name)
    content = answer.get("content")
    if content is None:
        return
    media = response.headers["Content-Type"].split(";")[0]
    assert media in content, (method, path, media)
    if media == "application/json":
        whole = {**nullable(document), "$id": "urn:openapi"}
        resource = Resource.from_contents(whole, default_specification=DRAFT202012)
        registry = Registry().with_resource("urn:openapi", resource)
        # Its references are to the document that it stands in.
        text = json.dumps(nullable(content[media]["schema"]))
        schema = json.loads(text.replace('"#/', '"urn:openapi#/'))
        validator = Draft202012Validator(schema, registry=registry, format_checker=FormatChecker())
        validator.validate(response.json())


def calls(kernel, job):
    """(path of the document, method, values of its parameters, body, status)"""
    session = {"path": "openapi.ipynb", "type": "notebook", "kernel": {"id": kernel}}
    made = {"id": kernel}
    missing = {"id": NOBODY}
    sandbox, job_id = job
    runs = {"id": job_id}
    secret = "0123456789abcdef"
    private = {"webhook": {"url": "http://127.0.0.1/", "secret": secret}}
    return [
        ("/jobs", "get", {}, None, 200),
        ("/jobs/{id}", "get", runs, None, 200),
        ("/jobs/{id}", "get", missing, None, 404),
        ("/jobs/{id}", "patch", runs, {"webhook": {"url": "x"}}, 400),
        ("/jobs/{id}", "patch", runs, private, 403),
        ("/jobs/{id}", "patch", missing, {}, 404),
        ("/jobs/{id}", "patch", runs, {"email": "someone@example.org"}, 501),
        ("/jobs/{id}", "patch", runs, {"webhook": None}, 200),
        ("/jobs/{id}/stream", "get", {**runs, "?from": "1"}, None, 400),
        ("/jobs/{id}/stream", "get", missing, None, 404),
        ("/sandboxes/{id}/adopt", "post", {"id": sandbox}, {}, 400),
        ("/sandboxes/{id}/adopt", "post", {"id": sandbox}, {"job": job_id}, 409),
        ("/sandboxes/{id}/adopt", "post", missing, {"job": job_id}, 404),
        ("/jobs/{id}", "delete", runs, None, 204),
        ("/jobs/{id}", "delete", missing, None, 404),
        # Until the job has ended, which its cancellation sees to.
        ("/jobs/{id}/stream", "get", {**runs, "?from": "0"}, None, 200),
        ("/sandboxes/{id}/adopt", "post", {"id": sandbox}, {"job": job_id}, 404),
        ("/jobs/{id}", "patch", runs, {"webhook": None}, 409),
        ("/api", "get", {}, None, 200),
        ("/api/status", "get", {}, None, 200),
        ("/api/me", "get", {}, None, 200),
        ("/api/me", "get", {"?permissions": "[]"}, None, 400),
        ("/api/spec.yaml", "get", {}, None, 200),
        ("/api/kernelspecs", "get", {}, None, 200),
        ("/api/kernelspecs/{name}", "get", {"name": "python3"}, None, 200),
        ("/api/kernelspecs/{name}", "get", {"name": "nope"}, None, 404),
        (
            "/kernelspecs/{name}/{file}",
            "get",
            {"name": "python3", "file": "logo-64x64.png"},
            None,
            200,
        ),
        (
            "/kernelspecs/{name}/{file}",
            "get",
            {"name": "python3", "file": "logo-svg.svg"},
            None,
            200,
        ),
        ("/kernelspecs/{name}/{file}", "get", {"name": "python3", "file": "nope"}, None, 404),
        ("/api/kernels", "get", {}, None, 200),
        ("/api/kernels", "post", {}, {"name": "python3", "env": {"KERNEL_A": "1"}}, 201),
        ("/api/kernels", "post", {}, {"name": "cobol"}, 500),
        ("/api/kernels", "post", {}, {"env": 5}, 400),
        ("/api/kernels/{id}", "get", made, None, 200),
        ("/api/kernels/{id}", "get", missing, None, 404),
        ("/api/kernels/{id}/interrupt", "post", made, None, 204),
        ("/api/kernels/{id}/interrupt", "post", missing, None, 404),
        ("/api/kernels/{id}/restart", "post", made, None, 200),
        ("/api/kernels/{id}/restart", "post", missing, None, 404),
        ("/api/kernels/{id}/connection", "get", made, None, 200),
        ("/api/kernels/{id}/connection", "get", missing, None, 404),
        ("/api/kernels/{id}/channels", "get", made, None, 400),
        ("/api/kernels/{id}/channels", "get", missing, None, 404),
        ("/api/sessions", "post", {}, session, 201),
        ("/api/sessions", "post", {}, {"path": "x"}, 400),
        ("/api/sessions", "get", {}, None, 200),
        ("/api/sessions/{id}", "get", {"id": "SESSION"}, None, 200),
        ("/api/sessions/{id}", "get", missing, None, 404),
        ("/api/sessions/{id}", "patch", {"id": "SESSION"}, {"name": "renamed"}, 200),
        ("/api/sessions/{id}", "patch", missing, {"name": "renamed"}, 404),
        ("/api/sessions/{id}", "delete", {"id": "SESSION"}, None, 204),
        ("/api/sessions/{id}", "delete", missing, None, 404),
        ("/api/contents", "get", {}, None, 200),
        ("/api/contents", "get", {"?type": "notebook"}, None, 400),
        ("/api/contents", "post", {}, {"type": "notebook"}, 201),
        ("/api/contents/{path}", "get", {"path": "Untitled.ipynb"}, None, 200),
        ("/api/contents/{path}", "get", {"path": "nope"}, None, 404),
        ("/api/contents/{path}", "post", {"path": "nope"}, {}, 404),
        ("/api/contents/{path}", "put", {"path": "dir"}, {"type": "directory"}, 201),
        ("/api/contents/{path}", "put", {"path": "f"}, {"type": "file", "content": "x"}, 201),
        ("/api/contents/{path}", "put", {"path": "f"}, {"type": "file", "content": "y"}, 200),
        ("/api/contents/{path}", "put", {"path": "f"}, {"content": "y"}, 400),
        ("/api/contents/{path}", "post", {"path": "dir"}, {"copy_from": "f"}, 201),
        ("/api/contents/{path}", "patch", {"path": "f"}, {"path": "g"}, 200),
        ("/api/contents/{path}", "patch", {"path": "g"}, {"path": "dir"}, 409),
        ("/api/contents/{path}", "delete", {"path": "g"}, None, 204),
        ("/api/contents/{path}", "delete", {"path": "dir"}, None, 400),
        ("/api/kernels/{id}", "delete", {"id": "CREATED"}, None, 204),
        ("/api/kernels/{id}", "delete", missing, None, 404),
    ]


def test_each_operation_answers_as_the_document_says(gateway, kernel, job, document):
    names = {}
    covered = set()
    for path, method, values, body, status in calls(kernel, job):
        url = path
        query = {}
        for name, value in values.items():
            if name.startswith("?"):
                query[name[1:]] = value
            url = url.replace("{" + name + "}", names.get(value, value))
        response = gateway.request(method.upper(), url, json=body, params=query)
        assert response.status_code == status, (method, url, response.text)
        check(document, path, method, response)
        covered.add((path, method))
        if (path, method, status) == ("/api/kernels", "post", 201):
            names["CREATED"] = response.json()["id"]
        if (path, method, status) == ("/api/sessions", "post", 201):
            names["SESSION"] = response.json()["id"]
    documented = {
        (path, method)
        for path, item in document["paths"].items()
        for method in item
        if method in METHODS
    }
    assert covered == documented


def test_each_documented_path_has_exactly_the_documented_methods(gateway, document):
    for path, item in document["paths"].items():
        url = path
        for name in ("id", "name", "file", "path"):
            url = url.replace("{" + name + "}", "x")
        allowed = gateway.request("OPTIONS", url).headers["Allow"].split(", ")
        methods = {m.lower() for m in allowed} - {"options", "head"}
        assert methods == {m for m in item if m in METHODS}, path


def test_what_needs_a_token_is_marked_so(gateway, document):
    for path, item in document["paths"].items():
        for method in (m for m in item if m in METHODS):
            url = path.replace("{id}", NOBODY).replace("{name}", "x").replace("{file}", "x")
            url = url.replace("{path}", "x")
            response = requests.request(method, gateway.url + url, timeout=30)
            if item[method].get("security") == []:
                assert response.status_code == 200, path
                continue
            jupyter = path.startswith(("/api", "/kernelspecs"))
            assert response.status_code == (403 if jupyter else 401), (method, path)
            if method != "head":
                check(document, path, method, response)


def test_the_document_is_an_openapi_document(document):
    assert document["openapi"].startswith("3.0")
    text = json.dumps(document)
    for item in ("schemas", "responses", "parameters"):
        for name in document["components"][item]:
            assert f'"#/components/{item}/{name}"' in text, f"{name} is not used"
