#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# A model that does as it is told, for tests of real agents: on loopback, in the three protocols
# that they speak.
#
#     endpoint.py DIRECTORY
#
# writes its port to DIRECTORY/port and answers until it is ended. DIRECTORY/steps is a JSON list of
# what the model does, one step in each answer, with the tools that the agent offers:
#
#     {"write": PATH, "text": TEXT}            make a file
#     {"edit": PATH, "old": OLD, "new": NEW}   change one (read it in a step before)
#     {"read": PATH}                           look at one
#     {"run": COMMAND}                         a shell command
#     {"say": TEXT}                            the end of its turn
#
# Paths are absolute, as most agents want them. The number of tool results in a request tells which step
# is next, so a request that is repeated gets the same answer. Every request is written to DIRECTORY/log,
# one JSON object a line, without its headers, but with whether a key came with it.
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

FOLDER = Path(sys.argv[1])
LOCK = threading.Lock()
LIMIT = 32 << 20

# the tools of each protocol's agent, by what they are for: the first that is offered
TOOLS = {
    "write": ("Write", "write"),
    "edit": ("Edit", "edit"),
    "read": ("Read", "read"),
    "run": ("Bash", "bash", "exec_command", "shell_command", "shell"),
    "patch": ("apply_patch",),
}


def offered(kind, names):
    for name in TOOLS[kind]:
        if name in names:
            return name
    return None


def patch_of(step):
    if "write" in step:
        lines = ["*** Add File: " + step["write"]]
        lines += ["+" + line for line in step["text"].splitlines()]
    else:
        lines = ["*** Update File: " + step["edit"], "@@"]
        lines += ["-" + line for line in step["old"].splitlines()]
        lines += ["+" + line for line in step["new"].splitlines()]
    return "\n".join(["*** Begin Patch"] + lines + ["*** End Patch"]) + "\n"


def shell_call(name, command):
    if name == "shell":
        return {"command": ["sh", "-c", command]}
    if name == "exec_command":
        return {"cmd": command}
    return {"command": command, "description": "as the test says"}


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


# Codex has no tool for files but its patches: as a tool, or as what looks like a command of its
# shell, of exactly this form.
def patch_call(step, names):
    tool = offered("patch", names)
    if tool:
        return tool, patch_of(step)
    tool = offered("run", names)
    return tool, shell_call(tool, "apply_patch <<'EOF'\n" + patch_of(step) + "EOF\n")


# The tool to call and its arguments.
def call_of(step, names):
    camel = "write" in names
    if "run" in step:
        tool = offered("run", names)
        return tool, shell_call(tool, step["run"])
    if "read" in step:
        tool = offered("read", names)
        if not tool:
            tool = offered("run", names)
            return tool, shell_call(tool, "cat " + quoted(step["read"]))
        return tool, {"filePath" if camel else "file_path": step["read"]}
    kind = "write" if "write" in step else "edit"
    tool = offered(kind, names)
    if not tool:
        return patch_call(step, names)
    if kind == "write":
        return tool, {"filePath" if camel else "file_path": step["write"], "content": step["text"]}
    if camel:
        return tool, {"filePath": step["edit"], "oldString": step["old"], "newString": step["new"]}
    return tool, {"file_path": step["edit"], "old_string": step["old"], "new_string": step["new"]}


def step_at(n):
    steps = json.loads((FOLDER / "steps").read_text())
    return steps[n] if n < len(steps) else {"say": "that was all"}


def tool_names(request):
    names = {}
    for tool in request.get("tools") or []:
        name = tool.get("name") or tool.get("function", {}).get("name")
        if name:
            names[name] = tool.get("type")
    return names


# What to answer: (text, None, None), or (None, tool, arguments). What offers no tools wants a title.
def answer(request, done):
    names = tool_names(request)
    if not names:
        return "a title", None, None
    step = step_at(done)
    if "say" in step:
        return step["say"], None, None
    tool, arguments = call_of(step, names)
    if not tool:
        raise ValueError("no tool for %s among %s" % (step, sorted(names)))
    return None, tool, arguments


# ---- one function for each protocol: the events of an answer


