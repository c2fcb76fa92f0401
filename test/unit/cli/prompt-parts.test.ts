// The first prompt's parts: stdin by its kind, files by their bytes, positionals.
import { afterAll, describe, expect, test } from "bun:test";
import { closeSync, openSync } from "node:fs";
import { parsePromptArguments } from "../../../src/cli/arguments.ts";
import { readFilePart, textArgument } from "../../../src/cli/prompt-files.ts";
import { checkPromptGiven, readPrompts, type StdinKind, stdinKindOf } from "../../../src/cli/prompt-parts.ts";
import { limits } from "../../../src/core/limits.ts";
import { makeWorkspace } from "../../support/workspace.ts";

const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 1]);
const workspace = makeWorkspace({
  "a.txt": "one\ntwo\n",
  "bom.txt": "\ufeffx=1",
  "photo.txt": png,
  "binary.bin": new Uint8Array([1, 0, 2]),
  "latin.txt": new Uint8Array([0x61, 0xe9, 0x62]),
  "utf16.txt": new Uint8Array([0xff, 0xfe, 0x61, 0]),
  "large.txt": new Uint8Array(limits.promptPartBytesMax + 1).fill(0x61),
  "large.png": Buffer.concat([png, Buffer.alloc(limits.imageBytesMax)]),
  "folder/": "",
});
afterAll(() => workspace[Symbol.dispose]());

const image = { type: "image", data: Buffer.from(png).toString("base64"), mimeType: "image/png" };

interface Given {
  stdin?: { kind: StdinKind; text?: string | Uint8Array; stream?: ReadableStream<Uint8Array> };
  images?: boolean;
}

async function read(argv: string[], { stdin = { kind: "none" }, images = true }: Given = {}) {
  const parsed = parsePromptArguments(argv);
  const warnings: string[] = [];
  let opened = 0;
  const open = () => {
    opened += 1;
    return stdin.stream ?? new Blob([stdin.text ?? ""]).stream();
  };
  const files = parsed.files.map((path) => readFilePart(path, workspace.path));
  const prompts = await readPrompts({ parsed, files, stdin: { kind: stdin.kind, open }, images, warn: (message) => warnings.push(message), signal: new AbortController().signal });
  return { prompts: prompts as unknown, warnings, opened };
}

const text = (value: string) => [{ type: "text", text: value }];
const never = () => new ReadableStream<Uint8Array>();

describe("readPrompts", () => {
  test("each positional is a prompt", async () => {
    expect((await read(["a", "b"])).prompts).toEqual([text("a"), text("b")]);
  });

  test("stdin, files and the first positional are joined by one blank line", async () => {
    const { prompts } = await read(["@a.txt", "ask", "@bom.txt", "next"], { stdin: { kind: "file", text: "\ufeffdata\r\n\n" } });
    expect(prompts).toEqual([text(`data\n\n<file name="${workspace.at("a.txt")}">\none\ntwo\n\n</file>\n\n<file name="${workspace.at("bom.txt")}">\nx=1\n</file>\n\nask`), text("next")]);
  });

  test("an image is a block behind the text, known by its bytes; without image input its name stands for it", async () => {
    expect((await read(["@photo.txt", "what?"])).prompts).toEqual([[...text(`<file name="${workspace.at("photo.txt")}"></file>\n\nwhat?`), image]]);
    expect((await read(["@photo.txt"], { images: false })).prompts).toEqual([text(`<file name="${workspace.at("photo.txt")}">[an image, and the model takes no images]</file>`)]);
  });

  test("white space is no part", async () => {
    expect((await read(["ask"], { stdin: { kind: "file", text: " \n" } })).prompts).toEqual([text("ask")]);
    expect((await read([], { stdin: { kind: "pipe", text: " \n" } })).prompts).toEqual([text("")]);
  });

  const rules: [string, string[], StdinKind, number, string][] = [
    ["a prompt and a terminal", ["ask"], "terminal", 0, "ask"],
    ["a prompt and no stdin", ["ask"], "none", 0, "ask"],
    ["a prompt and a file", ["ask"], "file", 1, "in\n\nask"],
    ["a prompt and a pipe with data", ["ask"], "pipe", 1, "in\n\nask"],
    ["no prompt and a pipe", [], "pipe", 1, "in"],
    ["no prompt and no stdin", [], "none", 0, ""],
    ["- and a terminal", ["-", "ask"], "terminal", 1, "in\n\nask"],
    ["commands on stdin", ["--stdin-commands", "ask"], "pipe", 0, "ask"],
  ];
  for (const [name, argv, kind, opened, expected] of rules) {
    test(`${name}: stdin is ${opened === 1 ? "" : "not "}read`, async () => {
      expect(await read(argv, { stdin: { kind, text: "in\n" } })).toEqual({ prompts: [text(expected)], warnings: [], opened });
    });
  }

  test("a silent pipe beside a prompt is left alone, and that is said", async () => {
    let cancelled = false;
    const stream = new ReadableStream<Uint8Array>({ cancel: () => void (cancelled = true) });
    const started = performance.now();
    const { prompts, warnings } = await read(["ask"], { stdin: { kind: "pipe", stream } });
    expect([prompts, warnings.length, cancelled]).toEqual([[text("ask")], 1, true]);
    expect(performance.now() - started).toBeWithin(limits.stdinWaitMs - 20, 5000);
  });

  test("a pipe that has begun is read to its end, however late that is", async () => {
    const stream = new ReadableStream<Uint8Array>({
      async start(controller) {
        controller.enqueue(Buffer.from("be"));
        await Bun.sleep(limits.stdinWaitMs + 100);
        controller.enqueue(Buffer.from("gun"));
        controller.close();
      },
    });
    expect((await read(["ask"], { stdin: { kind: "pipe", stream } })).prompts).toEqual([text("begun\n\nask")]);
  });

  test("an abort ends a reading that would go on for ever", async () => {
    const abort = new AbortController();
    const reading = readPrompts({ parsed: parsePromptArguments(["-"]), files: [], stdin: { kind: "pipe", open: never }, images: false, warn: () => {}, signal: abort.signal });
    abort.abort();
    expect((await reading) as unknown).toEqual([text("")]);
  });

  test("bytes that are not UTF-8 become U+FFFD, with a warning", async () => {
    const { prompts, warnings } = await read([], { stdin: { kind: "file", text: new Uint8Array([0x61, 0xff]) } });
    expect([prompts, warnings.length]).toEqual([[text("a\ufffd")], 1]);
  });

  test("more than the bound is refused", async () => {
    const stream = new Blob([new Uint8Array(limits.promptPartBytesMax + 1)]).stream();
    expect(read([], { stdin: { kind: "pipe", stream } })).rejects.toThrow(`stdin holds more than ${limits.promptPartBytesMax} bytes`);
  });
});

