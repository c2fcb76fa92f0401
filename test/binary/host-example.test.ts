// The example host in a real browser: chat, live steps, questions, steering, stop, and a sidecar that dies.
import { beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { buildClient } from "../../build/client.ts";
import { repositoryRoot } from "../support/atomic.ts";
import { openPage } from "../support/chromium.ts";
import { type ExampleHost, isOpen, say, startHost, status, texts } from "../support/example-host.ts";
import { until } from "../support/until.ts";

/** Children of the host: the sidecar. */
function sidecarOf({ pid }: ExampleHost): number {
  return Number(Bun.spawnSync(["cat", `/proc/${pid}/task/${pid}/children`]).stdout.toString().trim().split(" ")[0]);
}

beforeAll(async () => await buildClient());

describe("the example host", () => {
  test("shows a chat with its steps, and asks before it changes something", async () => {
    await using host = await startHost("node", [
      [{ thinking: "The port stands in the configuration." }, { call: "fs.read", args: { path: "config.ini" } }],
      [{ call: "fs.write", args: { path: "config.ini", content: "port = 8081\n" } }],
      [{ call: "fs.write", args: { path: "other.txt", content: "no" } }],
      [{ text: "The port is <b>8081</b> now.", chunk: 3 }],
    ], { "config.ini": "port = 8080\n" });
    await using page = await openPage(host.url);
    await page.shows(status("ready"));
    await say(page, "Use port 8081.");
    await page.shows(isOpen);
    expect(await texts(page, "#question-title")).toEqual(["fs.write: allow it?"]);
    expect((await texts(page, "#question-preview")).join()).toContain("8081");
    // A page that is opened again in the middle shows the same, the open question among it.
    await page.goto(`${host.url}?again`);
    await page.shows(isOpen);
    expect(await texts(page, ".user")).toEqual(["Use port 8081."]);
    await page.press("Escape");
    expect(await page.read<boolean>(isOpen)).toBe(true);
    const picture = await page.screenshot();
    expect(picture.length).toBeGreaterThan(5000);
    if (process.env["UPDATE_SCREENSHOT"]) await Bun.write(join(repositoryRoot, "docs/host-example.png"), picture);
    // A text that is sent now steers the turn; the model gets it with the next step.
    expect(await page.read<object>('fetch("send", { method: "POST", body: JSON.stringify({ text: "Nothing else." }) }).then((response) => response.json())')).toEqual({ steered: true });
    await page.click("#allow");
    await page.shows('document.querySelector(".steer")?.textContent === "Nothing else."');
    await page.shows(`${isOpen} && document.getElementById("question-reason").textContent.includes("other.txt")`);
    await page.click("#question-words");
    await page.type("one file is enough");
    await page.click("#deny");
    await page.shows(status("ready"));
    expect(await page.read<boolean>(isOpen)).toBe(false);
    expect(await texts(page, ".tool summary")).toEqual(["fs.read config.ini", "fs.write config.ini port = 8081\n", "fs.write other.txt no"]);
    expect(await page.read<string[]>('[...document.querySelectorAll(".tool")].map((element) => element.className)')).toEqual(["tool ok", "tool ok", "tool error"]);
    expect((await texts(page, ".tool.error pre")).join()).toContain("approval denied for fs.write: one file is enough");
    // What the model writes is text, never markup.
    expect([await texts(page, ".reply"), await texts(page, ".reply b")]).toEqual([["The port is <b>8081</b> now."], []]);
    expect(host.place.snapshot()).toMatchObject({ "workspace/config.ini": "port = 8081\n" });
    expect(page.errors).toEqual([]);
    expect(await host.end()).toBe(0);
  });

  test("steers and stops a turn, and goes on with the session when the sidecar dies", async () => {
    await using host = await startHost("bun", [
      [{ text: "On and on", chunk: 3 }, { hang: true }],
    ]);
    await using page = await openPage(host.url);
    await page.shows(status("ready"));
    await say(page, "Go on for ever.");
    await page.shows('document.querySelector(".reply")?.textContent === "On and on"');
    expect(await texts(page, "#send")).toEqual(["Steer"]);
    await say(page, "Come to an end.");
    await page.shows('document.getElementById("text").value === ""');
    await page.click("#stop");
    await page.shows(status("ready"));
    expect(await texts(page, ".notice")).toEqual(["stopped"]);
    // The turn never read it: it is handed back.
    await page.shows('document.getElementById("text").value === "Come to an end."');
    const first = sidecarOf(host);
    process.kill(first, "SIGKILL");
    await page.shows('document.querySelectorAll(".notice").length === 2');
    expect((await texts(page, ".notice")).at(-1)).toContain("SIGKILL");
    await until("another sidecar runs", () => sidecarOf(host) > 0 && sidecarOf(host) !== first);
    await page.click("#text");
    await page.press("Enter");
    // The scripted model of the new process begins anew.
    await page.shows('document.querySelectorAll(".reply")[1]?.textContent === "On and on"');
    await page.click("#stop");
    await page.shows(status("ready"));
    expect(await texts(page, ".user")).toEqual(["Go on for ever.", "Come to an end."]);
    expect(page.errors).toEqual([]);
    const pid = sidecarOf(host);
    expect(await host.end()).toBe(0);
    expect(() => process.kill(pid, 0)).toThrow();
  });

  test("speaks to nobody who does not know its address", async () => {
    await using host = await startHost("node", []);
    const { origin } = new URL(host.url);
    expect((await fetch(origin)).status).toBe(404);
    expect((await fetch(`${origin}/x/send`, { method: "POST", body: '{"text":"hi"}' })).status).toBe(404);
    expect((await fetch(`${host.url}send`, { method: "POST", body: "no json" })).status).toBe(400);
    expect((await fetch(`${host.url}../main.mjs`)).status).toBe(404);
    expect((await fetch(`${host.url}constructor`, { method: "POST", body: "{}" })).status).toBe(404);
    expect((await fetch(host.url)).headers.get("content-security-policy")).toContain("default-src 'self'");
  });
});
