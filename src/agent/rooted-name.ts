// A small model writes `/var` for the folder var of the workspace: a command would then work somewhere else.
import type { ToolCall } from "../core/message.ts";
import type { WorkspaceNames } from "../core/tool.ts";

/** Why the command must not run, and how it is right; undefined when it may. A request that names the place at the top of the disk itself means it. */
export function rootedName({ arguments: args }: ToolCall, names: WorkspaceNames | undefined, request: string): string | undefined {
  const here = new Set([...(names?.folders ?? []), ...(names?.files ?? [])]);
  const inRequest = new Set([...request.matchAll(rooted)].map(([path]) => path));
  // `/bin/sh` is none of a workspace with a folder bin, unless it has a sh in it.
  const isMeantHere = (path: string): boolean => here.has(path.slice(1).replace(/\/$/, "")) && ![...inRequest].some((named) => path.startsWith(named.replace(/[/.]+$/, "")));
  for (const command of Object.values(args).filter((value) => typeof value === "string")) {
    const wrong = [...command.matchAll(rooted)].map(([path]) => path).find(isMeantHere);
    if (wrong === undefined) continue;
    const right = command.replace(rooted, (path) => (isMeantHere(path) ? path.slice(1) : path));
    return `nothing was run: ${wrong} is at the top of the disk, and what is here is called ${wrong.slice(1)}. Write: ${right}`;
  }
  return undefined;
}

/** A path from the top of the disk. */
const rooted = /(?<![\w.~/-])\/[\w][\w./-]*/g;
