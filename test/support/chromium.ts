// A headless Chromium with a profile of its own, driven by its DevTools protocol: real clicks, real keys, what the page shows.
import { existsSync } from "node:fs";
import { until } from "./until.ts";
import { makeWorkspace } from "./workspace.ts";

/** ATOMIC_TEST_CHROMIUM, or what Debian's package `chromium` installs. */
const program = process.env["ATOMIC_TEST_CHROMIUM"] ?? "/usr/bin/chromium";

const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--window-size=900,640", "--remote-debugging-port=0"];

/** Installs it where that is possible without asking. @throws when it is not there afterwards, with what to do. */
export function installChromium(): void {
  if (existsSync(program)) return;
  if (process.getuid?.() === 0 && Bun.which("apt-get")) {
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    // The lists of a fresh machine are empty or old.
    Bun.spawnSync(["apt-get", "update", "-qq"], { env });
    Bun.spawnSync(["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"], { env });
  }
  if (!existsSync(program)) throw new Error(`there is no ${program}: install Chromium (apt-get install chromium), or name it in ATOMIC_TEST_CHROMIUM`);
}

export interface Page extends AsyncDisposable {
  /** Value of an expression in the page. @throws when it throws there. */
  read<Value>(expression: string): Promise<Value>;
  /** Waits until an expression is true in the page. */
  shows(expression: string): Promise<void>;
  /** A click of the mouse on the middle of what the selector finds. */
  click(selector: string): Promise<void>;
  /** Text into what has the focus. */
  type(text: string): Promise<void>;
  press(key: "Enter" | "Escape"): Promise<void>;
  goto(url: string): Promise<void>;
  screenshot(): Promise<Uint8Array>;
  /** Errors and uncaught exceptions of the page so far. */
  errors: readonly string[];
}

/** Opens a page. @throws when there is no Chromium */
export async function openPage(url: string): Promise<Page> {
  if (!existsSync(program)) throw new Error(`there is no ${program}: \`npm test\` installs it (apt-get install chromium), or name another in ATOMIC_TEST_CHROMIUM`);
  const profile = makeWorkspace();
  const child = Bun.spawn([program, ...flags, `--user-data-dir=${profile.path}`, "about:blank"], { env: { PATH: process.env["PATH"], HOME: profile.path }, stdin: "ignore", stdout: "ignore", stderr: "pipe" });
  const end = async (): Promise<void> => {
    child.kill("SIGKILL");
    await child.exited;
    profile[Symbol.dispose]();
  };
  try {
    const protocol = await Protocol.open(await listeningUrl(child.stderr));
    const page = await attach(protocol, end);
    await page.goto(url);
    return page;
  } catch (error) {
    await end();
    throw error;
  }
}

async function attach(protocol: Protocol, end: () => Promise<void>): Promise<Page> {
  const { targetId } = await protocol.ask("Target.createTarget", { url: "about:blank" });
  const { sessionId } = await protocol.ask("Target.attachToTarget", { targetId, flatten: true });
  const ask = (method: string, params: object = {}): Promise<Answer> => protocol.ask(method, params, String(sessionId));
  for (const domain of ["Page", "Runtime", "Log"]) await ask(`${domain}.enable`);
  const read = async <Value>(expression: string): Promise<Value> => {
    const { exceptionDetails, result } = await ask("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true });
    if (exceptionDetails) throw new Error(`${expression}: ${JSON.stringify(exceptionDetails)}`);
    return (result as { value: Value }).value;
  };
  return {
    read,
    errors: protocol.errors,
    shows: async (expression) => await until(`the page shows ${expression}`, async () => await read<boolean>(`Boolean(${expression})`)),
    async click(selector) {
      const find = `(() => { const box = document.querySelector(${JSON.stringify(selector)})?.getBoundingClientRect(); return box && { x: box.x + box.width / 2, y: box.y + box.height / 2, width: box.width }; })()`;
      const place = await read<{ x: number; y: number; width: number } | undefined>(find);
      if (!place || place.width === 0) throw new Error(`there is no ${selector} to click on`);
      for (const type of ["mousePressed", "mouseReleased"]) await ask("Input.dispatchMouseEvent", { type, x: place.x, y: place.y, button: "left", clickCount: 1 });
    },
    type: async (text) => void (await ask("Input.insertText", { text })),
    async press(key) {
      const code = key === "Enter" ? { windowsVirtualKeyCode: 13, text: "\r" } : { windowsVirtualKeyCode: 27 };
      for (const type of ["keyDown", "keyUp"]) await ask("Input.dispatchKeyEvent", { type, key, code: key, ...code });
    },
    goto: async (address) => {
      await ask("Page.navigate", { url: address });
      await until(`${address} is loaded`, async () => await read<boolean>(`location.href === ${JSON.stringify(address)} && document.readyState === "complete"`).catch(() => false));
    },
    screenshot: async () => Buffer.from(String((await ask("Page.captureScreenshot", { format: "png" }))["data"]), "base64"),
    [Symbol.asyncDispose]: end,
  };
}

type Answer = { [name: string]: unknown };

/** Requests and answers over one WebSocket; keeps what goes wrong in a page. */
class Protocol {
  readonly errors: string[] = [];
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, { resolve: (answer: Answer) => void; reject: (error: Error) => void }>();
  #nextId = 1;

  static async open(url: string): Promise<Protocol> {
    const socket = new WebSocket(url);
    const { promise, reject, resolve } = Promise.withResolvers<void>();
    socket.addEventListener("open", () => resolve());
    socket.addEventListener("error", () => reject(new Error(`no connection to ${url}`)));
    await promise;
    return new Protocol(socket);
  }

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => this.#take(JSON.parse(String(data)) as Answer & { id?: number; method?: string }));
    socket.addEventListener("close", () => {
      for (const { reject } of this.#waiting.values()) reject(new Error("the browser is gone"));
    });
  }

  async ask(method: string, params: object = {}, sessionId?: string): Promise<Answer> {
    const id = this.#nextId++;
    const { promise, reject, resolve } = Promise.withResolvers<Answer>();
    this.#waiting.set(id, { resolve, reject });
    this.#socket.send(JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) }));
    return await promise;
  }

  #take(message: Answer & { id?: number; method?: string }): void {
    const { error, id, method, params, result } = message;
    if (method === "Runtime.exceptionThrown" || (method === "Log.entryAdded" && (params as { entry: { level: string } }).entry.level === "error")) this.errors.push(JSON.stringify(params));
    if (id === undefined) return;
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error) waiting?.reject(new Error(JSON.stringify(error)));
    else waiting?.resolve(result as Answer);
  }
}

async function listeningUrl(stderr: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> {
  const decoder = new TextDecoder();
  const found = Promise.withResolvers<string>();
  let text = "";
  // Read to its end: a full pipe would stop the browser.
  void (async () => {
    for await (const piece of stderr) {
      text = (text + decoder.decode(piece, { stream: true })).slice(-8000);
      const [, url] = /listening on (ws:\S+)/.exec(text) ?? [];
      if (url !== undefined) found.resolve(url);
    }
    found.reject(new Error(`Chromium did not start: ${text.slice(-2000)}`));
  })();
  return await found.promise;
}
