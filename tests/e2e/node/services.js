// What JupyterLab's own client (@jupyterlab/services) does with a kernel, one check after the other.
//
//     node services.js URL TOKEN PROTOCOL CHECK...      (PROTOCOL: v1 or legacy)
//
// Prints "ok CHECK" for each, at the end "ok v1" or "ok legacy": what was spoken. The first that fails
// ends the process with its error. NODE_PATH leads to the packages.
"use strict";

const assert = require("node:assert");
const { KernelManager, KernelSpecManager, ServerConnection, SessionManager } = require("@jupyterlab/services");
const WebSocket = require("ws");

const [baseUrl, token, protocol, ...wanted] = process.argv.slice(2);

// As a client from before the v1 protocol: it offers none.
class LegacyWebSocket extends WebSocket {
    constructor(url) {
        super(url);
    }
}
const protocolsSeen = new Set();
class WatchedWebSocket extends (protocol === "v1" ? WebSocket : LegacyWebSocket) {
    constructor(...args) {
        super(...args);
        this.on("open", () => protocolsSeen.add(this.protocol));
    }
}

const serverSettings = ServerConnection.makeSettings({
    baseUrl,
    wsUrl: baseUrl.replace(/^http/, "ws"),
    token,
    appendToken: true,
    WebSocket: WatchedWebSocket,
});
const kernelManager = new KernelManager({ serverSettings });

// A cell: its messages in the order in which they came, and the text of its streams.
async function run(kernel, code, options = {}) {
    const messages = [];
    let text = "";
    const future = kernel.requestExecute({ code, stop_on_error: false, ...options });
    future.onIOPub = (message) => {
        messages.push(message);
        if (message.header.msg_type === "stream") text += message.content.text;
    };
    const reply = await future.done;
    messages.push(reply);
    return { messages, text, reply: reply.content };
}

// Resolves with the first message on iopub that `accepts` takes.
function heard(future, accepts) {
    return new Promise((resolve) => {
        future.onIOPub = (message) => {
            if (accepts(message)) resolve(message);
        };
    });
}

const isStream = (message) => message.header.msg_type === "stream";
const settled = (kernel, status) =>
    new Promise((resolve) => {
        const look = () => {
            if (kernel.status !== status) return;
            kernel.statusChanged.disconnect(look);
            resolve();
        };
        kernel.statusChanged.connect(look);
        look();
    });

