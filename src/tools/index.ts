// The built-in tools that touch files and run commands.
import type { Tool } from "../core/tool.ts";
import { fsAppend } from "./fs-append.ts";
import { fsCompare } from "./fs-compare.ts";
import { fsCount } from "./fs-count.ts";
import { fsEdit } from "./fs-edit.ts";
import { fsCut, fsInsert } from "./fs-lines.ts";
import { fsFind } from "./fs-find.ts";
import { fsGrep } from "./fs-grep.ts";
import { fsList } from "./fs-list.ts";
import { fsCopy, fsMove } from "./fs-move.ts";
import { fsRead } from "./fs-read.ts";
import { fsReplace } from "./fs-replace.ts";
import { fsSet, fsUnset } from "./fs-set.ts";
import { fsSort } from "./fs-sort.ts";
import { fsTrash } from "./fs-trash.ts";
import { fsWrite } from "./fs-write.ts";
import { shellRun } from "./shell-run.ts";
import { skillView } from "./skill-view.ts";
import { tableCompute } from "./table-compute.ts";
import type { ToolOptions } from "./tool-options.ts";

export type { ShellOptions, ToolOptions } from "./tool-options.ts";

/** In the order in which the model is told of them. */
export function builtinTools(options: ToolOptions): Tool[] {
  return [fsList(options), fsRead(options), fsFind(options), fsGrep(options), fsCompare(options), fsCount(options), tableCompute(options), fsWrite(options), fsAppend(options), fsEdit(options), fsReplace(options), fsInsert(options), fsCut(options), fsSet(options), fsUnset(options), fsSort(options), fsMove(options), fsCopy(options), fsTrash(options), shellRun(options), ...(options.skills ? [skillView(options.skills)] : [])];
}
