// A small model writes `/var` for the folder var of the workspace: a command would then work somewhere else.
import type { ToolCall } from "../core/message.ts";
import type { WorkspaceNames } from "../core/tool.ts";

/** Why the command must not run, and how it is right; undefined when it may. A request that names the place at the top of the disk itself means it. */
export function rootedName({ arguments: args }: ToolCall, names: WorkspaceNames | undefined, request: string): string | undefined {
  const top = [...(names?.folders ?? []), ...(names?.files ?? [])].filter((name) => name !== "." && !name.includes("/"));
  const rooted = (name: string): RegExp => new RegExp(`(?<![\\w.~/-])/(?=${RegExp.escape(name)}(?![\\w-]|\\.\\w))`, "g");
  const meant = top.filter((name) => !rooted(name).test(request));
  for (const command of Object.values(args).filter((value) => typeof value === "string")) {
    const [wrong] = meant.filter((name) => rooted(name).test(command));
    if (wrong === undefined) continue;
    const right = meant.reduce((text, name) => text.replace(rooted(name), ""), command);
    return `nothing was run: /${wrong} is at the top of the disk, and what is here is called ${wrong}. Write: ${right}`;
  }
  return undefined;
}
