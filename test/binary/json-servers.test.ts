// Servers that fail, wait, ignore and ask for secrets, as the JSON stream shows them (json-mode.md 6.18 to 6.20, section 8).
import { describe, expect, test } from "bun:test";
import { type ChatServer, configureServer, says, startChatServer } from "../support/chat-server.ts";
import { type Answer, refusedUrl } from "../support/fault-server.ts";
import { expectEnd, expectOrder, finished, isType, type JsonRun, makePlace, runJson, startJson, textOf } from "../support/json-run.ts";
import { at, type JsonObject, listAt } from "../support/json-checker/values.ts";

const start = "H AS TS ms(u) me(u)";
const failed = "ms(a,error) me(a,error) TE[]";
const text = "ms(a) mu(text_start) mu(text_delta)+ mu(text_end)";
const unavailable: Answer = { status: 503, body: { error: { message: "the server is busy" } } };
const unauthorised: Answer = { status: 401, body: { error: { message: "bad key" } } };

interface Played {
  run: JsonRun;
  server: ChatServer;
}

async function play(answers: readonly [Answer, ...Answer[]], { provider = {}, others = {}, args = ["go"] }: { provider?: object; others?: object; args?: string[] } = {}, look: (played: Played) => void): Promise<void> {
  await using server = await startChatServer(answers);
  using place = makePlace();
  configureServer(place, server, provider, others);
  look({ run: await runJson(place, ["--model", "here/m", ...args]), server });
}

test("J-20 503 and then 200: order 6.18 with delay 2000, exit 0; the failed message is in the first agent_end alone", async () => {
  await play([unavailable, says({ text: ["well", " now"] })], {}, ({ run, server }) => {
    expectOrder(run, `${start} ${failed} AE{u,a} rs{1} AS TS ${text} me(a,stop) re{true} TE[] AE{a} Z{ok}`);
    expectEnd(run, "ok", 0);
    expect(run.all("auto_retry_start")[0]).toMatchObject({ attempt: 1, maxAttempts: 3, delayMs: 2000 });
    expect(run.result.durationMs).toBeGreaterThan(2000);
    const stops = run.all("agent_end").map((event) => listAt(event, "messages").map((message) => at(message, "stopReason") ?? at(message, "role")));
    expect(stops).toEqual([["user", "error"], ["stop"]]);
    expect(run.messages("assistant")[0]).toMatchObject({ errorKind: "server", content: [] });
    const roles = server.chats().map((chat) => listAt(chat, "messages").map((message) => at(message, "role")));
    expect(roles).toEqual([["system", "user"], ["system", "user"]]);
  });
});

test("J-21 503 four times: order 6.19, delays 2000, 4000, 8000; exit 1", async () => {
  await play([unavailable], {}, ({ run, server }) => {
    const again = (attempt: number): string => `rs{${attempt}} AS TS ${failed} AE{a}`;
    expectOrder(run, `${start} ${failed} AE{u,a} ${again(1)} ${again(2)} ${again(3)} re{false} Z{error}`);
    expectEnd(run, "error", 1);
    expect(run.all("auto_retry_start").map(({ delayMs, attempt, maxAttempts }) => [delayMs, attempt, maxAttempts])).toEqual([[2000, 1, 3], [4000, 2, 3], [8000, 3, 3]]);
    expect(run.all("auto_retry_end")[0]).toMatchObject({ success: false, attempt: 3, finalError: expect.stringContaining("busy") });
    expect(server.chats()).toHaveLength(4);
    expect(run.result.durationMs).toBeGreaterThan(14_000);
  });
}, 40_000);

describe("J-22", () => {
  test("J-22 401: order 6.20, errorKind auth, exit 1, asked once", async () => {
    await play([unauthorised], {}, ({ run, server }) => {
      expectOrder(run, `${start} ${failed} AE{u,a} Z{error}`);
      expectEnd(run, "error", 1);
      expect(run.messages("assistant")).toMatchObject([{ errorKind: "auth", content: [], usage: { input: 0, output: 0, totalTokens: 0 } }]);
      expect(server.chats()).toHaveLength(1);
    });
  });

  test("J-22 a server that accepts and never answers, idle timeout 1000: errorKind timeout, then 6.18", async () => {
    await play([{ stall: true }, says({ text: ["here", " again"] })], { others: { idleTimeoutMs: 1000, retry: { baseDelayMs: 10 } } }, ({ run }) => {
      expectOrder(run, `${start} ${failed} AE{u,a} rs{1} AS TS ${text} me(a,stop) re{true} TE[] AE{a} Z{ok}`);
      expect(run.messages("assistant")[0]).toMatchObject({ errorKind: "timeout" });
      expect(run.result.durationMs).toBeLessThan(8000);
    });
  });
});

