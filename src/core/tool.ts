// What a tool is: a schema for its arguments, a class that orders it among others, what it is about to touch, and a run.
import type { z } from "zod";
import type { ApprovalNeed, Binding } from "./approval.ts";
import type { ImageContent, TextContent } from "./message.ts";
import type { Log } from "./runtime.ts";
import type { WorkKind } from "./work.ts";

/** `read` runs beside its neighbours; `write` and `shell` run alone, in call order. */
export type ToolClass = "read" | "write" | "shell";

export interface ToolResult {
  content: (TextContent | ImageContent)[];
  details?: Record<string, unknown>;
}

export interface ToolContext {
  /** Absolute, real path of the workspace. */
  workspace: string;
  signal: AbortSignal;
  /** Bounds of the text that the tool returns. */
  maxLines: number;
  maxBytes: number;
  /** Everything so far (cumulative), never a delta. */
  onUpdate: (partial: ToolResult) => void;
  log: Log;
}

export interface Tool<Schema extends z.ZodObject = z.ZodObject> {
  /** Dot form, `fs.read`. */
  name: string;
  /** One line for the model. */
  description: string;
  /** Strict object; unknown keys are rejected. */
  schema: Schema;
  class: ToolClass;
  /** Kinds of work that it is for; absent = any. */
  serves?: readonly WorkKind[];
  /** Told of and offered only where the work asks for it. */
  isSpecial?: boolean;
  /** Arguments that make a call the same try again, whatever the others are; absent = all of them. */
  identity?: readonly string[];
  /** Arguments that quote a file: after a failure they are offered what the file holds. */
  quotes?: { file: string; text: string };
  /** The file that it takes may be a folder: then it works on all files in it. */
  takesFolder?: boolean;
  /** The file that the call changes and that the model must have looked at before, if it exists. */
  mustKnow?(args: z.infer<Schema>): string | undefined;
  /** For a call that replaces all that a file holds: the file, and what it would hold. */
  rewrites?(args: z.infer<Schema>): { path: string; content: string } | undefined;
  /** The arguments of the calls that do its work to files which were chosen apart; absent = it has none for several. */
  callsFor?(files: readonly ChosenFile[]): Record<string, unknown>[];
  /** What a small model hardly means with such a call, and what to write for what it may mean; undefined where there is no doubt. */
  doubt?(args: z.infer<Schema>, names: WorkspaceNames): string | undefined;
  /** What a small model would count wrong in the result, in one line; undefined when there is nothing to tell. */
  hint?(result: ToolResult, request: string): string | undefined;
  /** Whether it is of any use now; absent = always. Asked before each turn. */
  isOffered?(): boolean;
  /** What the call will touch, judged on real paths; empty when nothing has to be allowed. May throw a ToolError. */
  needs(args: z.infer<Schema>, context: ToolContext): Promise<ApprovalNeed[]>;
  /** What an answer to a question about this call is bound to; absent = to the real paths alone, which `run` checks itself. */
  binding?(args: z.infer<Schema>, context: ToolContext): Promise<Binding>;
  /** A person said yes to what the call needs; it runs next. */
  approved?(args: z.infer<Schema>, context: ToolContext): Promise<void>;
  /** @throws ToolError for every failure that the model should see. */
  run(args: z.infer<Schema>, context: ToolContext): Promise<ToolResult>;
}

/** A file of the workspace, and the path that it gets. */
export interface ChosenFile {
  path: string;
  to: string;
}

/** Names in the workspace, relative to it, as the tools show and take them; `.` is among the folders. */
export interface WorkspaceNames {
  files: readonly string[];
  folders: readonly string[];
  /** Such as `*.log`, for what takes several files at once. */
  patterns?: readonly string[];
  /** It is about these folders as a whole: what takes files and folders takes these. */
  isWhole?: boolean;
  /** Files that take long to read. */
  long?: readonly string[];
  /** Of the tables that a step may be about; absent = not known. */
  columns?: readonly string[];
  /** Keys of the configuration files that were seen; absent = not known. */
  settings?: readonly string[];
}

/** What the loop may look up in the workspace, to keep a grammar to what is there. */
export interface WorkspaceView {
  /** undefined when there is too much to offer. */
  names(): Promise<WorkspaceNames | undefined>;
  /** Lines of a small text file that are not blank, without their line ends; undefined for anything else. */
  lines(path: string): Promise<readonly string[] | undefined>;
  /** The whole of a text file that is small enough to be quoted under a grammar, with LF line ends; undefined for anything else. */
  text(path: string): Promise<string | undefined>;
  /** The whole of a small text file as it is on disk; undefined for anything else. */
  exact(path: string): Promise<string | undefined>;
  /** The columns of the tables in a small text file; undefined for anything else. */
  columns(path: string): Promise<readonly string[] | undefined>;
  /** The keys of a small configuration file, with their sections; undefined for anything else. */
  settings(path: string): Promise<readonly string[] | undefined>;
  /** What of a request stands in several of these files as it is written. */
  shared(files: readonly string[], request: string): Promise<readonly string[]>;
  /** What a request asks of a small table and a model would find out wrong, as a sentence; undefined for anything else. */
  told(path: string, request: string): Promise<string | undefined>;
  /** Whether none of these files has to do with a request, as far as its words tell. */
  isForeign(files: readonly string[], request: string): Promise<boolean>;
}

/** What an engine is told about a tool. */
export interface ToolSpec {
  name: string;
  description: string;
  schema: z.ZodObject;
  class: ToolClass;
  serves?: readonly WorkKind[];
  isSpecial?: boolean;
  identity?: readonly string[];
  quotes?: { file: string; text: string };
  takesFolder?: boolean;
}
