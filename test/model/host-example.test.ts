// The example host in a real browser with real weights behind it: what a turn does is seen while it does it, and a turn can be
// stopped. Must not judge what the model says or calls.
import { beforeAll, expect, test } from "bun:test";
import { buildClient } from "../../build/client.ts";
import { openPage, type Page } from "../support/chromium.ts";
import { isOpen, say, startHost, status, texts } from "../support/example-host.ts";
import { modelPath } from "../support/models.ts";
import { until } from "../support/until.ts";

/** For one turn, also where other work keeps the cores busy. */
const turnLimitMs = 150_000;
/** Two threads that wait for each other are slow where other work keeps the cores busy. */
const config = { localModels: { completionMaxTokens: 64, managed: { threads: 1 } }, agent: { maxSteps: 2 } };

/** Keeps what appears in the chat, each with what the status said right then. */
const watch = `(() => {
  window.seen = [];
  const note = (element) => window.seen.push([element.className || element.parentElement?.className || "", document.getElementById("status").textContent]);
  new MutationObserver((changes) => changes.forEach(({ addedNodes, target }) => [...addedNodes].forEach((node) => note(node.nodeType === 1 ? node : target)))).observe(document.getElementById("chat"), { childList: true, subtree: true });
})()`;

/** A question may be withdrawn while the pointer is on its way. */
async function deny(page: Page): Promise<void> {
  try {
    await page.click("#deny");
  } catch (error) {
    if (await page.read<boolean>(isOpen)) throw error;
  }
}

/** Waits for the end of the turn; who is asked says no. */
async function untilReady(page: Page): Promise<void> {
  await until("the turn is over", async () => {
    if (await page.read<boolean>(isOpen)) await deny(page);
    return await page.read<boolean>(status("ready"));
  }, turnLimitMs);
}

beforeAll(async () => await buildClient());

test("a chat with real weights: live steps, a stopped turn, and the chat goes on", async () => {
  await using host = await startHost("node", modelPath("smollm2-135m"), { "notes.txt": "The meeting is on Tuesday.\n", "list.txt": "milk\nbread\n" }, config);
  await using page = await openPage(host.url);
  await page.shows(status("ready"));
  await page.read(watch);
  await say(page, "Which files are here?");
  await page.shows(`!(${status("ready")})`);
  await untilReady(page);
  const seen = await page.read<[name: string, status: string][]>("window.seen");
  // The first thing of the model's own came while the turn was running, not at its end.
  const live = seen.filter(([name]) => /tool|reply|thinking/.test(name));
  expect([live.length > 0, live[0]?.[1]]).toEqual([true, expect.stringMatching(/^(working|reading: )/)]);
  expect((await texts(page, ".tool, .reply")).every((text) => text.trim() !== "")).toBe(true);

  // One that is over before the click tells nothing.
  for (let tries = 0; tries < 4 && !(await texts(page, ".notice")).includes("stopped"); tries++) {
    await say(page, "Write a long story about a fox.");
    await page.shows('!document.getElementById("stop").hidden');
    if (await page.read<boolean>('!document.getElementById("stop").hidden')) await page.click("#stop");
    await untilReady(page);
  }
  expect(await texts(page, ".notice")).toEqual(expect.arrayContaining(["stopped"]));

  await say(page, "Hello.");
  await page.shows('[...document.querySelectorAll(".user")].at(-1).textContent === "Hello."');
  await untilReady(page);
  expect((await texts(page, ".reply, .tool")).length).toBeGreaterThan(0);
  expect(page.errors).toEqual([]);
  expect(await host.end()).toBe(0);
}, 3 * turnLimitMs);