describe("kinds of section 8", () => {
  const quick = { retry: { baseDelayMs: 5, maxRetries: 1 } };

  test("429, a cut stream and a refused connection are tried again; 400 and a billing text are not", async () => {
    const cut = says({ text: ["half", " of", " it"] });
    const rows: [string, Answer, string, boolean][] = [
      ["rate limit", { status: 429, body: { error: { message: "too many requests" } } }, "rate_limit", true],
      ["cut", "events" in cut ? { ...cut, cutAfterBytes: 600 } : cut, "server", true],
      ["reset", { reset: true }, "network", true],
      ["bad request", { status: 400, body: { error: { message: "what is this" } } }, "bad_request", false],
      ["billing", { status: 429, body: { error: { message: "You exceeded your current quota, please check your plan and billing details." } } }, "rate_limit", false],
      ["missing model", { status: 404, body: { error: { message: "model `m` not found" } } }, "model_missing", false],
    ];
    for (const [name, answer, kind, isRetried] of rows) {
      await play([answer, says({ text: ["ok"] })], { others: quick }, ({ run }) => {
        const [first] = run.messages("assistant");
        expect({ name, kind: first?.["errorKind"], retries: run.all("auto_retry_start").length }).toEqual({ name, kind, retries: isRetried ? 1 : 0 });
        expect(String(first?.["errorMessage"])).not.toContain("\n");
        expectEnd(run, isRetried ? "ok" : "error", isRetried ? 0 : 1);
      });
    }
    using place = makePlace();
    configureServer(place, { url: await refusedUrl() }, {}, quick);
    const run = await runJson(place, ["--model", "here/m", "go"]);
    expectEnd(run, "error", 1);
    expect(run.messages("assistant").map(({ errorKind }) => errorKind)).toEqual(["network", "network"]);
  });

  test("an answer without anything in it is `empty` and tried again", async () => {
    await play([says({ text: [], usage: { prompt_tokens: 9, completion_tokens: 0, total_tokens: 9 } }), says({ text: ["ok"] })], { others: quick }, ({ run }) => {
      expect(run.messages("assistant").map(({ stopReason, errorKind }) => [stopReason, errorKind])).toEqual([["error", "empty"], ["stop", undefined]]);
      expectEnd(run, "ok", 0);
    });
  });

  test("a longer wait that the server asks for replaces ours", async () => {
    await play([{ ...unavailable, headers: { "retry-after-ms": "120" } }, says({ text: ["ok"] })], { others: quick }, ({ run }) => {
      expect(run.all("auto_retry_start")[0]).toMatchObject({ delayMs: 120 });
    });
  });

  test("no retry when it is switched off", async () => {
    await play([unavailable, says({ text: ["ok"] })], { others: { retry: { enabled: false } } }, ({ run }) => {
      expectOrder(run, `${start} ${failed} AE{u,a} Z{error}`);
    });
  });
});

test("a server that begins to count its calls anew in every answer: the stream's ids differ all the same (I9)", async () => {
  const lists = says({ calls: [{ name: "fs_list", args: "{}", id: "call0" }] });
  const finds = says({ calls: [{ name: "fs_find", args: '{"pattern":"*"}', id: "call0" }] });
  await play([lists, finds, says({ text: ["done"] })], {}, ({ run }) => {
    expectEnd(run, "ok", 0);
    expect(new Set(run.all("tool_execution_start").map((event) => event["toolCallId"])).size).toBe(2);
  });
});

test("J-42 a first prompt that fails with 401 and a second that works: both run, exit 1", async () => {
  await play([unauthorised, says({ text: ["fine"] })], { args: ["first", "second"] }, ({ run, server }) => {
    expectOrder(run, `${start} ${failed} AE{u,a} AS TS ms(u) me(u) ${text} me(a,stop) TE[] AE{u,a} Z{error}`);
    expectEnd(run, "error", 1);
    expect(server.chats()).toHaveLength(2);
  });
});

test("J-52 a server that ignores the schema three times: two output_schema_error messages, outcome schema, exit 1", async () => {
  await using server = await startChatServer([says({ text: ["no", "pe"] }), says({ text: ['{"n":"one"}'] }), says({ text: ['{"n":1,"m":2}'] })]);
  using place = makePlace({ "schema.json": JSON.stringify({ type: "object", properties: { n: { type: "integer" } }, required: ["n"], additionalProperties: false }) });
  configureServer(place, server);
  const run = await runJson(place, ["--model", "here/m", "--output-schema", "schema.json", "count"]);
  expectOrder(run, `${start} ${text} me(a,stop) TE[] TS ms(c) me(c) ${text} me(a,stop) TE[] TS ms(c) me(c) ${text} me(a,stop) TE[] AE{u,a,c,a,c,a} Z{schema}`);
  expectEnd(run, "schema", 1);
  const told = run.messages("custom");
  expect(told.map(({ customType }) => customType)).toEqual(["output_schema_error", "output_schema_error"]);
  expect(textOf(told[0])).toContain("not one JSON value");
  expect(textOf(told[1])).toContain("/n must be integer");
  expect(server.chats()).toHaveLength(3);
  const sent = listAt(server.chats()[2], "messages").map((message) => String(at(message, "content")));
  expect(sent.filter((content) => content.includes("/n must be integer"))).toHaveLength(1);
});

