// The files that a reply attaches: any path a tool takes, resolved to absolute paths of files that are there.
import { z } from "zod";
import { ToolError } from "../core/error.ts";
import { limits } from "../core/limits.ts";
import { locate } from "./path.ts";

const Given = z.array(z.string().min(1)).max(limits.attachmentsMax);

/** Takes what a model gave as attachments. @throws ToolError that names the path, or what is wrong with the list */
export function attachmentResolver(workspace: string, home: string): (given: unknown) => string[] {
  return (given) => {
    const parsed = Given.safeParse(given);
    if (!parsed.success) throw new ToolError(`attachments: expected a list of at most ${limits.attachmentsMax} paths`);
    return [...new Set(parsed.data.map((path) => resolved(path, workspace, home)))];
  };
}

function resolved(path: string, workspace: string, home: string): string {
  const place = locate(path, workspace, home);
  if (!place.stats) throw new ToolError(`attachments: there is no file ${place.absolute}`);
  if (!place.stats.isFile()) throw new ToolError(`attachments: ${place.absolute} is no file`);
  if (place.absolute.startsWith('"')) throw new ToolError(`attachments: the name of ${place.absolute} is not plain UTF-8 text`);
  return place.absolute;
}
