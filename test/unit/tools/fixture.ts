// A fresh workspace with the folders around it, and one call of a tool as the loop makes it.
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { limits } from "../../../src/core/limits.ts";
import type { Tool, ToolContext, ToolResult } from "../../../src/core/tool.ts";
import { ToolError } from "../../../src/core/error.ts";
import { builtinTools, type ToolOptions } from "../../../src/tools/index.ts";

export interface Fixture {
  root: string;
  workspace: string;
  outside: string;
  options: ToolOptions;
  context: ToolContext;
  updates: ToolResult[];
  tool(name: string): Tool;
  /** Parses the arguments by the tool's schema, asks for its needs, runs it; a ToolError is returned, not thrown. */
  call(name: string, args: Record<string, unknown>): Promise<Called>;
  needs(name: string, args: Record<string, unknown>): ReturnType<Tool["needs"]>;
  [Symbol.dispose](): void;
}

export interface Called {
  text: string;
  isError: boolean;
  details: Record<string, unknown>;
  result: ToolResult;
}

export function fixture(changes: Partial<Omit<ToolOptions, "shell">> & { shell?: Partial<ToolOptions["shell"]> } = {}): Fixture {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "atomic-tools-")));
  const folders = { workspace: join(root, "home/work"), outside: join(root, "outside"), state: join(root, "home/.atomic") };
  for (const folder of Object.values(folders)) mkdirSync(folder, { recursive: true });
  const { shell, ...rest } = changes;
  const options: ToolOptions = {
    home: join(root, "home"),
    stateFolder: folders.state,
    readScope: "working-dir",
    readable: () => [],
    temporaryFolder: join(root, "private"),
    ...rest,
    shell: {
      defaultTimeoutMs: 20_000,
      sandbox: "auto",
      network: false,
      readPaths: [],
      writePaths: [],
      environment: { ...process.env, HOME: join(root, "home"), XDG_DATA_HOME: undefined },
      secretVariables: [],
      self: [process.execPath, join(import.meta.dir, "../sandbox/confine-entry.ts")],
      ...shell,
    },
  };
  const tools = builtinTools(options);
  const updates: ToolResult[] = [];
  const context: ToolContext = {
    workspace: folders.workspace,
    signal: new AbortController().signal,
    maxLines: limits.resultLinesMax,
    maxBytes: limits.resultBytesMax,
    onUpdate: (partial) => void updates.push(partial),
    log: () => {},
  };
  const tool = (name: string) => tools.find((each) => each.name === name) ?? raise(name);
  return {
    root,
    workspace: folders.workspace,
    outside: folders.outside,
    options,
    context,
    updates,
    tool,
    needs: (name, args) => tool(name).needs(tool(name).schema.parse(args), context),
    async call(name, args) {
      const parsed = tool(name).schema.parse(args);
      try {
        await tool(name).needs(parsed, context);
        const result = await tool(name).run(parsed, context);
        return { text: textOf(result.content), isError: false, details: result.details ?? {}, result };
      } catch (error) {
        if (!(error instanceof ToolError)) throw error;
        const content = error.content ? [...error.content] : [{ type: "text" as const, text: error.message }];
        return { text: textOf(content), isError: true, details: error.details, result: { content, details: error.details } };
      }
    },
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}

function textOf(content: ToolResult["content"]): string {
  return content.map((block) => (block.type === "text" ? block.text : `[${block.mimeType}]`)).join("\n");
}

function raise(name: string): never {
  throw new Error(`no tool ${name}`);
}