def anthropic(request):
    done = sum(
        part.get("type") == "tool_result"
        for message in request["messages"]
        if isinstance(message["content"], list)
        for part in message["content"]
    )
    text, tool, arguments = answer(request, done)
    yield {
        "type": "message_start",
        "message": {
            "id": "msg_%d" % done, "type": "message", "role": "assistant",
            "model": request["model"], "content": [], "stop_reason": None,
            "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
        },
    }
    if tool:
        block = {"type": "tool_use", "id": "toolu_%d" % done, "name": tool, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
    else:
        block = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": text}
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": "tool_use" if tool else "end_turn", "stop_sequence": None},
        "usage": {"output_tokens": 1},
    }
    yield {"type": "message_stop"}


def responses(request):
    items = request["input"] if isinstance(request["input"], list) else []
    done = sum(
        item.get("type") in ("function_call_output", "custom_tool_call_output") for item in items
    )
    text, tool, arguments = answer(request, done)
    if not tool:
        item = {
            "type": "message", "id": "msg_%d" % done, "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}],
        }
    elif isinstance(arguments, str):
        item = {
            "type": "custom_tool_call", "id": "ctc_%d" % done, "call_id": "call_%d" % done,
            "name": tool, "input": arguments,
        }
    else:
        item = {
            "type": "function_call", "id": "fc_%d" % done, "call_id": "call_%d" % done,
            "name": tool, "arguments": json.dumps(arguments),
        }
    response = {"id": "resp_%d" % done, "object": "response", "model": request.get("model")}
    yield {"type": "response.created", "response": dict(response, status="in_progress")}
    yield {"type": "response.output_item.added", "output_index": 0, "item": item}
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    yield {
        "type": "response.completed",
        "response": dict(response, status="completed", output=[item], usage=usage),
    }


def chat(request):
    done = sum(message.get("role") == "tool" for message in request["messages"])
    text, tool, arguments = answer(request, done)

    def chunk(delta, reason=None):
        return {
            "id": "chat_%d" % done, "object": "chat.completion.chunk", "created": 0,
            "model": request["model"],
            "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
        }

    if tool:
        function = {"name": tool, "arguments": json.dumps(arguments)}
        call = {"index": 0, "id": "call_%d" % done, "type": "function", "function": function}
        yield chunk({"role": "assistant", "tool_calls": [call]})
    else:
        yield chunk({"role": "assistant", "content": text})
    yield chunk({}, "tool_calls" if tool else "stop")


PROTOCOLS = {"/messages": anthropic, "/responses": responses, "/chat/completions": chat}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def note(self, request):
        keyed = any(self.headers.get(name) for name in ("x-api-key", "authorization"))
        with LOCK, open(FOLDER / "log", "a", encoding="utf-8") as log:
            line = {"path": self.path, "key": keyed, "request": request}
            log.write(json.dumps(line) + "\n")

    def reply(self, status, body, kind="application/json"):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.note(None)
        self.reply(200, b'{"data": [], "models": []}')

    def do_HEAD(self):
        self.reply(200, b"")

    def do_POST(self):
        size = min(int(self.headers.get("content-length") or 0), LIMIT)
        request = json.loads(self.rfile.read(size) or b"{}")
        path = self.path.split("?")[0]
        protocol = next((f for end, f in PROTOCOLS.items() if path.endswith(end)), None)
        self.note(request)
        if path.endswith("/count_tokens"):
            self.reply(200, b'{"input_tokens": 1}')
        elif not protocol:
            self.reply(404, b'{"error": {"message": "no such thing"}}')
        else:
            self.stream(list(protocol(request)), protocol is chat)

    def stream(self, events, bare):
        body = ""
        for event in events:
            if not bare:
                body += "event: %s\n" % event["type"]
            body += "data: %s\n\n" % json.dumps(event)
        if bare:
            body += "data: [DONE]\n\n"
        self.reply(200, body.encode(), "text/event-stream")


def main():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    # whole when it has its name
    new = FOLDER / "port.new"
    new.write_text("%d\n" % server.server_address[1])
    new.rename(FOLDER / "port")
    server.serve_forever()


main()
