// Whole transcripts of the sidecar's wire, one folder a case: played in process, on the executable, and under its other name.
// All three have to be the recorded one; `UPDATE_GOLDEN=1` records anew. Metrics are left out: their number is free.
import { afterAll, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { executablePath } from "../support/atomic.ts";
import { HostRequestType, SidecarEventType } from "../../src/wire/sidecar/schema.ts";
import type { Script, ScriptItem } from "../support/scripted.ts";
import { checkSeen, type Frame, hostInProcess, hostOfExecutable, type SidecarHost, tokenOf } from "../support/sidecar-host.ts";
import { makeWorkspace } from "../support/workspace.ts";

interface Case {
  title: string;
  config?: { [name: string]: unknown };
  files?: { [path: string]: string };
  /** What the scripted model says, and what else its script holds. */
  steps: ScriptItem[][];
  script?: Omit<Script, "steps">;
  /** Requests, and the frames that are waited for, each behind the one before. `$session`, `$approval`, `$model`, `$workspace` are filled in. */
  play: ({ do: HostRequestType; payload?: unknown } | { await: string })[];
}

const folder = join(import.meta.dir, "sidecar");
const cases = readdirSync(folder).toSorted().map((name) => ({ path: join(folder, name), ...(JSON.parse(readFileSync(join(folder, name, "case.json"), "utf8")) as Case) }));

const links = makeWorkspace({ "mit Blanks und Ümlaut/": "" });
const link = links.at("mit Blanks und Ümlaut/atomic-agent-sidecar");
symlinkSync(executablePath(), link);
afterAll(() => links[Symbol.dispose]());

async function play(golden: Case, host: SidecarHost): Promise<string> {
  const model = host.script(golden.steps, golden.script);
  let seen = 0;
  for (const action of golden.play) {
    if ("do" in action) {
      const known: { [name: string]: string | undefined } = {
        $model: model,
        $workspace: host.workingDir,
        $session: latest(host, "session_started", "sessionId"),
        $approval: latest(host, "approval_request", "approvalId"),
      };
      const filled = JSON.parse(JSON.stringify(action.payload ?? {}), (_, value: unknown) => (typeof value === "string" ? (known[value] ?? value) : value)) as unknown;
      host.send(action.do, filled);
    } else {
      const found = await host.frame((frame) => host.frames.indexOf(frame) >= seen && tokenOf(frame) === action.await, action.await);
      seen = host.frames.indexOf(found) + 1;
    }
  }
  expect(await host.end()).toEqual({ exitCode: 0, breaches: [] });
  return transcript(host, model);
}

function latest(host: SidecarHost, type: string, field: string): string | undefined {
  const value = host.frames.findLast((frame) => frame.type === type)?.payload?.[field];
  return typeof value === "string" ? value : undefined;
}

/** Takes out what differs from run to run; the same id becomes the same placeholder. */
function transcript(host: SidecarHost, model: string): string {
  const names = new Map<string, string>();
  const lines = host.frames.filter(({ type }) => type !== "metric" && type !== "model_loading").map((frame: Frame) => {
    const { id: _id, ...rest } = frame;
    return JSON.stringify(rest, (key, value: unknown) => {
      if (typeof value === "number" && /^(durationMs|expiresAt|at|createdAt|updatedAt|promptTokens|tokens|tokensUsed|conversationTokens|conversationCap|tokensBefore|waitedMs|retryInMs)$/.test(key)) return `<${key}>`;
      if (key === "stack" || key === "llamaUrl" || key === "agentVersion" || key === "sandbox" || key === "commandHash") return `<${key}>`;
      return value;
    });
  });
  const named = lines.join("\n").replaceAll(model, "<model>").replaceAll(host.folder.path, "<folder>");
  return `${named.replaceAll(/s-[0-9a-f]{8}-[0-9a-f-]{27}|call_[0-9a-f]{12}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/g, (id) => {
    const name = names.get(id) ?? `<id-${names.size + 1}>`;
    names.set(id, name);
    return name;
  })}\n`;
}

for (const golden of cases) {
  test(golden.title, async () => {
    const options = { ...(golden.config ? { config: golden.config } : {}), ...(golden.files ? { files: golden.files } : {}) };
    const recording = join(golden.path, "frames.jsonl");
    for (const open of [() => hostInProcess(options), () => hostOfExecutable(options), () => hostOfExecutable({ ...options, link })]) {
      using host = open();
      const played = await play(golden, host);
      if (process.env["UPDATE_GOLDEN"] === "1") writeFileSync(recording, played);
      expect(played).toBe(existsSync(recording) ? readFileSync(recording, "utf8") : "(nothing recorded)");
    }
  });
}

/** Free in number, reserved, or as long as the catalogue; parse errors and their like are no requests (S-3). */
const elsewhere = ["metric", "model_loading", "pong", "trace", "models_list", "compaction_progress"];

test("each request and each event occurs in some case", () => {
  const text = cases.map(({ path }) => readFileSync(join(path, "frames.jsonl"), "utf8")).join("");
  const told = new Set([...text.matchAll(/^\{"kind":"event","type":"(\w+)"/gm)].map(([, type = ""]) => type));
  const asked = new Set(cases.flatMap(({ play: actions }) => actions.flatMap((action) => ("do" in action ? [action.do] : []))));
  expect(SidecarEventType.options.filter((type) => !told.has(type) && !elsewhere.includes(type))).toEqual([]);
  expect(HostRequestType.options.filter((type) => !asked.has(type) && !elsewhere.includes(type))).toEqual([]);
});

test("the checkers take all of these streams", () => {
  expect(checkSeen()).toEqual([]);
});