describe("files", () => {
  const faults: [string, string][] = [
    ["missing.txt", "can't read"],
    ["folder", "is a folder"],
    ["binary.bin", "is neither UTF-8 text nor an image"],
    ["latin.txt", "is neither UTF-8 text nor an image"],
    ["utf16.txt", "is neither UTF-8 text nor an image"],
    ["large.txt", "is larger than"],
    ["large.png", "the image has"],
  ];
  for (const [path, message] of faults) {
    test(`${path} is a usage error that names the file`, () => {
      expect(() => readFilePart(path, workspace.path)).toThrow(expect.objectContaining({ code: "usage", message: expect.stringContaining(message) }));
      expect(() => readFilePart(path, workspace.path)).toThrow(path);
    });
  }

  test("a flag's text is itself, or a file's content", () => {
    expect([textArgument("plain", workspace.path), textArgument("@bom.txt", workspace.path)]).toEqual(["plain", "x=1"]);
    expect(() => textArgument("@missing.txt", workspace.path)).toThrow("missing.txt");
  });
});

describe("stdin's kind", () => {
  test("files, folders and the null device", () => {
    const rows: [string, StdinKind][] = [[workspace.at("a.txt"), "file"], ["/dev/null", "none"]];
    for (const [path, kind] of rows) {
      const descriptor = openSync(path, "r");
      expect(stdinKindOf(descriptor)).toBe(kind);
      closeSync(descriptor);
    }
  });

  test("a closed descriptor", () => expect(stdinKindOf(9999)).toBe("none"));

  test("a pipe", async () => {
    const program = `import { stdinKindOf } from ${JSON.stringify(new URL("../../../src/cli/prompt-parts.ts", import.meta.url).pathname)}; process.stdout.write(stdinKindOf());`;
    const child = Bun.spawn([process.execPath, "-e", program], { stdin: "pipe", stdout: "pipe" });
    expect(await new Response(child.stdout).text()).toBe("pipe");
    child.stdin.end();
  });

  test("no prompt at a terminal is a usage error; anything else has a prompt or may have", () => {
    expect(() => checkPromptGiven(parsePromptArguments([]), "terminal")).toThrow("no prompt");
    for (const [argv, kind] of [[["a"], "terminal"], [["@a"], "terminal"], [["-"], "terminal"], [[], "pipe"], [[], "none"]] as [string[], StdinKind][]) {
      expect(() => checkPromptGiven(parsePromptArguments(argv), kind)).not.toThrow();
    }
  });
});
