// The example host as a process, and what its page shows, for tests in a real browser.
import { join } from "node:path";
import { executablePath, repositoryRoot } from "./atomic.ts";
import type { Page } from "./chromium.ts";
import { writeScript, type ScriptItem } from "./scripted.ts";
import { makeWorkspace, type FileTree, type Workspace } from "./workspace.ts";

export interface ExampleHost extends AsyncDisposable {
  place: Workspace;
  url: string;
  pid: number;
  /** Ends it as a terminal would. @returns its status */
  end(): Promise<number>;
}

/**
 * @param model what a scripted model plays, or the path of real weights
 * @param config config.json
 */
export async function startHost(runtime: "node" | "bun", model: ScriptItem[][] | string, files: FileTree = {}, config: object = {}): Promise<ExampleHost> {
  const place = makeWorkspace({ "workspace/": "", "state/config.json": JSON.stringify(config), ...Object.fromEntries(Object.entries(files).map(([path, content]) => [`workspace/${path}`, content])) });
  const main = join(repositoryRoot, "examples/host/main.mjs");
  const named = typeof model === "string" ? model : writeScript(place.at("script.json"), { steps: model });
  const child = Bun.spawn([runtime === "node" ? "node" : process.execPath, main, place.at("workspace"), "--model", named, "--level", "1", "--executable", executablePath()], {
    env: { PATH: process.env["PATH"], HOME: place.path, ATOMIC_AGENT_STATE_DIR: place.at("state") },
    stdout: "pipe",
    stderr: "pipe",
  });
  const stderr = child.stderr.text();
  const { value } = await child.stdout.getReader().read();
  const url = new TextDecoder().decode(value).trim();
  if (!url.startsWith("http://127.0.0.1:")) throw new Error(`the host did not start: ${await stderr}`);
  return {
    place,
    url,
    pid: child.pid,
    async end() {
      child.kill("SIGTERM");
      return await child.exited;
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
      place[Symbol.dispose]();
    },
  };
}

/** What the elements say that the selector finds. */
export const texts = (page: Page, selector: string): Promise<string[]> => page.read(`[...document.querySelectorAll(${JSON.stringify(selector)})].map((element) => element.textContent)`);
/** Expressions for `Page.shows` and `Page.read`. */
export const status = (text: string): string => `document.getElementById("status").textContent === ${JSON.stringify(text)}`;
export const isOpen = 'document.getElementById("question").open';

export async function say(page: Page, text: string): Promise<void> {
  await page.click("#text");
  await page.type(text);
  await page.press("Enter");
}