const checks = {
    async specs() {
        const manager = new KernelSpecManager({ serverSettings });
        await manager.ready;
        assert.equal(manager.specs.default, "python3");
        const spec = manager.specs.kernelspecs.python3;
        assert.equal(spec.display_name, "Python 3 (microVM)");
        for (const url of Object.values(spec.resources)) {
            const absolute = new URL(url, baseUrl);
            const answer = await ServerConnection.makeRequest(absolute.href, {}, serverSettings);
            assert.equal(answer.status, 200, absolute.href);
        }
        manager.dispose();
    },

    async info(kernel) {
        const info = await kernel.info;
        assert.equal(info.language_info.name, "python");
        await settled(kernel, "idle");
    },

    async outputs(kernel) {
        const { messages, text, reply } = await run(kernel, "print('hello')\n6 * 7");
        assert.equal(text, "hello\n");
        assert.equal(reply.status, "ok");
        const types = messages.map((message) => message.header.msg_type);
        assert.deepEqual(types, ["status", "execute_input", "stream", "execute_result", "status", "execute_reply"]);
        assert.equal(messages[3].content.data["text/plain"], "42");
    },

    async displays(kernel) {
        const code = [
            "from IPython.display import display",
            "handle = display({'text/plain': 'one'}, raw=True, display_id='d')",
            "handle.update({'text/plain': 'two'}, raw=True)",
        ].join("\n");
        const { messages } = await run(kernel, code);
        const shown = messages.filter((message) => message.header.msg_type.endsWith("display_data"));
        assert.deepEqual(
            shown.map((message) => [message.header.msg_type, message.content.data["text/plain"]]),
            [["display_data", "one"], ["update_display_data", "two"]],
        );
        assert.equal(shown[1].content.transient.display_id, "d");
    },

    async completion(kernel) {
        const completed = await kernel.requestComplete({ code: "impor", cursor_pos: 5 });
        assert.ok(completed.content.matches.includes("import"));
        const inspected = await kernel.requestInspect({ code: "len", cursor_pos: 3, detail_level: 0 });
        assert.ok(inspected.content.found);
        const complete = await kernel.requestIsComplete({ code: "for x in y:" });
        assert.equal(complete.content.status, "incomplete");
    },

    async stdin(kernel) {
        const future = kernel.requestExecute({ code: "print('hi', input('name? '))", allow_stdin: true });
        let text = "";
        future.onIOPub = (message) => {
            if (isStream(message)) text += message.content.text;
        };
        future.onStdin = (question) => {
            assert.equal(question.content.prompt, "name? ");
            kernel.sendInputReply({ status: "ok", value: "Ada" }, question.header);
        };
        assert.equal((await future.done).content.status, "ok");
        assert.match(text, /hi Ada\n$/);
    },

    async comms(kernel) {
        await run(
            kernel,
            [
                "def opened(comm, message):",
                "    @comm.on_msg",
                "    def _(m):",
                "        comm.send(m['content']['data'], buffers=[bytes(b)[::-1] for b in m['buffers']])",
                "get_ipython().kernel.comm_manager.register_target('echo', opened)",
            ].join("\n"),
        );
        const comm = kernel.createComm("echo");
        const answer = new Promise((resolve) => {
            comm.onMsg = resolve;
        });
        await comm.open().done;
        const bytes = new Uint8Array([0, 255, 254]);
        await comm.send({ n: 1 }, {}, [bytes.buffer, new ArrayBuffer(0)]).done;
        const { content, buffers } = await answer;
        assert.deepEqual(content.data, { n: 1 });
        const bytesOf = (b) => [...new Uint8Array(b.buffer ?? b, b.byteOffset ?? 0, b.byteLength)];
        assert.deepEqual(buffers.map(bytesOf), [[254, 255, 0], []]);
        await comm.close().done;
    },

    async interrupt(kernel) {
        const future = kernel.requestExecute({ code: "print('on', flush=True)\nimport time; time.sleep(600)" });
        await heard(future, isStream);
        await kernel.interrupt();
        assert.equal((await future.done).content.ename, "KeyboardInterrupt");
        assert.equal((await run(kernel, "1")).reply.status, "ok");
    },

    // The connection breaks while a cell prints; the client comes back by itself.
    async reconnection(kernel) {
        const future = kernel.requestExecute({
            code: "import time\nfor i in range(100):\n    print(i, flush=True)\n    time.sleep(0.05)",
        });
        let text = "";
        let broken = false;
        future.onIOPub = (message) => {
            if (!isStream(message)) return;
            text += message.content.text;
            if (broken || text.split("\n").length < 10) return;
            broken = true;
            kernel._ws.terminate();
        };
        const reply = await future.done;
        assert.equal(reply.content.status, "ok");
        assert.ok(broken);
        assert.equal(text, Array.from({ length: 100 }, (_, i) => `${i}\n`).join(""));
    },

    async restart(kernel) {
        await run(kernel, "x = 1\nopen('kept.txt', 'w').write('kept')");
        await kernel.restart();
        await kernel.info;
        const { text, reply } = await run(kernel, "print(open('kept.txt').read())\nx");
        assert.equal(text, "kept\n");
        assert.equal(reply.ename, "NameError");
        assert.equal(reply.execution_count, 1);
    },

    async autorestart(kernel) {
        const seen = [];
        kernel.statusChanged.connect((_, status) => seen.push(status));
        kernel.requestExecute({ code: "import os; os.kill(os.getpid(), 9)" }).done.catch(() => {});
        await settled(kernel, "autorestarting");
        await settled(kernel, "idle");
        assert.ok(seen.includes("autorestarting"));
        assert.equal((await run(kernel, "print('again')")).text, "again\n");
    },

    async sessions() {
        const manager = new SessionManager({ serverSettings, kernelManager });
        await manager.ready;
        const session = await manager.startNew({
            path: "a.ipynb",
            name: "a",
            type: "notebook",
            kernel: { name: "python3" },
        });
        assert.equal((await run(session.kernel, "print('in a session')")).text, "in a session\n");
        await session.setPath("b.ipynb");
        await manager.refreshRunning();
        assert.ok([...manager.running()].some((model) => model.path === "b.ipynb"));
        await session.shutdown();
        await manager.refreshRunning();
        assert.ok(![...manager.running()].some((model) => model.id === session.id));
        manager.dispose();
    },
};

async function main() {
    const kernel = await kernelManager.startNew({ name: "python3" });
    try {
        for (const name of wanted) {
            await checks[name](kernel);
            console.log(`ok ${name}`);
        }
        for (const spoken of protocolsSeen) {
            console.log(`ok ${spoken === "v1.kernel.websocket.jupyter.org" ? "v1" : spoken || "legacy"}`);
        }
    } finally {
        await kernel.shutdown();
    }
}

main().then(
    () => process.exit(0),
    (error) => {
        console.error(error);
        process.exit(1);
    },
);