test("J-52 a server that keeps to the schema at the second try: exit 0", async () => {
  await using server = await startChatServer([says({ text: ["```json\n{\"n\":1}\n```"] }), says({ text: ['{"n":', "1}"] })]);
  using place = makePlace({ "schema.json": JSON.stringify({ type: "object", properties: { n: { $ref: "#/$defs/count" } }, required: ["n"], $defs: { count: { type: "integer" } } }) });
  configureServer(place, server);
  const run = await runJson(place, ["--model", "here/m", "--output-schema", "schema.json", "count"]);
  expectEnd(run, "ok", 0);
  expect(JSON.parse(textOf(run.messages("assistant").at(-1)))).toEqual({ n: 1 });
});

describe("J-53", () => {
  test("J-53 `--max-steps 1` and a model that calls a tool: order 6.37, exit 1, no tools offered", async () => {
    await play([says({ calls: [{ name: "fs_list", args: "{}" }] })], { args: ["--max-steps", "1", "go"] }, ({ run, server }) => {
      expectOrder(run, `${start} ms(a) mu(toolcall_start) mu(toolcall_delta)* mu(toolcall_end) me(a,toolUse) xs(A) xe(A,isError) ms(t,A) me(t,A) TE[A] AE{u,a,t} Z{max_steps}`);
      expectEnd(run, "max_steps", 1);
      expect(listAt(server.chats()[0], "tools")).toEqual([]);
    });
  });

  test("J-53 `--timeout 1` and a slow server: outcome timeout, exit 1", async () => {
    await play([{ stall: true }], { args: ["--timeout", "1", "go"] }, ({ run }) => {
      expectOrder(run, `${start} ms(a,aborted) me(a,aborted) TE[] AE{u,a} Z{timeout}`);
      expectEnd(run, "timeout", 1);
      expect(String(run.messages("assistant")[0]?.["errorMessage"])).toContain("timeout after 1 s");
      expect(run.result.durationMs).toBeLessThan(3000);
    });
  });
});

test("J-60 no key and no secret header in any line, whatever the server says back", async () => {
  const secrets = ["k-very-secret-key", "h-very-secret-header", "p4ssw0rd"];
  const echo: Answer = { status: 401, body: { error: { message: `who is ${secrets.join(" and ")}?` } } };
  for (const answers of [[echo], [says({ text: ["ok"] })]] as const) {
    await using server = await startChatServer(answers);
    using place = makePlace();
    configureServer(place, { url: server.url.replace("http://", `http://user:${secrets[2]}@`) }, { apiKey: secrets[0], headers: { "x-secret": secrets[1] } });
    const run = await runJson(place, ["--model", "here/m", "go"]);
    const sent = server.server.requests.at(-1)?.headers ?? {};
    expect([sent["x-secret"], JSON.stringify(sent).includes(secrets[0] ?? "")]).toEqual([secrets[1] ?? "", true]);
    for (const secret of secrets) expect([secret, run.result.text.includes(secret), run.result.stderr.includes(secret)]).toEqual([secret, false, false]);
  }
});

test("usage is the server's, and an estimate where it tells none", async () => {
  await play([says({ text: ["some", " words"], usage: null })], {}, ({ run }) => {
    expect(at(run.messages("assistant")[0], "usage", "estimated")).toBe(true);
    expect(Number(at(run.settled, "usage", "input"))).toBeGreaterThan(10);
  });
  await play([says({ text: ["a"], usage: { prompt_tokens: 100, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 60 } } })], {}, ({ run }) => {
    expect(run.messages("assistant")[0]?.["usage"]).toMatchObject({ input: 40, output: 7, cacheRead: 60, cacheWrite: 0, totalTokens: 107 });
    expect(run.settled["usage"]).toMatchObject({ input: 40, totalTokens: 107 });
  });
});

test("J-23 an abort before the first byte of a server: order 6.9", async () => {
  await using server = await startChatServer([{ stall: true }]);
  using place = makePlace();
  configureServer(place, server);
  using running = startJson(place, ["--model", "here/m", "--stdin-commands", "go"], { interactive: true });
  await running.waitFor((event: JsonObject) => isType("message_end")(event));
  await server.server.received(1);
  running.send({ type: "abort" });
  const run = await finished(running);
  expectOrder(run, `${start} ms(a,aborted) me(a,aborted) TE[] AE{u,a} Z{aborted}`);
  expectEnd(run, "aborted", 1);
});
